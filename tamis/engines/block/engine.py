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
from tamis.engines.block.draft.draft import TooLarge
from tamis.engines.block.match.answer import Answer
from tamis.engines.block.match.chunk_task import Task, cuts
from tamis.engines.block.match.match_counts import Counted
from tamis.engines.block.match.rank_rows import Columns
from tamis.engines.block.match.single_event import matched, values_of
from tamis.engines.block.report.costs import most_expensive
from tamis.engines.block.report.describe import Known, described, described_whole
from tamis.engines.block.report.draw import to_dot
from tamis.engines.block.report.statistics import surveyed
from tamis.engines.block.report.tally import Counting
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.segment.segment_files import Snapshot, Stored, stored
from tamis.engines.block.segment.stored_leaves import Read
from tamis.engines.block.stack import ids_in
from tamis.engines.block.switch_interval import short_turns
from tamis.engines.block.worker import Worker
from tamis.engines.introspection import Costs, SubscriptionPlan
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches
from tamis.predicates import Satisfied

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
        self._held = Contents()
        self._worker = Worker(self._held)
        self._adder = 0  # the thread that added last, since the last match
        self._counting = Counting()

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            UnsupportedExpression: It is a sequence.
        """
        if isinstance(subscription.selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        held = self._held
        if held.pending.full and len(held.stack.segments) > _BEHIND:
            self._worker.wait_a_little()
        with held.lock:
            if not held.pending.roomy:
                self._seal()
            try:
                held.pending.add(subscription)
            except TooLarge:
                held.whole[subscription.id] = subscription
                return
            held.calls |= bool(subscription.functions)
            self._adder = get_ident()
            held.recent.changed()

    def remove(self, id: Id) -> None:
        """Forget a subscription.

        Raises:
            KeyError: There is no such subscription.
        """
        held = self._held
        with held.lock:
            held.calls_less = held.calls
            if id in held.pending:
                held.pending.remove(id)
            elif id in held.whole:
                del held.whole[id]
            else:
                held.stack.remove(id)

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._held)

    def __contains__(self, id: Id) -> bool:
        """Whether there is a subscription of that id."""
        held = self._held
        if id in held.pending or id in held.whole:
            return True
        with held.lock:
            try:
                held.stack.located(id)
            except KeyError:
                return False
            return True

    def __iter__(self) -> Iterator[Id]:
        """The ids in the order of adding; those of selectors for the oracle come last."""
        held = self._held
        with held.lock:
            stack, rest = held.stack.segments, [*held.pending, *held.whole]
            alive = [np.flatnonzero(segment.alive) for segment in stack]
        yield from ids_in(stack, alive)
        yield from rest

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of an id as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription.
        """
        held = self._held
        with held.lock:
            if id in held.pending:
                return held.pending.text(id)
            if id in held.whole:
                return held.whole[id].text, held.whole[id].priority
            segment, record = held.stack.located(id)
            return segment.ledger.text(record), segment.ledger.priority(record)

    # -- upkeep -----------------------------------------------------------------------------------

    def _seal(self) -> None:
        """Make a segment of the draft that stays."""
        self._held.seal()
        self._worker.wake()

    def settle(self) -> None:
        """Wait until nothing is left to be merged or laid out anew.

        Raises:
            Exception: It cannot be done: it failed again, when it was tried for this call.
        """
        held = self._held
        tried = False
        while True:
            failure = self._worker.wait()
            if failure is not None and tried:
                raise failure
            tried = failure is not None
            with held.lock:
                if held.pending.full:
                    self._seal()
                if self._worker.next_work() is None:
                    return
            self._worker.wake()

    def gather(self) -> None:
        """Make one segment of all subscriptions, or as few as they fit into."""
        with self._held.lock:
            self._seal()
            self._held.recent.assume_quiet()
        self._worker.wake()
        self.settle()

    # -- on disk ----------------------------------------------------------------------------------

    @property
    def watcher(self) -> Callable[[bool], None] | None:
        """Told when there are other segments, and whether the draft was sealed."""
        return self._held.watcher

    @watcher.setter
    def watcher(self, watcher: Callable[[bool], None] | None) -> None:
        self._held.watcher = watcher

    def snapshot(self, seal: bool) -> Snapshot:
        """What there is in segments now; with the draft, which is sealed then, if asked for."""
        with self._held.lock:
            if seal:
                self._seal()
            return self._held.snapshot()

    def stored(self, segment: Segment) -> Stored:
        """A segment as arrays."""
        return stored(segment, self._held.terms)

    def restore(self, segments: Iterable[Stored], read: Read) -> tuple[Segment, ...]:
        """Take segments that were stored, of subscriptions that are not here.

        Raises:
            OtherLayout: They were written by a Tamis with another layout.
        """
        return self._held.restore(segments, read)

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """All subscriptions that each event of the batch satisfies."""
        answer = Answer(len(batch))
        with self._turns():
            self._answer(batch, answer)
            return answer.matches()

    def counts(self, batch: EventBatch) -> dict[Id, int]:
        """How many events of the batch each subscription matches, for those that match any."""
        counted = Counted()
        with self._turns():
            self._answer(batch, counted)
            return counted.counts()

    def _turns(self) -> AbstractContextManager[None]:
        """Short turns with a thread that has been adding since the last match, if there is one."""
        adder, self._adder = self._adder, 0
        return short_turns() if adder not in (0, get_ident()) else nullcontext()

    def _answer(self, batch: EventBatch, answer: Answer | Counted) -> None:
        held = self._held
        with held.lock:
            held.prepare()
            if held.pending.full:
                self._seal()
            stack = held.segments()
            whole = list(held.whole.values())
            satisfied = self._satisfied(batch)
        for begin in range(0, len(batch), _CHUNK):
            chunk = batch if len(batch) <= _CHUNK else batch.slice(begin, _CHUNK)
            self._match_chunk(chunk, begin, stack, satisfied, answer, min(len(batch), _CHUNK))
        if whole:
            answer.add_whole(whole, batch)
        # Last: upkeep that begins now carries over what has just been counted.
        self._notice(batch)

    def match_event(self, event: Mapping[str, object]) -> list[Id] | None:
        """The ids that one event matches, highest priority first; None if `match` must be asked.

        That is where a value needs columns to be taken (a date, a list, an object), or where a
        term must be computed, or a text looked into.
        """
        held = self._held
        with held.lock:
            held.prepare()
            self._passed(_ALONE)
            stack = held.segments()
            if held.whole or len(held.index) or any(s.derived(held.terms) for s in stack):
                return None
        values = values_of(event, held.terms)
        if values is None:
            return None
        pairs: list[tuple[int, Id]] = []
        for segment in stack:
            ids, priorities = matched(values, segment, len(held.terms))
            pairs += zip([-p for p in priorities] or [0] * len(ids), ids, strict=True)
        return [id for _, id in sorted(pairs)]

    def _satisfied(self, batch: EventBatch) -> Satisfied:
        if not len(self._held.index):
            return Satisfied(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32))
        return self._held.index.satisfied(batch)

    def _match_chunk(
        self,
        chunk: EventBatch,
        begin: int,
        stack: tuple[Segment, ...],
        satisfied: Satisfied,
        answer: Answer | Counted,
        together: int,
    ) -> None:
        terms, index = self._held.terms, self._held.index
        derived = {slot for segment in stack for slot in segment.derived(terms)}
        columns = Columns(chunk, terms, derived)
        offsets = satisfied.offsets[begin : begin + len(chunk) + 1]
        counted = 0 if isinstance(answer, Counted) else self._counting.take(len(chunk))
        at = cuts(len(chunk), self.threads, counted)
        for segment in stack:
            if segment.empty:
                continue
            rows = columns.rows(segment.axes, segment.lookup(len(terms)))
            totals = answer.totals(segment)
            task = Task(
                segment, rows, offsets, satisfied.ids, index.capacity, counted, together, totals
            )
            if self.threads == 1 or len(at) == 2 or totals is not None:
                parts = [task(*cut) for cut in pairwise(at)]
            else:
                with ThreadPoolExecutor(len(at) - 1) as pool:
                    parts = list(pool.map(task, at[:-1], at[1:]))
            for (first, last), found in zip(pairwise(at), parts, strict=True):
                if first < counted:
                    segment.tally.add(last - first, found)
                answer.add(segment, begin, found)

    def _notice(self, batch: EventBatch) -> None:
        """Learn from the events, and see when nothing changes."""
        with self._held.lock:
            fresh = self._held.recent.notice(batch)
            self._passed(len(batch))
        if fresh:
            self._worker.wake()

    def _passed(self, events: int) -> None:
        """So many events have come without a change: when it is enough, make one segment of all."""
        if self._held.recent.passed(events):
            if len(self._held.pending):
                self._seal()
            self._worker.wake()

    # -- looking around ---------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Sizes and choices, by name."""
        held = self._held
        with held.lock:
            return {
                "subscriptions": len(held),
                **surveyed(held.segments()),
                "oracle": len(held.whole),
                "terms": len(held.terms),
                "derived_terms": len(held.terms.derived),
                "events_sampled": len(held.recent),
                **{f"index_{name}": size for name, size in held.index.stats().items()},
            }

    def learn(self, events: EventBatch) -> None:
        """Go by these events from now on, and lay out what has been laid out by guesses."""
        with self._held.lock:
            if len(events):
                self._held.recent.keep(events)
            self._held.refresh()
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
        held = self._held
        with held.lock:
            stack, events_kept = held.segments(), len(held.recent)
            known = Known(held.terms, held.sampled(), events_kept, len(stack))
            if id in held.whole:
                return described_whole(id, held.whole[id].text, known)
            if id in held.pending:
                return described(stack[-1], len(stack), held.pending.place(id), known)
            segment, record = held.stack.located(id)
            return described(segment, 1 + stack.index(segment), record, known)

    def costs(self, limit: int = 20) -> Costs:
        """The most expensive subscriptions, by a few of the events."""
        held = self._held
        with held.lock:
            return most_expensive(held.segments(), held.whole, self._counting.events, limit)

    def to_dot(self) -> str:
        """The structure, as a Graphviz digraph."""
        held = self._held
        with held.lock:
            held.refresh()
            return to_dot(held.segments(), held.terms, len(held.whole))

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for this process."""
        self.settle()
        return {**self.__dict__, "_worker": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with nobody at work."""
        self.__dict__.update(state)
        self._worker = Worker(self._held)
