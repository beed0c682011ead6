"""One sequence with all its keys, and the expiry of states that cannot matter any more."""

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

    An event that is older than the latest one by more than WITHIN is ignored. So a state that is
    older than the latest event by more than twice WITHIN cannot contribute to an occurrence, and is
    dropped. States are kept in the order of their last change, and none is more than WITHIN out of
    order, so that no state is older than three times WITHIN.

    Attributes:
        subscription: The sequence.
        per: The path of the PER attribute, or None.
        late: The number of events that arrived too late.
    """

    __slots__ = ("_now", "_states", "late", "machine", "per", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        """Start without any events."""
        sequence = subscription.selector
        assert isinstance(sequence, Sequence)
        self.subscription = subscription
        self.machine = Machine(len(sequence.steps), sequence.within)
        self.per: Path | None = sequence.per.path if sequence.per else None
        self.late = 0
        self._now: int | None = None
        # An OrderedDict: finding the first key of a dict is slow after many deletions before it.
        self._states: OrderedDict[Key, SequenceState] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._states)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the states: a copy has seen no events."""
        return KeyedSequence, (self.subscription,)

    def state(self, key: Key) -> SequenceState | None:
        """Return the state of a key; None if it has none."""
        return self._states.get(key)

    def is_late(self, key: Key, time: int) -> bool:
        """Return whether an event would be too late to count."""
        within = self.machine.within
        if within is not None and self._now is not None and time < self._now - within:
            return True
        state = self._states.get(key)
        return state is not None and time < state.time

    def process_event(self, key: Key, satisfied: Collection[int], time: int) -> bool:
        """Process an event that satisfies some steps; return whether it completes the sequence."""
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
        """Take over the states of another copy of this sequence."""
        self._states, self._now, self.late = other._states, other._now, other.late

    def _expire_states(self) -> None:
        if self.machine.within is None or self._now is None:
            return
        oldest = self._now - 2 * self.machine.within
        while self._states and next(iter(self._states.values())).time < oldest:
            self._states.popitem(last=False)
