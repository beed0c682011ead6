"""The oracle of a sequence over events as they arrive, some of them too late."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from tamis.language import evaluate, parse
from tamis.language.evaluate import compare, look_up
from tamis.language.expr import Sequence as Selector
from tamis.language.sequence_oracle import completions, is_occurrence

Event = Mapping[str, object]


def expected(text: str, events: Sequence[Event], times: Sequence[int | None]) -> list[int]:
    """Return the positions of the events that complete the sequence, in order of arrival."""
    sequence = parse(text)
    assert isinstance(sequence, Selector)
    taken: list[int] = []
    now: int | None = None
    for i, (event, time) in enumerate(zip(events, times, strict=True)):
        if time is None or not any(evaluate(step, event) for step in sequence.steps):
            continue
        if sequence.per is not None and not _equal(sequence, event, event):
            continue
        if sequence.within is not None and now is not None and time < now - sequence.within:
            continue
        now = time if now is None else max(now, time)
        others = [j for j in taken if sequence.per is None or _equal(sequence, events[j], event)]
        if any(times[j] > time and _moves(sequence, events, times, others, j) for j in others):
            continue
        taken.append(i)
    found = completions(sequence, [events[i] for i in taken], [times[i] for i in taken])
    return [taken[i] for i in found]


def _equal(sequence: Selector, left: Event, right: Event) -> bool:
    path = sequence.per.path  # type: ignore[union-attr]
    return compare(look_up(path, left), look_up(path, right)) == 0


def _moves(sequence: Selector, events, times, others: list[int], last: int) -> bool:
    """Return whether an event started or advanced an occurrence, not only completed one."""
    return any(
        is_occurrence(sequence, [events[j] for j in chosen], [times[j] for j in chosen])
        for chosen in _choices([j for j in others if j < last], len(sequence.steps) - 2, last)
    )


def _choices(before: list[int], most: int, last: int):
    for size in range(most + 1):
        for chosen in combinations(before, size):
            yield [*chosen, last]
