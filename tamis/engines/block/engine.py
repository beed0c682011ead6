"""The block engine: a stack of immutable segments, and the subscriptions that are in none yet.

Readers use the stack as it was when they took it. New subscriptions go into a draft. The next match
builds a small segment from the draft, the *tail*; once it is large enough, it joins the stack.

This file is long because it has the whole public surface of the engine. The work is done in the
modules beside it.
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

# With more segments than this, `add` waits briefly for the worker to merge some.
_BEHIND = 5
# Events that are matched at a time.
_CHUNK = 1 << 16
# A single event counts as this many: a segment costs it as much as it costs a small batch.
_ALONE = 64


class BlockEngine:
    """An engine of immutable segments. It supports the whole language but sequences."""

    name: ClassVar[str] = "block"

    def __init__(self, threads: int = 1) -> None:
        """Create an engine without subscriptions.

        Args:
            threads: How many threads share the events of a batch.

        Raises:
            InputError: `threads` is not a positive integer.
        """
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads must be an integer of 1 or more, not {threads!r}")
        self.threads = threads
        self._contents = Contents()
        self._worker = Worker(self._contents)
        self._adder = 0  # the thread that added last, since the last match
        self._count_schedule = CountSchedule()

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

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
        """Remove a subscription.

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
        """Return the number of subscriptions."""
        return len(self._contents)

    def __contains__(self, id: Id) -> bool:
        """Return whether there is a subscription with this id."""
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
        """Iterate over the ids in insertion order; those left to the oracle come last."""
        held = self._contents
        with held.lock:
            stack, rest = held.stack.segments, [*held.pending, *held.unindexed]
            alive = [np.flatnonzero(segment.alive) for segment in stack]
        yield from ids_in(stack, alive)
        yield from rest

    def text(self, id: Id) -> tuple[str, int]:
        """Return the selector of a subscription as it was written, and its priority.

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

    # -- maintenance ------------------------------------------------------------------------------

    def _seal(self) -> None:
        """Turn the draft into a segment of the stack."""
        self._contents.seal()
        self._worker.wake()

    def settle(self) -> None:
        """Wait until no segment is left to merge or rebuild.

        Raises:
            Exception: Maintenance failed twice in a row; the second attempt was for this call.
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
        """Merge all subscriptions into one segment, or as few as they fit into."""
        with self._contents.lock:
            self._seal()
            self._contents.recent.assume_quiet()
        self._worker.wake()
        self.settle()

    # -- on disk ----------------------------------------------------------------------------------

    @property
    def watcher(self) -> Callable[[bool], None] | None:
        """A callback for changes of the segments; its argument is whether the draft was sealed."""
        return self._contents.watcher

    @watcher.setter
    def watcher(self, watcher: Callable[[bool], None] | None) -> None:
        self._contents.watcher = watcher

    def snapshot(self, seal: bool) -> Snapshot:
        """Return the current segments; with `seal`, seal the draft first to include it."""
        with self._contents.lock:
            if seal:
                self._seal()
            return self._contents.snapshot()

    def pack_segment(self, segment: Segment) -> PackedSegment:
        """Return a segment as arrays."""
        return pack_segment(segment, self._contents.terms)

    def restore(self, segments: Iterable[PackedSegment], read: Read) -> tuple[Segment, ...]:
        """Add stored segments, whose subscriptions must not be in the engine.

        Raises:
            LayoutMismatch: They were written by a version of Tamis with another layout.
        """
        return self._contents.restore(segments, read)

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        answer = MatchCollector(len(batch))
        with self._switch_interval():
            self._match_into(batch, answer)
            return answer.matches()

    def counts(self, batch: EventBatch) -> dict[Id, int]:
        """Return how many events each subscription matches, for those that match any."""
        counted = CountCollector()
        with self._switch_interval():
            self._match_into(batch, counted)
            return counted.counts()

    def _switch_interval(self) -> AbstractContextManager[None]:
        """Shorten the switch interval if another thread has added since the last match."""
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
        # Last, so that maintenance that starts now carries over what has just been counted.
        self._notice(batch)

    def match_event(self, event: Mapping[str, object]) -> list[Id] | None:
        """Return the ids that one event matches, highest priority first.

        Returns:
            The ids, or None if only `match` can answer: a value needs columns (a date, a list, an
            object), a term must be computed, or phase 1 must evaluate a predicate.
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
        """Sample the events, and count those that arrive without a change of subscriptions."""
        with self._contents.lock:
            fresh = self._contents.recent.notice(batch)
            self._count_unchanged(len(batch))
        if fresh:
            self._worker.wake()

    def _count_unchanged(self, events: int) -> None:
        """Count events without a change; when there are enough, merge all into one segment."""
        if self._contents.recent.count_unchanged(events):
            if len(self._contents.pending):
                self._seal()
            self._worker.wake()

    # -- introspection ----------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return sizes and layout choices, by name."""
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
        """Use these events as the sample, and rebuild segments that were laid out without one."""
        with self._contents.lock:
            if len(events):
                self._contents.recent.keep(events)
            self._contents.refresh()
        self._worker.wake()
        self.settle()

    def plan_of(self, id: Id, events: EventBatch | None = None) -> SubscriptionPlan:
        """Describe where a subscription is indexed, and why.

        Args:
            id: The subscription.
            events: Typical events, which become the engine's sample.

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
        """Return the most expensive subscriptions, measured on a fraction of the events."""
        held = self._contents
        with held.lock:
            return most_expensive(
                held.segments(), held.unindexed, self._count_schedule.events, limit
            )

    def to_dot(self) -> str:
        """Return the structure as a Graphviz digraph."""
        held = self._contents
        with held.lock:
            held.refresh()
            return to_dot(held.segments(), held.terms, len(held.unindexed))

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the worker, which belongs to this process."""
        self.settle()
        return {**self.__dict__, "_worker": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Restore the state with a new worker."""
        self.__dict__.update(state)
        self._worker = Worker(self._contents)
