"""The state of a block engine, and the one lock that protects it.

The lock protects the stack, the pending subscriptions, the predicate index and the sample of
events. Two things may be read without it: a segment, and the tuple of the stack's segments, which
is replaced and never changed. The engine and its worker share this state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from threading import RLock

from tamis.engines.block.draft.head import PendingSubscriptions
from tamis.engines.block.event_sample import RecentEvents
from tamis.engines.block.segment.segment import EventSample, Segment, rebuild_segment
from tamis.engines.block.segment.segment_files import PackedSegment, Snapshot, unpack_segment
from tamis.engines.block.segment.stored_leaves import Read
from tamis.engines.block.stack import Stack
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.kernels.block.words import Longs
from tamis.matches import Id
from tamis.predicates import PredicateIndex


class Contents:
    """Segments, pending subscriptions, and a sample of events.

    Attributes:
        lock: Held during every call, and while the parts are used.
        terms: The terms of all selectors, shared by all segments.
        index: The predicates that phase 1 decides, shared by all segments.
        stack: The sealed segments.
        pending: The subscriptions that are in none of them yet.
        unindexed: The subscriptions that are left to the oracle.
        recent: The sample of recent events.
        may_call_functions: Whether a selector may call functions of the user.
        has_removed_caller: Whether a subscription was removed since then that may call them.
        watcher: Called when the set of segments changes, with whether the draft was sealed; None
            by default.
    """

    def __init__(self) -> None:
        """Create an empty state."""
        self.lock = RLock()
        self.terms = Terms()
        self.index = PredicateIndex()
        self.stack = Stack(self.index)
        self.pending = PendingSubscriptions(self.terms, self.index)
        self.unindexed: dict[Id, Subscription] = {}
        self.recent = RecentEvents()
        self.may_call_functions = self.has_removed_caller = False
        self.watcher: Callable[[bool], None] | None = None

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self.pending) + len(self.unindexed) + len(self.stack)

    def segments(self) -> tuple[Segment, ...]:
        """Return all segments, the tail last."""
        stack, tail = self.stack.segments, self.pending.tail
        return stack if tail is None else (*stack, tail)

    def sample(self) -> EventSample | None:
        """Return the sample of events to lay out selectors with; None if there is none."""
        return self.recent.sample(self.terms, self.index, self.segments())

    def prepare(self) -> None:
        """Bring the segments up to date: they hold all subscriptions but those for the oracle."""
        self.stack.intern_restored()
        self._drop_removed_callers()
        self.refresh()

    def refresh(self) -> None:
        """Rebuild the tail if the draft has changed since."""
        if self.pending.is_behind(self.recent.has_events):
            self.pending.catch_up(self.sample)

    def seal(self) -> None:
        """Turn the draft into a segment of the stack."""
        self.refresh()
        tail = self.pending.tail
        if tail is not None:
            if tail.dead == len(tail.ledger):
                tail.release_predicates(self.index)
            else:
                self.stack.push(tail)
        self.pending.clear()
        if self.watcher is not None:
            self.watcher(True)

    def swap(self, old: Sequence[Segment], new: Segment, kept: Sequence[Longs]) -> None:
        """Replace segments by one; see `Stack.swap`."""
        self.stack.swap(old, new, kept)
        if self.watcher is not None:
            self.watcher(False)

    def _drop_removed_callers(self) -> None:
        """Rebuild segments so that functions of removed subscriptions are not called any more."""
        if not self.has_removed_caller:
            return
        self.has_removed_caller = False
        self.pending.forget_removed()
        for segment in self.stack.segments:
            if segment.dead and segment.calls_functions(self.terms):
                new, kept = rebuild_segment(segment, segment.alive.copy(), None)
                self.swap((segment,), new, [kept])

    def snapshot(self) -> Snapshot:
        """Return the current segments, with the records that are alive in each."""
        stack = self.stack.segments
        whole = [(held.id, held.text, held.priority) for held in self.unindexed.values()]
        return Snapshot(stack, [segment.alive.copy() for segment in stack], whole)

    def restore(self, segments: Iterable[PackedSegment], read: Read) -> tuple[Segment, ...]:
        """Add stored segments, whose subscriptions must not be in the engine; takes the lock.

        Raises:
            LayoutMismatch: They were written by a version of Tamis with another layout.
        """
        stack = tuple(unpack_segment(segment, self.terms, read) for segment in segments)
        with self.lock:
            self.stack.restore(stack)
            self.may_call_functions = True  # a safe guess: checking means reading all predicates
        return stack

    def __getstate__(self) -> dict[str, object]:
        """Return a consistent copy of the state, without the lock and the watcher."""
        with self.lock:
            parts = {name: copy(getattr(self, name)) for name in ("stack", "pending", "recent")}
            return {**self.__dict__, **parts, "lock": None, "watcher": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the state with a lock of its own."""
        self.__dict__.update(state)
        self.lock = RLock()
