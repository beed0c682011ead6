"""All that a block engine holds, and the one lock over it.

The lock protects all of it: the stack, what is pending, the index of predicates, what is known of
events. Only a segment, once somebody has it, may be read without; so may the tuple of those in the
stack, as it is replaced and never changed. The engine and its worker meet here.
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
    """Segments, what is not in one yet, and what is known of events.

    Attributes:
        lock: To be held during every call, and while the parts are used.
        terms, index: What selectors are about: common to all segments.
        stack: The segments that stay.
        pending: The subscriptions that are in none of them.
        whole: Those that are left to the oracle.
        recent: What is known of events.
        calls: Whether functions of the caller's may be called.
        calls_less: Whether one has been removed since, for which they may be.
        watcher: Told when there are other segments, and whether the draft was sealed; nobody by
            default.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
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
        """How many subscriptions there are."""
        return len(self.pending) + len(self.unindexed) + len(self.stack)

    def segments(self) -> tuple[Segment, ...]:
        """All segments, the tail last."""
        stack, tail = self.stack.segments, self.pending.tail
        return stack if tail is None else (*stack, tail)

    def sample(self) -> EventSample | None:
        """What is known of events, to lay out selectors by."""
        return self.recent.sample(self.terms, self.index, self.segments())

    def prepare(self) -> None:
        """See that the segments hold all subscriptions, but for those left to the oracle."""
        self.stack.intern_restored()
        self._drop_removed_callers()
        self.refresh()

    def refresh(self) -> None:
        """Bring the tail up to the draft."""
        if self.pending.is_behind(self.recent.has_events):
            self.pending.catch_up(self.sample)

    def seal(self) -> None:
        """Make a segment of the draft that stays."""
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
        """Put a segment into the place of others; see `Stack.swap`."""
        self.stack.swap(old, new, kept)
        if self.watcher is not None:
            self.watcher(False)

    def _drop_removed_callers(self) -> None:
        """Forget what was removed at once, if functions of the caller's are called for it."""
        if not self.has_removed_caller:
            return
        self.has_removed_caller = False
        self.pending.forget_removed()
        for segment in self.stack.segments:
            if segment.dead and segment.calls_functions(self.terms):
                new, kept = rebuild_segment(segment, segment.alive.copy(), None)
                self.swap((segment,), new, [kept])

    def snapshot(self) -> Snapshot:
        """What there is in segments now."""
        stack = self.stack.segments
        whole = [(held.id, held.text, held.priority) for held in self.unindexed.values()]
        return Snapshot(stack, [segment.alive.copy() for segment in stack], whole)

    def restore(self, segments: Iterable[PackedSegment], read: Read) -> tuple[Segment, ...]:
        """Take segments that were stored, of subscriptions that are not here; it takes the lock.

        Raises:
            OtherLayout: They were written by a Tamis with another layout.
        """
        stack = tuple(unpack_segment(segment, self.terms, read) for segment in segments)
        with self.lock:
            self.stack.restore(stack)
            self.may_call_functions = True  # perhaps: to know, all predicates would have to be read
        return stack

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for this process; the parts are those of one moment."""
        with self.lock:
            parts = {name: copy(getattr(self, name)) for name in ("stack", "pending", "recent")}
            return {**self.__dict__, **parts, "lock": None, "watcher": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with a lock of its own."""
        self.__dict__.update(state)
        self.lock = RLock()
