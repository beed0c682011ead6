"""The block engine: a stack of segments that never change, and what is not in one yet.

Readers take the stack as it is at the moment and go on with it. New subscriptions wait in a draft;
the next match makes a small segment of it, the *tail*, and when the tail is large enough it stays.

It is long as all that is asked of an engine is asked here; what it does is done beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from threading import get_ident
from typing import ClassVar

import numpy as np

from tamis.engines.block.contents import Contents
from tamis.engines.block.draft.draft import TooManyWords
from tamis.engines.block.match.answer import MatchCollector
from tamis.engines.block.match.chunk_task import Task, cuts
from tamis.engines.block.match.match_counts import CountCollector
from tamis.engines.block.match.rank_rows import Columns
from tamis.engines.block.match.single_event import match_segment, values_of
from tamis.engines.block.report.costs import most_expensive
from tamis.engines.block.report.describe import DescribeContext, describe_record, describe_unindexed
from tamis.engines.block.report.draw import to_dot
from tamis.engines.block.report.statistics import segment_stats
from tamis.engines.block.report.tally import CountSchedule
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.segment.segment_files import PackedSegment, Snapshot, pack_segment
from tamis.engines.block.segment.stored_leaves import Read
from tamis.engines.block.stack import ids_in
from tamis.engines.block.switch_interval import short_switch_interval
from tamis.engines.block.worker import Worker
from tamis.engines.introspection import Costs, SubscriptionPlan
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches
from tamis.predicates import SatisfiedPredicates

# With more segments than this, who adds waits a little for those who merge.
_BEHIND = 5
# Events that are matched at a time.
_CHUNK = 1 << 16
# An event by itself counts for so many: to it every segment costs as much as to a small batch.
_ALONE = 64


class BlockEngine:
    """Segments of subscriptions; the whole language."""

    name: ClassVar[str] = "block"

    def __init__(self, threads: int = 1) -> None:
        """Begin with no subscriptions.

        Args:
            threads: How many threads share the events of a batch.

        Raises:
            InputError: There is no thread.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads is a number from 1 on, not {threads!r}")
        self.threads = threads
        self._contents = Contents()
        self._worker = Worker(self._contents)
        self._adder = 0  # the thread that added last, since the last match
        self._count_schedule = CountSchedule()

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            UnsupportedExpression: It is a sequence.
        """
        if isinstance(subscription.selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        held = self._contents
        if held.pending.is_full and len(held.stack.segments) > _BEHIND:
            self._worker.wait_briefly()
        with held.lock:
            if not held.pending.has_room:
                self._seal()
            try:
                held.pending.add(subscription)
            except TooManyWords:
                held.unindexed[subscription.id] = subscription
                return
            held.may_call_functions |= bool(subscription.functions)
            self._adder = get_ident()
            held.recent.reset_unchanged()

    def remove(self, id: Id) -> None:
        """Forget a subscription.

        Raises:
            KeyError: There is no such subscription.
        """
        held = self._contents
        with held.lock:
            held.has_removed_caller = held.may_call_functions
            if id in held.pending:
                held.pending.remove(id)
            elif id in held.unindexed:
                del held.unindexed[id]
            else:
                held.stack.remove(id)

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._contents)

    def __contains__(self, id: Id) -> bool:
        """Whether there is a subscription of that id."""
        held = self._contents
        if id in held.pending or id in held.unindexed:
            return True
        with held.lock:
            try:
                held.stack.locate(id)
            except KeyError:
                return False
            return True

    def __iter__(self) -> Iterator[Id]:
        """The ids in the order of adding; those of selectors for the oracle come last."""
        held = self._contents
        with held.lock:
            stack, rest = held.stack.segments, [*held.pending, *held.unindexed]
            alive = [np.flatnonzero(segment.alive) for segment in stack]
        yield from ids_in(stack, alive)
        yield from rest

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of an id as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription.
        """
        held = self._contents
        with held.lock:
            if id in held.pending:
                return held.pending.text(id)
            if id in held.unindexed:
                return held.unindexed[id].text, held.unindexed[id].priority
            segment, record = held.stack.locate(id)
            return segment.ledger.text(record), segment.ledger.priority(record)

    # -- upkeep -----------------------------------------------------------------------------------

    def _seal(self) -> None:
        """Make a segment of the draft that stays."""
        self._contents.seal()
        self._worker.wake()

    def settle(self) -> None:
        """Wait until nothing is left to be merged or laid out anew.

        Raises:
            Exception: It cannot be done: it failed again, when it was tried for this call.
        """
        held = self._contents
        tried = False
        while True:
            failure = self._worker.wait()
            if failure is not None and tried:
                raise failure
            tried = failure is not None
            with held.lock:
                if held.pending.is_full:
                    self._seal()
                if self._worker.next_step() is None:
                    return
            self._worker.wake()

    def gather(self) -> None:
        """Make one segment of all subscriptions, or as few as they fit into."""
        with self._contents.lock:
            self._seal()
            self._contents.recent.assume_quiet()
        self._worker.wake()
        self.settle()

    # -- on disk ----------------------------------------------------------------------------------

    @property
    def watcher(self) -> Callable[[bool], None] | None:
        """Told when there are other segments, and whether the draft was sealed."""
        return self._contents.watcher

    @watcher.setter
    def watcher(self, watcher: Callable[[bool], None] | None) -> None:
        self._contents.watcher = watcher

    def snapshot(self, seal: bool) -> Snapshot:
        """What there is in segments now; with the draft, which is sealed then, if asked for."""
        with self._contents.lock:
            if seal:
                self._seal()
            return self._contents.snapshot()

    def pack_segment(self, segment: Segment) -> PackedSegment:
        """A segment as arrays."""
        return pack_segment(segment, self._contents.terms)

    def restore(self, segments: Iterable[PackedSegment], read: Read) -> tuple[Segment, ...]:
        """Take segments that were stored, of subscriptions that are not here.

        Raises:
            OtherLayout: They were written by a Tamis with another layout.
        """
        return self._contents.restore(segments, read)

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """All subscriptions that each event of the batch satisfies."""
        answer = MatchCollector(len(batch))
        with self._switch_interval():
            self._match_into(batch, answer)
            return answer.matches()

    def counts(self, batch: EventBatch) -> dict[Id, int]:
        """How many events of the batch each subscription matches, for those that match any."""
        counted = CountCollector()
        with self._switch_interval():
            self._match_into(batch, counted)
            return counted.counts()

    def _switch_interval(self) -> AbstractContextManager[None]:
        """Short turns with a thread that has been adding since the last match, if there is one."""
        adder, self._adder = self._adder, 0
        return short_switch_interval() if adder not in (0, get_ident()) else nullcontext()

    def _match_into(self, batch: EventBatch, collector: MatchCollector | CountCollector) -> None:
        held = self._contents
        with held.lock:
            held.prepare()
            if held.pending.is_full:
                self._seal()
            stack = held.segments()
            whole = list(held.unindexed.values())
            satisfied = self._satisfied_predicates(batch)
        for begin in range(0, len(batch), _CHUNK):
            chunk = batch if len(batch) <= _CHUNK else batch.slice(begin, _CHUNK)
            self._match_chunk(chunk, begin, stack, satisfied, collector, min(len(batch), _CHUNK))
        if whole:
            collector.add_unindexed(whole, batch)
        # Last: upkeep that begins now carries over what has just been counted.
        self._notice(batch)

    def match_event(self, event: Mapping[str, object]) -> list[Id] | None:
        """The ids that one event matches, highest priority first; None if `match` must be asked.

        That is where a value needs columns to be taken (a date, a list, an object), or where a
        term must be computed, or a text looked into.
        """
        held = self._contents
        with held.lock:
            held.prepare()
            self._count_unchanged(_ALONE)
            stack = held.segments()
            if held.unindexed or len(held.index) or any(s.derived_terms(held.terms) for s in stack):
                return None
        values = values_of(event, held.terms)
        if values is None:
            return None
        pairs: list[tuple[int, Id]] = []
        for segment in stack:
            ids, priorities = match_segment(values, segment, len(held.terms))
            pairs += zip([-p for p in priorities] or [0] * len(ids), ids, strict=True)
        return [id for _, id in sorted(pairs)]

    def _satisfied_predicates(self, batch: EventBatch) -> SatisfiedPredicates:
        if not len(self._contents.index):
            return SatisfiedPredicates(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32))
        return self._contents.index.satisfied_predicates(batch)

    def _match_chunk(
        self,
        chunk: EventBatch,
        begin: int,
        stack: tuple[Segment, ...],
        satisfied: SatisfiedPredicates,
        collector: MatchCollector | CountCollector,
        chunk_events: int,
    ) -> None:
        terms, index = self._contents.terms, self._contents.index
        derived = {slot for segment in stack for slot in segment.derived_terms(terms)}
        columns = Columns(chunk, terms, derived)
        offsets = satisfied.offsets[begin : begin + len(chunk) + 1]
        counted = (
            0 if isinstance(collector, CountCollector) else self._count_schedule.take(len(chunk))
        )
        at = cuts(len(chunk), self.threads, counted)
        for segment in stack:
            if segment.is_empty:
                continue
            rows = columns.rows(segment.axes, segment.lookup(len(terms)))
            totals = collector.totals(segment)
            task = Task(
                segment, rows, offsets, satisfied.ids, index.capacity, counted, chunk_events, totals
            )
            if self.threads == 1 or len(at) == 2 or totals is not None:
                parts = [task(*cut) for cut in pairwise(at)]
            else:
                with ThreadPoolExecutor(len(at) - 1) as pool:
                    parts = list(pool.map(task, at[:-1], at[1:]))
            for (first, last), found in zip(pairwise(at), parts, strict=True):
                if first < counted:
                    segment.tally.add(last - first, found)
                collector.add(segment, begin, found)

    def _notice(self, batch: EventBatch) -> None:
        """Learn from the events, and see when nothing changes."""
        with self._contents.lock:
            fresh = self._contents.recent.notice(batch)
            self._count_unchanged(len(batch))
        if fresh:
            self._worker.wake()

    def _count_unchanged(self, events: int) -> None:
        """So many events have come without a change: when it is enough, make one segment of all."""
        if self._contents.recent.count_unchanged(events):
            if len(self._contents.pending):
                self._seal()
            self._worker.wake()

    # -- looking around ---------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Sizes and choices, by name."""
        held = self._contents
        with held.lock:
            return {
                "subscriptions": len(held),
                **segment_stats(held.segments()),
                "oracle": len(held.unindexed),
                "terms": len(held.terms),
                "derived_terms": len(held.terms.derived),
                "events_sampled": len(held.recent),
                **{f"index_{name}": size for name, size in held.index.stats().items()},
            }

    def learn(self, events: EventBatch) -> None:
        """Go by these events from now on, and lay out what has been laid out by guesses."""
        with self._contents.lock:
            if len(events):
                self._contents.recent.keep(events)
            self._contents.refresh()
        self._worker.wake()
        self.settle()

    def plan_of(self, id: Id, events: EventBatch | None = None) -> SubscriptionPlan:
        """Where a subscription is, and why.

        Args:
            id: The subscription.
            events: Typical events, for the engine to go by from now on.

        Raises:
            KeyError: There is no such subscription.
        """
        self.learn(EventBatch({}, 0) if events is None else events)
        held = self._contents
        with held.lock:
            stack, events_kept = held.segments(), len(held.recent)
            known = DescribeContext(held.terms, held.sample(), events_kept, len(stack))
            if id in held.unindexed:
                return describe_unindexed(id, held.unindexed[id].text, known)
            if id in held.pending:
                return describe_record(stack[-1], len(stack), held.pending.place(id), known)
            segment, record = held.stack.locate(id)
            return describe_record(segment, 1 + stack.index(segment), record, known)

    def costs(self, limit: int = 20) -> Costs:
        """The most expensive subscriptions, by a few of the events."""
        held = self._contents
        with held.lock:
            return most_expensive(
                held.segments(), held.unindexed, self._count_schedule.events, limit
            )

    def to_dot(self) -> str:
        """The structure, as a Graphviz digraph."""
        held = self._contents
        with held.lock:
            held.refresh()
            return to_dot(held.segments(), held.terms, len(held.unindexed))

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for this process."""
        self.settle()
        return {**self.__dict__, "_worker": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with nobody at work."""
        self.__dict__.update(state)
        self._worker = Worker(self._contents)
