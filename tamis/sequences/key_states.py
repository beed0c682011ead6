"""One sequence with all its keys, and how those are forgotten that cannot matter any more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from tamis.engines.subscription import Subscription
from tamis.language.expr import Sequence
from tamis.paths import Path
from tamis.sequences.key_values import Key
from tamis.sequences.state_machine import Machine, SequenceState


class KeyedSequence:
    """The states of a sequence, by key.

    With WITHIN, an event that is older than the latest by more than that takes no part. So a state
    that is older by more than twice that can be of no use to an event that does, and goes. As
    states are kept in the order in which they last changed, and none is more than WITHIN out of
    order, what is kept is never older than three times WITHIN.

    Attributes:
        subscription: The sequence.
        per: The path of the PER attribute, or None.
        late: How many events came too late.
    """

    __slots__ = ("_now", "_states", "late", "machine", "per", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        """Begin with no events."""
        sequence = subscription.selector
        assert isinstance(sequence, Sequence)
        self.subscription = subscription
        self.machine = Machine(len(sequence.steps), sequence.within)
        self.per: Path | None = sequence.per.path if sequence.per else None
        self.late = 0
        self._now: int | None = None
        # Ordered: to find the first key of a dict takes long once many before it are gone.
        self._states: OrderedDict[Key, SequenceState] = OrderedDict()

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._states)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the states: a copy has seen no events."""
        return KeyedSequence, (self.subscription,)

    def state(self, key: Key) -> SequenceState | None:
        """What is known of a key."""
        return self._states.get(key)

    def is_late(self, key: Key, time: int) -> bool:
        """Whether an event would come too late to take part."""
        within = self.machine.within
        if within is not None and self._now is not None and time < self._now - within:
            return True
        state = self._states.get(key)
        return state is not None and time < state.time

    def process_event(self, key: Key, satisfied: Collection[int], time: int) -> bool:
        """Take an event that satisfies some steps; whether it completes the sequence."""
        if self.is_late(key, time):
            self.late += 1
            return False
        old = self._states.get(key)
        state, began = self.machine.step(old, satisfied, time)
        if state is not None and state is not old:
            self._states[key] = state
            self._states.move_to_end(key)
        if self._now is None or time > self._now:
            self._now = time
            self._expire_states()
        return began is not None

    def adopt(self, other: KeyedSequence) -> None:
        """Go on from where another copy of this sequence is."""
        self._states, self._now, self.late = other._states, other._now, other.late

    def _expire_states(self) -> None:
        if self.machine.within is None or self._now is None:
            return
        oldest = self._now - 2 * self.machine.within
        while self._states and next(iter(self._states.values())).time < oldest:
            self._states.popitem(last=False)
