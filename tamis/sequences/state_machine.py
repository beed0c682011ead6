"""One sequence with one key, as a state machine: pure, and its state is a few numbers.

An event completes the sequence if *some* choice of earlier events makes an occurrence with it. To
know that, all that is needed of the past is, for each step but the last, the latest time at which
an occurrence began that has come as far as this step: of two that have come equally far, the one
that began later can do all that the other can. So the state does not grow with the events, as it
would if every partial occurrence were kept (the thesis, section 4.3, keeps one event per node).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class SequenceState(NamedTuple):
    """What is known of the past; times are in microseconds.

    Attributes:
        time: When the last event came that began an occurrence or carried one on.
        starts: For each step but the last, when the latest occurrence began that has come so far;
            None if there is none. They only fall from step to step: who has come further began no
            later.
    """

    time: int
    starts: tuple[int | None, ...]


class Outcome(NamedTuple):
    """What an event did.

    Attributes:
        state: What is known now; the same object if nothing has changed, None if still nothing is.
        began: If the event completes the sequence, when the latest occurrence that it completes
            began; else None.
    """

    state: SequenceState | None
    began: int | None


class Machine(NamedTuple):
    """A sequence without its conditions.

    >>> machine = Machine(steps=2, within=10)
    >>> state, _ = machine.step(None, [0], time=100)
    >>> state
    State(time=100, starts=(100,))
    >>> machine.step(state, [1], time=110).began, machine.step(state, [1], time=111).began
    (100, None)

    Attributes:
        steps: How many steps there are.
        within: The time from the first event to the last, in microseconds, or None.
    """

    steps: int
    within: int | None

    def step(self, state: SequenceState | None, satisfied: Iterable[int], time: int) -> Outcome:
        """Take an event: the numbers of the steps that it satisfies, from 0 on, and its time.

        One that is older than the state does nothing: it comes too late.
        """
        if state is None:
            starts: list[int | None] = [None] * (self.steps - 1)
        elif time < state.time:
            return Outcome(state, None)
        else:
            starts = list(state.starts)
        began, moved = None, False
        # The last step first: what an event has just reached it cannot carry on as well.
        for number in sorted(satisfied, reverse=True):
            start = time if number == 0 else starts[number - 1]
            if start is None or (self.within is not None and time - start > self.within):
                continue
            if number == self.steps - 1:
                began = start
            else:
                starts[number], moved = start, True
        return Outcome(SequenceState(time, tuple(starts)) if moved else state, began)
