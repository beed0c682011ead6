"""One sequence with one key, as a state machine without side effects; its state is a few numbers.

An event completes the sequence if *some* choice of earlier events forms an occurrence with it. To
decide that, the state needs, for each step but the last, only the latest start of an occurrence
that has reached this step: of two that reached the same step, the one that started later can be
completed whenever the other can. So the state does not grow with the events, as it would if every
partial occurrence were kept (the thesis, section 4.3, keeps one event per node).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class SequenceState(NamedTuple):
    """The state of one key; times are in microseconds.

    Attributes:
        time: The time of the last event that started an occurrence or advanced one.
        starts: For each step but the last, the latest start of an occurrence that reached it; None
            if there is none. They never increase from step to step: an occurrence that has
            advanced further did not start later.
    """

    time: int
    starts: tuple[int | None, ...]


class Outcome(NamedTuple):
    """The effect of an event.

    Attributes:
        state: The new state; the same object if nothing changed, None if there still is none.
        began: If the event completes the sequence, the start of the latest occurrence that it
            completes; otherwise None.
    """

    state: SequenceState | None
    began: int | None


class Machine(NamedTuple):
    """A sequence without its conditions.

    >>> machine = Machine(steps=2, within=10)
    >>> state, _ = machine.step(None, [0], time=100)
    >>> state
    SequenceState(time=100, starts=(100,))
    >>> machine.step(state, [1], time=110).began, machine.step(state, [1], time=111).began
    (100, None)

    Attributes:
        steps: The number of steps.
        within: The maximum time from the first event to the last, in microseconds, or None.
    """

    steps: int
    within: int | None

    def step(self, state: SequenceState | None, satisfied: Iterable[int], time: int) -> Outcome:
        """Process an event: the steps that it satisfies, counted from 0, and its time.

        An event that is older than the state is too late and has no effect.
        """
        if state is None:
            starts: list[int | None] = [None] * (self.steps - 1)
        elif time < state.time:
            return Outcome(state, None)
        else:
            starts = list(state.starts)
        began, moved = None, False
        # The last step first: one event cannot advance an occurrence by two steps.
        for number in sorted(satisfied, reverse=True):
            start = time if number == 0 else starts[number - 1]
            if start is None or (self.within is not None and time - start > self.within):
                continue
            if number == self.steps - 1:
                began = start
            else:
                starts[number], moved = start, True
        return Outcome(SequenceState(time, tuple(starts)) if moved else state, began)
