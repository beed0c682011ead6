"""The block engine: a stack of segments that never change, and what is not in one yet.

Readers take the stack as it is at the moment and go on with it. New subscriptions wait in a draft;
the next match makes a small segment of it, the *tail*, and when the tail is large enough it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from threading import RLock, Thread, get_ident
from typing import ClassVar

import numpy as np

from tamis.engines.block.answer import Answer
from tamis.engines.block.costs import carry_over, most_expensive
from tamis.engines.block.counted import Counted
from tamis.engines.block.describe import Known, described, described_whole
from tamis.engines.block.directory import Directory
from tamis.engines.block.draft import Draft, TooLarge
from tamis.engines.block.draw import to_dot
from tamis.engines.block.ids import IdTable, tag_of
from tamis.engines.block.leaves import Read
from tamis.engines.block.ledger import Ledger
from tamis.engines.block.reader import Columns
from tamis.engines.block.rules import Leaf, Rules, pruned
from tamis.engines.block.segment import Sample, Segment, merged, renewed
from tamis.engines.block.single import matched, values_of
from tamis.engines.block.storage import Snapshot, Stored, restored, stored
from tamis.engines.block.survey import surveyed
from tamis.engines.block.tally import Counting
from tamis.engines.block.task import Task, cuts
from tamis.engines.block.terms import Terms
from tamis.engines.block.turns import short_turns
from tamis.engines.block.upkeep import Work, next_work
from tamis.engines.planned import Costs, SubscriptionPlan
from tamis.engines.subscription import Subscription
from tamis.errors import FunctionError, InputError, UnsupportedExpression
from tamis.events import Column, EventBatch
from tamis.kernels.block_ids import MOST
from tamis.kernels.block_words import Ints, Longs
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches
from tamis.predicates import PredicateIndex, Satisfied

# A draft of so many subscriptions becomes a segment that stays.
_SEALED = 4096
# With more segments than this, who adds waits for those who merge, so many seconds at most.
_BEHIND = 5
_PATIENCE = 0.1
# It is begun again when so many in it have been removed, and most of it.
_IDLE = 64
# Ids that are read at a time, to begin with.
_FIRST_IDS = 64
# Events that are matched at a time.
_CHUNK = 1 << 16
# Events that the plans go by, and how many pass before others are taken.
_SAMPLED = 1024
_SAMPLE_LEAST = 64
_RESAMPLED = 1 << 20
# When so many events have come since the last change, one segment is made of all.
_QUIET = 1 << 17
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
        self._terms = Terms()
        self._index = PredicateIndex()
        self._stack: tuple[Segment, ...] = ()
        self._directory = Directory()
        self._restored: tuple[Segment, ...] = ()
        self._codes = IdTable()
        self._next_base = 0
        self._whole: dict[Id, Subscription] = {}
        self._sample: EventBatch | None = None
        self._seen = 0
        self._quiet = 0
        self._adder = 0  # the thread that added last, since the last match
        # Whether functions of the caller's may be called, and for some that were removed.
        self._calls = self._calls_less = False
        self._counting = Counting()
        self._lock = RLock()
        self._worker: Thread | None = None
        # Told when there are other segments, and whether the draft was sealed; nobody by default.
        self.watcher: Callable[[bool], None] | None = None
        self._begin_draft()

    def _begin_draft(self) -> None:
        self._draft = Draft(self._terms)
        # By record: ids, texts and priorities. The trees are not needed any more.
        self._drafted: list[tuple[Id, str, int]] = []
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
        if len(self._drafted) >= _SEALED and len(self._stack) > _BEHIND:
            self._wait()
        with self._lock:
            if len(self._drafted) >= _SEALED or not self._draft.roomy:
                self._seal()
            try:
                self._draft.add(subscription)
            except TooLarge:
                self._whole[subscription.id] = subscription
                return
            self._calls |= bool(subscription.functions)
            self._adder = get_ident()
            self._places[subscription.id] = len(self._drafted)
            self._drafted.append((subscription.id, subscription.text, subscription.priority))
            self._quiet = 0

    def remove(self, id: Id) -> None:
        """Forget a subscription.

        Raises:
            KeyError: There is no such subscription.
        """
        with self._lock:
            self._calls_less = self._calls
            place = self._places.pop(id, None)
            if place is not None:
                if self._tail is not None and place < len(self._tail.ledger):
                    self._tail.alive[place] = 0
                    self._tail.dead += 1
                # When none is left, the next ids may be of the other kind.
                if not self._places or len(self._drafted) > _IDLE + 4 * len(self._places):
                    self._redraft()
            elif id in self._whole:
                del self._whole[id]
            else:
                at, segment, record = self._located(id)
                self._codes.drop(at)
                segment.alive[record] = 0
                segment.dead += 1

    def _call_less(self) -> None:
        """Forget what was removed at once, if functions of the caller's are called for it."""
        if not self._calls_less:
            return
        self._calls_less = False
        if len(self._drafted) > len(self._places):
            self._redraft()
        for segment in self._stack:
            if segment.dead and segment.calls(self._terms):
                alive = segment.alive.copy()
                new, kept = renewed(segment, alive, None)
                self._swap((segment,), new, [alive], [kept])

    def _redraft(self) -> None:
        """Begin the draft again, with those that have not been removed."""
        places = list(self._places.values())
        draft, kept = self._draft.only(places), [self._drafted[place] for place in places]
        if self._tail is not None:
            self._let_go(self._tail)
        self._begin_draft()
        self._draft, self._drafted = draft, kept
        self._places = {id: place for place, (id, _, _) in enumerate(kept)}

    def _located(self, id: Id) -> tuple[int, Segment, int]:
        """The slot of an id, its segment and its record there."""
        tag = tag_of(id)
        at, code = self._codes.next(tag)
        while at >= 0:
            segment, record = self._directory.find(code)
            if segment.ledger.is_id(record, id):
                return at, segment, record
            at, code = self._codes.next(tag, at)
        raise KeyError(id)

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._places) + len(self._whole) + sum(map(len, self._stack))

    def __contains__(self, id: Id) -> bool:
        """Whether there is a subscription of that id."""
        if id in self._places or id in self._whole:
            return True
        with self._lock:
            try:
                self._located(id)
            except KeyError:
                return False
            return True

    def __iter__(self) -> Iterator[Id]:
        """The ids in the order of adding; those of selectors for the oracle come last."""
        with self._lock:
            stack, rest = self._stack, [*self._places, *self._whole]
            alive = [np.flatnonzero(segment.alive) for segment in stack]
        for segment, records in zip(stack, alive, strict=True):
            begin, end = 0, _FIRST_IDS  # few at first: often one is all that is wanted
            while begin < len(records):
                yield from segment.ledger.ids_of(records[begin:end]).to_pylist()
                begin, end = end, 4 * end
        yield from rest

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of an id as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription.
        """
        with self._lock:
            place = self._places.get(id)
            if place is not None:
                return self._drafted[place][1:]
            if id in self._whole:
                return self._whole[id].text, self._whole[id].priority
            _, segment, record = self._located(id)
            return segment.ledger.text(record), segment.ledger.priority(record)

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
                self._put_stack((*self._stack, segment))
        self._begin_draft()
        if self.watcher is not None:
            self.watcher(True)
        self._keep_up()

    def _put_stack(self, stack: tuple[Segment, ...]) -> None:
        self._stack, self._directory = stack, Directory(stack)

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
        self._put_stack(self._stack)

    def _refresh(self) -> None:
        """Bring the tail up to the draft."""
        tail = self._tail
        if tail is None and not self._drafted:
            return
        if tail is not None and len(tail.ledger) == len(self._drafted):
            if tail.informed or self._sample is None:
                return
        drafted = self._drafted
        ids, texts, priorities = zip(*drafted, strict=True)
        ledger = Ledger.of(ids, texts, priorities, [tag_of(id) for id in ids])
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
        numbers = self._numbers(rules.predicates)
        segment = Segment.of(ledger, rules, self._sampled())
        segment.numbers = numbers
        return segment

    def _numbers(self, predicates: Iterable[Leaf]) -> Ints:
        return np.array([self._index.intern(p) for p in predicates], np.int32)

    def _let_go(self, segment: Segment) -> None:
        for number in segment.numbers.tolist():
            self._index.release(number)

    # -- on disk ----------------------------------------------------------------------------------

    def gather(self) -> None:
        """Make one segment of all subscriptions, or as few as they fit into."""
        with self._lock:
            self._seal()
            self._quiet = max(self._quiet, _QUIET)
        self._keep_up()
        self.settle()

    def snapshot(self, seal: bool) -> Snapshot:
        """What there is in segments now; with the draft, which is sealed then, if asked for."""
        with self._lock:
            if seal:
                self._seal()
            whole = [(held.id, held.text, held.priority) for held in self._whole.values()]
            return Snapshot(self._stack, [s.alive.copy() for s in self._stack], whole)

    def stored(self, segment: Segment) -> Stored:
        """A segment as arrays."""
        return stored(segment, self._terms)

    def restore(self, segments: Iterable[Stored], read: Read) -> tuple[Segment, ...]:
        """Take segments that were stored, of subscriptions that are not here.

        Raises:
            OtherLayout: They were written by a Tamis with another layout.
        """
        stack = tuple(restored(segment, self._terms, read) for segment in segments)
        with self._lock:
            self._put_stack((*self._stack, *stack))
            self._renumber()
            self._restored = (*self._restored, *stack)
            self._calls = True  # perhaps: to know, all predicates would have to be read
        return stack

    def _intern_restored(self) -> None:
        """Number the predicates of segments from disk: late, as reading many takes seconds."""
        for segment in self._restored:
            if segment in self._stack:
                segment.numbers = self._numbers(segment.predicates)
        self._restored = ()

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

    def _wait(self) -> None:
        """Let those who merge catch up a little: every event looks into every segment."""
        worker = self._worker
        if worker is not None:
            worker.join(_PATIENCE)

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
                if all(segment in self._stack for segment in old):
                    self._swap(old, new, before, kept)

    def _swap(
        self, old: tuple[Segment, ...], new: Segment, before: list[np.ndarray], kept: list[Longs]
    ) -> None:
        """Put a segment into the place of others, whose records may have been removed meanwhile."""
        new.numbers = self._numbers(new.predicates)
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
        self._put_stack((*self._stack[:at], new, *self._stack[at + len(old) :]))
        for segment in old:
            self._let_go(segment)
        if self.watcher is not None:
            self.watcher(False)

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
        with self._lock:
            self._intern_restored()
            self._call_less()
            self._refresh()
            if len(self._drafted) >= _SEALED:
                self._seal()
            stack = self._segments()
            whole = list(self._whole.values())
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
        with self._lock:
            self._intern_restored()
            self._call_less()
            self._refresh()
            self._is_quiet(_ALONE)
            stack = self._segments()
            if self._whole or len(self._index) or any(s.derived(self._terms) for s in stack):
                return None
        values = values_of(event, self._terms)
        if values is None:
            return None
        pairs: list[tuple[int, Id]] = []
        for segment in stack:
            ids, priorities = matched(values, segment, len(self._terms))
            pairs += zip([-p for p in priorities] or [0] * len(ids), ids, strict=True)
        return [id for _, id in sorted(pairs)]

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
        answer: Answer | Counted,
        together: int,
    ) -> None:
        derived = {slot for segment in stack for slot in segment.derived(self._terms)}
        columns = Columns(chunk, self._terms, derived)
        offsets = satisfied.offsets[begin : begin + len(chunk) + 1]
        counted = 0 if isinstance(answer, Counted) else self._counting.take(len(chunk))
        at = cuts(len(chunk), self.threads, counted)
        for segment in stack:
            if segment.empty:
                continue
            rows = columns.rows(segment.axes, segment.lookup(len(self._terms)))
            totals = answer.totals(segment)
            task = Task(
                segment,
                rows,
                offsets,
                satisfied.ids,
                self._index.capacity,
                counted,
                together,
                totals,
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

    # -- what is known of events ------------------------------------------------------------------

    def _notice(self, batch: EventBatch) -> None:
        """Keep some events now and then, as plans go by them; and see when nothing changes."""
        with self._lock:
            self._seen += len(batch)
            stale = self._sample is None or self._seen >= _RESAMPLED
            fresh = stale and len(batch) >= _SAMPLE_LEAST
            if fresh:
                self._seen = 0
                self._sample = _few(batch)
            self._is_quiet(len(batch))
        if fresh:
            self._keep_up()

    def _is_quiet(self, events: int) -> None:
        """So many events have come without a change: when it is enough, make one segment of all."""
        was_quiet = self._quiet >= _QUIET
        self._quiet += events
        if not was_quiet and self._quiet >= _QUIET:
            if self._places:
                self._seal()
            self._keep_up()

    def _sampled(self) -> Sample | None:
        events = self._sample
        if events is None:
            return None
        slots = len(self._terms)
        counts: Longs | None = None
        try:
            with self._lock:
                derived = {s for segment in self._segments() for s in segment.derived(self._terms)}
            columns = Columns(events, self._terms, derived)
            with self._lock:
                if len(self._index):
                    found = self._index.satisfied(events).ids
                    counts = np.bincount(found, minlength=self._index.capacity)
        except FunctionError:
            # A function is not made for these events: it is those to come that it must answer for.
            self._sample = None
            return None

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

    def learn(self, events: EventBatch) -> None:
        """Go by these events from now on, and lay out what has been laid out by guesses."""
        with self._lock:
            if len(events):
                self._sample, self._seen = _few(events), 0
            self._refresh()
        self._keep_up()
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
            return {**self.__dict__, "_lock": None, "_worker": None, "watcher": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin with nobody at work."""
        self.__dict__.update(state)
        self._lock = RLock()


def _few(batch: EventBatch) -> EventBatch:
    """Some of the events, from all over the batch, in memory of their own."""
    chosen = np.unique(np.linspace(0, len(batch) - 1, _SAMPLED).astype(np.int64))
    columns = {
        path: tuple(Column(column.type, column.data.take(chosen)) for column in found)
        for path, found in batch.columns.items()
    }
    return EventBatch(columns, len(chosen), batch.schema, batch.semantics)
