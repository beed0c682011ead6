"""Streams of events that distinguish two sequences."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import combinations

from tamis.analysis.nested_events import Event, put
from tamis.analysis.reasoner import Reasoner
from tamis.analysis.slots import calls_functions
from tamis.language.evaluate import evaluate, look_up
from tamis.language.expr import Attribute, BoolExpr, Selector, Sequence
from tamis.language.sequence_oracle import completions
from tamis.paths import Path

# The longest streams that are tried, and how many different events they are made of.
_LENGTH = 4
_EVENTS = 8


def distinguishing_stream(
    old: Selector, new: Selector, reasoner: Reasoner
) -> tuple[list[Event], int] | None:
    """Find a stream of events, the last of which matches only one of two selectors.

    Events arrive in the order of their times: late events are not considered.

    Returns:
        The events and the time between them in µs, or None if no stream was found.
    """
    # Under `strict` each step requires its own attributes, which `completions` does not check.
    if reasoner.strict or calls_functions(old) or calls_functions(new):
        return None
    steps = [*_steps(old), *_steps(new)]
    events = list(_events(steps, [s.per for s in (old, new) if isinstance(s, Sequence)], reasoner))
    gaps = {1} | {
        gap
        for selector in (old, new)
        if isinstance(selector, Sequence) and selector.within is not None
        for gap in (selector.within, selector.within + 1)
    }
    for length in range(1, _LENGTH + 1):
        for chosen in _orderings(events[:_EVENTS], length):
            for gap in sorted(gaps):
                times = [gap * n for n in range(length)]
                last = length - 1
                first, second = (last in _matching_positions(s, chosen, times) for s in (old, new))
                if first is not second:
                    return chosen, gap
    return None


def _steps(selector: Selector) -> list[BoolExpr]:
    return list(selector.steps) if isinstance(selector, Sequence) else [selector]


def _events(
    steps: list[BoolExpr], keys: list[Attribute | None], reasoner: Reasoner
) -> Iterator[Event]:
    seen: list[Event] = []
    for index, step in enumerate(steps):
        answers = [reasoner.matching(step)]
        answers += [reasoner.telling(step, other) for other in steps[index + 1 :] + steps[:index]]
        for answer in answers:
            if answer.event is not None:
                event = answer.event
                for key in keys:
                    if key is not None and look_up(key.path, event) is None:
                        event = _with_key(event, key.path)
                if event not in seen:
                    seen.append(event)
                    yield event


def _with_key(event: Event, path: Path) -> Event:
    """Return a copy of the event with a value for the key, unless another value is in the way."""
    copied = deepcopy(event)
    put(copied, path, 1)
    return copied


def _orderings(events: list[Event], length: int) -> Iterator[list[Event]]:
    for chosen in combinations(range(len(events) * 2), length):
        yield [events[n % len(events)] for n in chosen]


def _matching_positions(selector: Selector, events: list[Event], times: list[int]) -> list[int]:
    if not isinstance(selector, Sequence):
        return [n for n, event in enumerate(events) if evaluate(selector, event) is True]
    return completions(selector, events, times)
