"""The block engine: a stack of segments that never change, and what is not in one yet.

Readers take the stack as it is at the moment and go on with it. New subscriptions wait in a draft;
the next match makes a small segment of it, the *tail*, and when the tail is large enough it stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import RLock, Thread
from typing import ClassVar

import numpy as np

from tamis.engines.block.answer import Answer
from tamis.engines.block.costs import carry_over, most_expensive
from tamis.engines.block.describe import Known, described, described_whole
from tamis.engines.block.draft import Draft, TooLarge
from tamis.engines.block.draw import to_dot
from tamis.engines.block.ids import IdTable, tag_of
from tamis.engines.block.ledger import Ledger
from tamis.engines.block.reader import Columns
from tamis.engines.block.rules import Rules, pruned
from tamis.engines.block.segment import (
    Board,
    Sample,
    Segment,
    merged,
    nothing_found,
    renewed,
)
from tamis.engines.block.survey import surveyed
from tamis.engines.block.tally import NOT_COUNTED, Counting
from tamis.engines.block.terms import Terms
from tamis.engines.block.upkeep import Work, next_work
from tamis.engines.planned import Costs, SubscriptionPlan
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, UnsupportedExpression
from tamis.events import EventBatch
from tamis.kernels.block_ids import MOST
from tamis.kernels.block_masks import Found, match_blocks
from tamis.kernels.block_match import match_rows, match_values
from tamis.kernels.block_ranks import Rows
from tamis.kernels.block_words import Ints, Longs
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches
from tamis.predicates import PredicateIndex, Satisfied

# A draft of so many subscriptions becomes a segment that stays.
_SEALED = 4096
# It is begun again when so many in it have been removed, and most of it.
_IDLE = 64
# Events that are matched at a time, and cells of the table of their ranks.
_CHUNK = 1 << 16
_CELLS = 1 << 24
# From so many conjunctions per value on they are read value by value.
_LONG = 12
# Events that the plans go by, and how many pass before others are taken.
_SAMPLED = 1024
_SAMPLE_LEAST = 64
_RESAMPLED = 1 << 20
# When so many events have come since the last change, one segment is made of all.
_QUIET = 1 << 17


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
        self._terms = Terms()
        self._index = PredicateIndex()
        self._stack: tuple[Segment, ...] = ()
        self._codes = IdTable()
        self._next_base = 0
        self._whole: dict[Id, Subscription] = {}
        self._sample: EventBatch | None = None
        self._seen = 0
        self._quiet = 0
        self._counting = Counting()
        self._lock = RLock()
        self._worker: Thread | None = None
        self._begin_draft()

    def _begin_draft(self) -> None:
        self._draft = Draft(self._terms)
        self._drafted: list[Subscription] = []
        self._places: dict[Id, int] = {}
        self._tail: Segment | None = None

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            UnsupportedExpression: It is a sequence.
        """
        if isinstance(subscription.selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        with self._lock:
            if len(self._drafted) >= _SEALED or not self._draft.roomy:
                self._seal()
            try:
                self._draft.add(subscription)
            except TooLarge:
                self._whole[subscription.id] = subscription
                return
            self._places[subscription.id] = len(self._drafted)
            self._drafted.append(subscription)
            self._quiet = 0

    def remove(self, id: Id) -> None:
        """Forget a subscription."""
        with self._lock:
            place = self._places.pop(id, None)
            if place is not None:
                if self._tail is not None and place < len(self._tail.ledger):
                    self._tail.alive[place] = 0
                    self._tail.dead += 1
                if len(self._drafted) > _IDLE + 4 * len(self._places):
                    self._redraft()
            elif id in self._whole:
                del self._whole[id]
            else:
                at, segment, record = self._located(id)
                self._codes.drop(at)
                segment.alive[record] = 0
                segment.dead += 1

    def _redraft(self) -> None:
        """Begin the draft again, with those that have not been removed."""
        kept = [self._drafted[place] for place in self._places.values()]
        if self._tail is not None:
            self._let_go(self._tail)
        self._begin_draft()
        for subscription in kept:
            self.add(subscription)

    def _located(self, id: Id) -> tuple[int, Segment, int]:
        """The slot of an id, its segment and its record there."""
        for at, code in self._codes.candidates(tag_of(id)):
            for segment in self._stack:
                record = code - segment.base
                if 0 <= record < len(segment.ledger) and segment.ledger.id(record) == id:
                    return at, segment, record
        raise KeyError(id)

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._places) + len(self._whole) + sum(map(len, self._stack))

    def __contains__(self, id: object) -> bool:
        """Whether there is a subscription of that id."""
        try:
            self.text(id)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[Id]:
        """The ids."""
        for segment in self._stack:
            for record in np.flatnonzero(segment.alive).tolist():
                yield segment.ledger.id(record)
        yield from list(self._places)
        yield from list(self._whole)

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of an id as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription.
        """
        with self._lock:
            place = self._places.get(id)
            if place is not None:
                held = self._drafted[place]
            elif id in self._whole:
                held = self._whole[id]
            else:
                _, segment, record = self._located(id)
                return segment.ledger.text(record), segment.ledger.priority(record)
            return held.text, held.priority

    # -- segments ---------------------------------------------------------------------------------

    def _seal(self) -> None:
        """Make a segment of the draft that stays."""
        self._refresh()
        segment = self._tail
        if segment is not None:
            if segment.dead == len(segment.ledger):
                self._let_go(segment)
            else:
                self._settle_base(segment)
                kept = np.flatnonzero(segment.alive)
                self._codes.put(segment.ledger.tags[kept].astype(np.int64), segment.base + kept)
                self._stack = (*self._stack, segment)
        self._begin_draft()
        self._keep_up()

    def _settle_base(self, segment: Segment) -> None:
        if self._next_base + len(segment.ledger) > MOST:
            self._renumber()
        segment.base = self._next_base
        self._next_base += len(segment.ledger)

    def _renumber(self) -> None:
        """Begin with codes from 0 again: merging has used them up."""
        self._codes.clear()
        self._next_base = 0
        for segment in self._stack:
            segment.base = self._next_base
            self._next_base += len(segment.ledger)
            kept = np.flatnonzero(segment.alive)
            self._codes.put(segment.ledger.tags[kept].astype(np.int64), segment.base + kept)

    def _refresh(self) -> None:
        """Bring the tail up to the draft."""
        tail = self._tail
        if tail is None and not self._drafted:
            return
        if tail is not None and len(tail.ledger) == len(self._drafted):
            if tail.informed or self._sample is None:
                return
        drafted = self._drafted
        ids = [subscription.id for subscription in drafted]
        ledger = Ledger.of(
            ids,
            [subscription.text for subscription in drafted],
            [subscription.priority for subscription in drafted],
            [tag_of(id) for id in ids],
        )
        tail = self._made(ledger, self._draft.rules())
        alive = np.zeros(len(drafted), np.uint8)
        alive[list(self._places.values())] = 1
        tail.alive, tail.dead = alive, len(drafted) - len(self._places)
        if self._tail is not None:
            carry_over(self._tail, tail, np.arange(len(self._tail.ledger)), 0)
            self._let_go(self._tail)
        self._tail = tail

    def _made(self, ledger: Ledger, rules: Rules) -> Segment:
        rules = pruned(rules)
        numbers = np.array([self._index.intern(p) for p in rules.predicates], np.int32)
        segment = Segment.of(ledger, rules, self._sampled())
        segment.numbers = numbers
        return segment

    def _let_go(self, segment: Segment) -> None:
        for number in segment.numbers.tolist():
            self._index.release(number)

    # -- upkeep -----------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """See that somebody merges segments, if there are any to merge."""
        with self._lock:
            idle = self._worker is None or not self._worker.is_alive()
            if idle and self._next_work() is not None:
                self._worker = Thread(target=self._work, name="tamis-upkeep", daemon=True)
                self._worker.start()

    def _next_work(self) -> Work | None:
        return next_work(self._stack, self._sample is not None, self._quiet >= _QUIET)

    def settle(self) -> None:
        """Wait until nothing is left to be merged or laid out anew."""
        while True:
            worker = self._worker
            if worker is not None:
                worker.join()
            with self._lock:
                if len(self._drafted) >= _SEALED:
                    self._seal()
                if self._next_work() is None:
                    return
            self._keep_up()

    def _work(self) -> None:
        while True:
            with self._lock:
                work = self._next_work()
                if work is None:
                    self._worker = None
                    return
                old = self._stack[work.place : work.place + 1 + work.merge]
                before = [segment.alive.copy() for segment in old]
                sample = self._sampled()
            if work.merge:
                new, *kept = merged(old[0], old[1], before, sample)
            else:
                new, *kept = renewed(old[0], before[0], sample)
            with self._lock:
                self._swap(old, new, before, kept)

    def _swap(
        self, old: tuple[Segment, ...], new: Segment, before: list[np.ndarray], kept: list[Longs]
    ) -> None:
        """Put a segment into the place of others, whose records may have been removed meanwhile."""
        new.numbers = np.array([self._index.intern(p) for p in new.predicates], np.int32)
        self._settle_base(new)
        filled = 0
        for segment, records in zip(old, kept, strict=True):
            alive = segment.alive[records]
            place = new.base + filled + np.arange(len(records))
            still = np.flatnonzero(alive)
            self._codes.move(
                segment.ledger.tags[records[still]].astype(np.int64),
                segment.base + records[still],
                place[still],
            )
            new.alive[filled : filled + len(records)] = alive
            carry_over(segment, new, records, filled)
            filled += len(records)
        new.dead = len(new.alive) - int(new.alive.sum())
        at = self._stack.index(old[0])
        self._stack = (*self._stack[:at], new, *self._stack[at + len(old) :])
        for segment in old:
            self._let_go(segment)

    # -- events -----------------------------------------------------------------------------------

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """All subscriptions that each event of the batch satisfies."""
        with self._lock:
            self._refresh()
            if len(self._drafted) >= _SEALED:
                self._seal()
            stack = self._segments()
            whole = list(self._whole.values())
            satisfied = self._satisfied(batch)
        answer = Answer(len(batch))
        columns_at_most = max(1, max((len(s.axes) for s in stack), default=1))
        step = max(64, min(_CHUNK, _CELLS // columns_at_most // 64 * 64))
        for begin in range(0, len(batch), step):
            chunk = batch if len(batch) <= step else batch.slice(begin, step)
            self._match_chunk(chunk, begin, stack, satisfied, answer)
        if whole:
            answer.add_whole(whole, batch)
        # Last: upkeep that begins now carries over what has just been counted.
        self._notice(batch)
        return answer.matches()

    def _satisfied(self, batch: EventBatch) -> Satisfied:
        if not len(self._index):
            return Satisfied(np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32))
        return self._index.satisfied(batch)

    def _match_chunk(
        self,
        chunk: EventBatch,
        begin: int,
        stack: tuple[Segment, ...],
        satisfied: Satisfied,
        answer: Answer,
    ) -> None:
        columns = Columns(chunk, self._terms)
        offsets = satisfied.offsets[begin : begin + len(chunk) + 1]
        counted = self._counting.take(len(chunk))
        cuts = _cuts(len(chunk), self.threads, counted)
        for segment in stack:
            if segment.empty:
                continue
            rows = columns.rows(segment.axes, segment.lookup(len(self._terms)))
            task = _Task(segment, rows, offsets, satisfied.ids, self._index.capacity, counted)
            if self.threads == 1 or len(cuts) == 2:
                parts = [task(*cut) for cut in pairwise(cuts)]
            else:
                with ThreadPoolExecutor(len(cuts) - 1) as pool:
                    parts = list(pool.map(task, cuts[:-1], cuts[1:]))
            for (first, last), found in zip(pairwise(cuts), parts, strict=True):
                if first < counted:
                    segment.tally.add(last - first, found)
                answer.add(segment, begin, found)

    # -- what is known of events ------------------------------------------------------------------

    def _notice(self, batch: EventBatch) -> None:
        """Keep some events now and then, as plans go by them; and see when nothing changes."""
        with self._lock:
            was_quiet = self._quiet >= _QUIET
            self._quiet += len(batch)
            self._seen += len(batch)
            stale = self._sample is None or self._seen >= _RESAMPLED
            fresh = stale and len(batch) >= _SAMPLE_LEAST
            if fresh:
                self._seen = 0
                self._sample = _few(batch)
            settled = not was_quiet and self._quiet >= _QUIET
            if settled and self._places:
                self._seal()
        if fresh or settled:
            self._keep_up()

    def _sampled(self) -> Sample | None:
        events = self._sample
        if events is None:
            return None
        columns = Columns(events, self._terms)
        slots = len(self._terms)
        with self._lock:
            counts: Longs | None = None
            if len(self._index):
                found = self._index.satisfied(events).ids
                counts = np.bincount(found, minlength=self._index.capacity)

        def count(predicate: object) -> int:
            number = self._index.find(predicate)  # type: ignore[arg-type]
            return 0 if counts is None or number is None else int(counts[number])

        return Sample(lambda axes: columns.rows(axes, axes.lookup(slots)), count)

    # -- looking around ---------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Sizes and choices, by name."""
        with self._lock:
            return {
                "subscriptions": len(self),
                **surveyed(self._segments()),
                "oracle": len(self._whole),
                "terms": len(self._terms),
                "derived_terms": len(self._terms.derived),
                "events_sampled": 0 if self._sample is None else len(self._sample),
                **{f"index_{name}": size for name, size in self._index.stats().items()},
            }

    def plan_of(self, id: Id, events: EventBatch | None = None) -> SubscriptionPlan:
        """Where a subscription is, and why.

        Args:
            id: The subscription.
            events: Typical events, for the engine to go by from now on.

        Raises:
            KeyError: There is no such subscription.
        """
        with self._lock:
            if events is not None and len(events):
                self._sample, self._seen = _few(events), 0
            self._refresh()
        self.settle()
        with self._lock:
            stack = self._segments()
            sampled = 0 if self._sample is None else len(self._sample)
            known = Known(self._terms, self._sampled(), sampled, len(stack))
            if id in self._whole:
                return described_whole(id, self._whole[id].text, known)
            if id in self._places:
                return described(stack[-1], len(stack), self._places[id], known)
            _, segment, record = self._located(id)
            return described(segment, 1 + stack.index(segment), record, known)

    def costs(self, limit: int = 20) -> Costs:
        """The most expensive subscriptions, by a few of the events."""
        with self._lock:
            return most_expensive(self._segments(), self._whole, self._counting.events, limit)

    def to_dot(self) -> str:
        """The structure, as a Graphviz digraph."""
        with self._lock:
            self._refresh()
            return to_dot(self._segments(), self._terms, len(self._whole))

    def _segments(self) -> tuple[Segment, ...]:
        return self._stack if self._tail is None else (*self._stack, self._tail)

    def __getstate__(self) -> dict[str, object]:
        """Leave out what is only for this process."""
        self.settle()
        with self._lock:
            return {**self.__dict__, "_lock": None, "_worker": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with nobody at work."""
        self.__dict__.update(state)
        self._lock = RLock()


class _Task:
    """The matching of a chunk of events against a segment, cut into pieces for threads."""

    def __init__(
        self,
        segment: Segment,
        rows: Rows,
        offsets: Longs,
        ids: np.ndarray,
        capacity: int,
        counted: int,
    ) -> None:
        self._segment, self._rows, self._offsets, self._ids = segment, rows, offsets, ids
        self._local = segment.local(capacity)
        self._totals = np.zeros(0, np.int64)
        self._counted = counted

    def __call__(self, begin: int, end: int) -> Found:
        segment, plan = self._segment, self._segment.plan
        events, size = end - begin, segment.block_size
        visits: Ints = segment.tally.open() if begin < self._counted else NOT_COUNTED
        with segment.board() as board:
            found = nothing_found(
                size // 64,
                1024 + int(1.1 * board.pairs * events),
                64 + int(1.1 * board.tiles * events),
            )
            found = self._match_rows(begin, end, board, visits, found)
            if len(plan.wide.leaves.words):
                found = match_blocks(
                    self._rows,
                    begin,
                    end,
                    self._offsets,
                    self._ids,
                    self._local,
                    plan.wide,
                    segment.sets,
                    segment.alive,
                    plan.defaults,
                    board.block(size),
                    visits,
                    size // 64,
                    self._totals,
                    found,
                )
            board.pairs, board.tiles = found.pairs / events, found.tiles / events
        return found

    def _match_rows(self, begin: int, end: int, board: Board, visits: Ints, found: Found) -> Found:
        segment, plan = self._segment, self._segment.plan
        by_value = len(plan.narrow.record) > _LONG * len(plan.leaves) and self._rows.dense
        if by_value and not len(segment.predicates) and not len(plan.general.record):
            event, record, pairs = match_values(
                self._rows,
                begin,
                end,
                segment.axes.count,
                plan.buckets,
                plan.narrow,
                segment.sets,
                segment.alive,
                visits,
                found.event,
                found.record,
            )
        elif len(plan.narrow.record) or len(plan.general.record):
            event, record, pairs = match_rows(
                self._rows,
                begin,
                end,
                self._offsets,
                self._ids,
                self._local,
                plan.buckets,
                plan.narrow,
                plan.general,
                segment.sets,
                segment.alive,
                board.board,
                board.clock,
                visits,
                found.event,
                found.record,
            )
            board.clock += end - begin
        else:
            return found
        return found._replace(event=event, record=record, pairs=pairs)


def _cuts(events: int, threads: int, counted: int) -> list[int]:
    """Where to cut a batch: whole blocks for each thread, and those that are counted apart."""
    pieces = min(threads, -(-events // 2048))
    step = -(-events // max(pieces, 1) // 2048) * 2048
    cuts = [*range(0, events, max(step, 1)), events] if pieces > 1 else [0, events]
    return sorted({*cuts, counted}) if 0 < counted < events else cuts


def _few(batch: EventBatch) -> EventBatch:
    """Some of the events, from all over the batch, in memory of their own."""
    from tamis.columns import Column

    chosen = np.unique(np.linspace(0, len(batch) - 1, _SAMPLED).astype(np.int64))
    columns = {
        path: tuple(Column(column.type, column.data.take(chosen)) for column in found)
        for path, found in batch.columns.items()
    }
    return EventBatch(columns, len(chosen), batch.schema, batch.semantics)
