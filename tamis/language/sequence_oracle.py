"""The meaning of a sequence: the oracle whose answers `tamis.sequences` must give.

An *occurrence* is a choice of events, one for each step. All choices are tried, so this is for
short lists only. docs/guides/language.md describes the same in words.
"""

from __future__ import annotations

from collections.abc import Sequence as List
from itertools import combinations, pairwise

from tamis.language.evaluate import Event, evaluate, look_up, test
from tamis.language.expr import Sequence


def completions(sequence: Sequence, events: List[Event], times: List[int]) -> list[int]:
    """Return the positions of the events that complete an occurrence.

    Args:
        sequence: The selector.
        events: The events in the order of arrival.
        times: The time of each event, in microseconds.
    """
    before = len(sequence.steps) - 1
    return [
        last
        for last in range(len(events))
        if any(
            is_occurrence(sequence, [events[i] for i in chosen], [times[i] for i in chosen])
            for chosen in ((*earlier, last) for earlier in combinations(range(last), before))
        )
    ]


def is_occurrence(sequence: Sequence, events: List[Event], times: List[int]) -> bool:
    """Whether events, in the order of arrival, are an occurrence.

    With fewer events than steps: whether they are the beginning of one.
    """
    if any(earlier > later for earlier, later in pairwise(times)):
        return False
    if sequence.within is not None and times[-1] - times[0] > sequence.within:
        return False
    if sequence.per is not None:
        values = [look_up(sequence.per.path, event) for event in events]
        if not all(test("=", values[0], value) for value in values):
            return False
    steps = sequence.steps[: len(events)]
    return all(evaluate(step, event) for step, event in zip(steps, events, strict=True))
