"""The facade: subscriptions in, events in, ids out.

It is long as everything that can be asked of a matcher is asked here, and each method is explained;
what it does is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.engines import DEFAULT, Engine
from tamis.engines.introspection import CostBasedEngine, Costs, SubscriptionPlan
from tamis.engines.protocol import MatchCountEngine, SingleEventEngine
from tamis.engines.registry import make_engine
from tamis.engines.subscription import Subscription
from tamis.errors import (
    DuplicateSubscription,
    IndexCorrupt,
    InputError,
    TamisError,
    UnknownSubscription,
)
from tamis.events.batch import EventBatch
from tamis.events.conform import checked_schema
from tamis.events.records import check_bad
from tamis.explain.explanation import Explanation, explain
from tamis.language import parse
from tamis.language.functions import Callables, Functions
from tamis.matches import Id, Matches
from tamis.schema import SchemaLike
from tamis.sequences.event_time import EventClock, TimeLike
from tamis.sequences.mixed_subscriptions import MatcherSubscriptions
from tamis.sequences.sequence_engine import Completion, Sequences
from tamis.storage.index.changes import Change, addition, removal, replay
from tamis.storage.index.id_rules import check_kind, check_new, checked_id, is_id
from tamis.storage.index.packed_ids import PackedIds
from tamis.storage.index.subscription_records import subscriptions_of
from tamis.storage.index.subscription_rows import (
    AddResult,
    RejectedRow,
    Row,
    parts_of,
    pause_gc,
    rows_of,
)

if TYPE_CHECKING:
    from tamis.engines.block import BlockEngine
    from tamis.engines.block.segment.segment import Segment
    from tamis.storage.index.journal import Journal, SegmentRecord
    from tamis.storage.index.metadata import IndexMetadata
    from tamis.storage.index.save import IndexHandle

_NOTHING = nullcontext()


class Matcher:
    """Finds, for every event, the subscriptions it satisfies.

    >>> m = Matcher()
    >>> m.add("cheap-pcs", "company IN ('IBM', 'Dell') AND price <= 1000", priority=2)
    >>> m.add("anything-ibm", "company = 'IBM'")
    >>> m.match({"company": "IBM", "price": 900})
    ['cheap-pcs', 'anything-ibm']

    Answers come highest priority first, and by id among equals. The ids of one matcher are all
    strings or all integers. Several threads may match at once; while one of them changes
    subscriptions, no other may use the matcher.

    A sequence matches the event that completes it:

    >>> m = Matcher(time="at")
    >>> m.add("outage", "FIRST status = 'down' THEN status = 'down' WITHIN 1 MINUTE PER host")
    >>> m.match({"host": "a", "status": "down", "at": 0})
    []
    >>> m.match({"host": "a", "status": "down", "at": 60})
    ['outage']
    """

    def __init__(
        self,
        schema: SchemaLike | None = None,
        semantics: str = "sql",
        engine: str = DEFAULT,
        functions: Callables | None = None,
        time: TimeLike = None,
        **options: object,
    ) -> None:
        """Choose what events look like, what a missing attribute means, and the algorithm.

        Args:
            schema: The attributes of events, e.g. `{"price": "DBL", "city": ("STR", "")}`; needed
                by the semantics `default` and `total`.
            semantics: One of `sql`, `strict`, `default`, `total`; see docs/guides/language.md.
            engine: One of `tamis.ENGINES`.
            functions: What selectors may call besides the built-in functions, by name, e.g.
                `{"distance": distance}`. They must be pure: the same arguments, the same result.
                To pickle the matcher they must be functions of a module, which pickle by name.
            time: What sequences go by: the attribute that says when an event happened, an instant
                or a number of seconds; or a clock, which is called as events arrive and gives
                seconds. By default a clock of Python's.
            **options: What the engine can be told, e.g. `filter="tvp"` of `atree`.

        Raises:
            SchemaError: A schema that makes no sense, none where one is needed, or an unknown
                semantics.
            InputError: An unknown engine, an option it does not have, a function that could not
                be called in a selector, or a time that is none.
        """
        self._build(schema, semantics, engine, functions, time, options)

    def _build(
        self,
        schema: SchemaLike | None,
        semantics: str,
        engine: str,
        functions: Callables | None,
        time: TimeLike,
        options: dict[str, object],
        run_sequences: bool = True,
    ) -> None:
        self.schema = checked_schema(schema, semantics)
        self.semantics = semantics
        self.functions = Functions.of(functions)
        self._options = options
        new_engine = partial(make_engine, engine, options, self.schema, semantics)
        self._engine: Engine = new_engine()
        self._sequences = Sequences(
            new_engine, EventClock(time, self.schema), running=run_sequences
        )
        simple = subscriptions_of(self._engine, self._parse_subscription)
        self._subscriptions = MatcherSubscriptions(simple, self._sequences)
        self._journal: Journal | None = None

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._engine.name

    # -- subscriptions ----------------------------------------------------------------------------

    def add(self, id: Id, selector: str, priority: int = 0) -> None:
        """Register a subscription.

        Raises:
            SelectorError: The selector is refused; the error says where and why.
            DuplicateSubscription: The id is taken; `replace` changes a subscription.
            SubscriptionError: The id or the priority is of the wrong kind.
            UnsupportedExpression: The engine cannot express the selector.
        """
        with self._lock_changes():
            self._add(id, selector, priority)
            self._log([addition(id, selector, priority)], partial(self._subscriptions.remove, id))

    def add_subscription(self, subscription: Subscription) -> None:
        """Register a subscription that is parsed already.

        Args:
            subscription: Made by `Subscription.of` with the schema, the semantics and the functions
                of this matcher.

        Raises:
            DuplicateSubscription: The id is taken.
            SubscriptionError: The id or the priority is of the wrong kind.
            UnsupportedExpression: The engine cannot express the selector.
        """
        id, text, priority = subscription.id, subscription.text, subscription.priority
        with self._lock_changes():
            check_new(id, priority, self._subscriptions.conflicting_id(id))
            self._add_parsed(subscription)
            self._log([addition(id, text, priority)], partial(self._subscriptions.remove, id))

    def _add(self, id: Id, selector: str, priority: int) -> None:
        self._add_parsed(self._new_subscription(id, selector, priority))

    def _add_parsed(self, subscription: Subscription) -> None:
        if subscription.id in self._subscriptions:
            raise DuplicateSubscription(subscription.id)
        self._subscriptions.add(subscription)

    def add_many(
        self, rows: Iterable[Row] | pa.Table | pa.RecordBatch, bad: str = "fail"
    ) -> AddResult:
        """Register many subscriptions.

        Args:
            rows: (id, selector) or (id, selector, priority) tuples, or an Arrow table with the
                columns `id`, `selector` and, if you like, `priority`.
            bad: With "fail", the first bad row raises, and none is added. With "skip", good rows
                are added and bad ones listed in the answer.

        Raises:
            TamisError: As `add` does, with `bad="fail"`.
            InputError: Rows of the wrong shape.
        """
        check_bad(bad)
        with pause_gc(), self._lock_changes():
            return self._add_rows(rows_of(rows), bad)

    def _add_rows(self, rows: Iterable[object], bad: str) -> AddResult:
        done = AddResult()
        ids = PackedIds()
        changes: list[Change] = []
        try:
            for number, row in enumerate(rows):
                try:
                    id, selector, priority = parts_of(row)
                    self._add(id, selector, priority)
                    ids.append(id)
                    if self._journal is not None:
                        changes.append(addition(id, selector, priority))
                except TamisError as error:
                    if bad == "fail":
                        error.add_note(f"row {number} of add_many; no row was added")
                        raise
                    named = row[0] if isinstance(row, tuple | list) and row else None
                    done.rejected.append(RejectedRow(number, named, error))
            self._log(changes)
        except BaseException:  # a bad row, the caller's generator, Ctrl-C: all or nothing
            for id in ids:
                self._subscriptions.remove(id)
            raise
        done.count = len(ids)
        return done

    def replace(self, id: Id, selector: str, priority: int | None = None) -> None:
        """Change a subscription; it keeps its priority unless given another.

        Raises:
            UnknownSubscription: There is none of that id.
            TamisError: As `add` does; the old one then stays.
        """
        with self._lock_changes():
            old = self._find_subscription(id)
            new = self._new_subscription(
                id, selector, old.priority if priority is None else priority
            )
            self._swap(old, new)
            change = addition(id, selector, new.priority)
            self._log([change], partial(self._swap, new, old))

    def _swap(self, old: Subscription, new: Subscription) -> None:
        self._subscriptions.remove(old.id)
        try:
            self._subscriptions.add(new)
        except BaseException:
            self._subscriptions.add(old)
            raise

    def remove(self, id: Id) -> None:
        """Forget a subscription.

        Raises:
            UnknownSubscription: There is none of that id.
        """
        try:
            if self._journal is None:
                self._subscriptions.remove(checked_id(id))
                return
            with self._lock_changes():
                undo = self._subscriptions.restorer(checked_id(id))
                self._subscriptions.remove(id)
                self._log([removal(id)], undo)
        except KeyError:
            raise UnknownSubscription(id) from None

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._subscriptions)

    def __contains__(self, id: object) -> bool:
        """Whether there is a subscription of that id."""
        return is_id(id) and id in self._subscriptions  # type: ignore[operator]

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order they were added, sequences last; `replace` may move one there."""
        return iter(self._subscriptions)

    def __getitem__(self, id: Id) -> Subscription:
        """A subscription by its id."""
        return self._find_subscription(id)

    @property
    def sequences(self) -> list[Subscription]:
        """The subscriptions that are sequences, in the order they were added."""
        return [self._sequences[id].subscription for id in self._sequences]

    # -- events -----------------------------------------------------------------------------------

    def match(self, event: Mapping[str, object], limit: int | None = None) -> list[Id]:
        """The ids of all subscriptions that the event satisfies, highest priority first.

        Args:
            event: Names and values, nested as you like.
            limit: At most so many: those of highest priority.

        Raises:
            EventError: The event cannot be judged.
            FunctionError: A function that a selector calls failed.
        """
        if limit is not None:
            _check_limit(limit)
        found = None
        if (
            self.schema is None
            and type(event) is dict
            and isinstance(self._engine, SingleEventEngine)
        ):
            found = self._engine.match_event(event)
        if found is None:
            return self.match_batch([event], limit).of_event(0)
        if self._sequences:
            done = self._sequences.match_event(event)
            if done is None or done:  # who comes first is for a batch to say
                batch = EventBatch.of([event])
                matches = self._engine.match(batch)
                done = self._sequences.match(batch) if done is None else done
                found = _with_completions(matches, done).of_event(0)
        return found[:limit]

    def match_batch(self, events: object, limit: int | None = None) -> Matches:
        """The same for many events at once.

        Args:
            events: A list of dicts, an Arrow table or batch, a pandas or Polars frame, or an
                EventBatch.
            limit: At most so many per event.

        Raises:
            EventError: One of the events cannot be judged; the error says which.
            FunctionError: A function that a selector calls failed; the error says on what.
        """
        if limit is not None:
            _check_limit(limit)
        batch = EventBatch.of(events, self.schema, self.semantics)
        matches = self._engine.match(batch, limit)
        if self._sequences and self._sequences.running:
            # Last: nothing can fail any more once they have seen the events.
            matches = _with_completions(matches, self._sequences.match(batch))
        return matches if limit is None else matches.limited(limit)

    def counts(self, events: object) -> dict[Id, int]:
        """How many of the events each subscription matches, for those that match any.

        The same as `match_batch(events).counts()`, but nothing is kept of which events they are.

        Raises:
            EventError: One of the events cannot be judged; the error says which.
            FunctionError: A function that a selector calls failed; the error says on what.
        """
        batch = EventBatch.of(events, self.schema, self.semantics)
        if isinstance(self._engine, MatchCountEngine):
            counts = self._engine.counts(batch)
        else:
            counts = self._engine.match(batch).counts()
        for _, subscription in self._sequences.match(batch):
            counts[subscription.id] = counts.get(subscription.id, 0) + 1
        return counts

    def explain(self, id: Id, event: Mapping[str, object]) -> Explanation:
        """Why the event does or does not match the subscription.

        Of a sequence: which steps the event satisfies, and whether it would complete the sequence
        if it came now. To explain an event is not to let it come.

        Raises:
            UnknownSubscription: There is none of that id.
            EventError: The event cannot be judged.
            FunctionError: A function that the selector calls failed.
        """
        subscription = self._find_subscription(id)
        batch = EventBatch.of([event], self.schema, self.semantics)
        if id in self._sequences:
            return self._sequences.explain(id, batch)
        return explain(subscription, batch.row(0))

    # -- on disk ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write all of it into a new index, a folder, which is there whole or not at all.

        Sequences are kept, but not what they have seen: opened again, they begin anew.

        Raises:
            InputError: Something is there already, or the engine cannot be saved.
        """
        from tamis.storage.index.save import save

        engine = self._block_engine()
        with _NOTHING if self._journal is None else self._journal.lock:
            save(path, engine, self._metadata(), self._sequences.definitions)

    @classmethod
    def open(
        cls,
        path: str | Path,
        functions: Callables | None = None,
        *,
        read_only: bool = False,
        sync: bool = False,
        time: TimeLike = None,
        sequences: bool = True,
        **options: object,
    ) -> Matcher:
        """A matcher that was saved. It is not read but mapped: processes share the memory.

        From then on every change is in the index when the call that made it returns, however the
        process ends; `close` it at the end, or use `with`. One process may write at a time.

        Args:
            path: The folder that `save`, or `tamis compile`, made.
            functions: Those that its selectors call: an index has their names only.
            read_only: Refuse changes, and take no lock: for as many processes as you like. What is
                seen is what was there at this moment.
            sync: Changes survive a power cut too, not only the end of the process: every call
                waits for the disk, which takes a millisecond or more. `add_many` waits once.
            time: What sequences are to go by instead of what they did; a clock is not kept.
            sequences: Whether sequences are to see events. If not they are there and can be
                changed, but never match: for who sees only some of the events, as a worker does.
            **options: What the engine is to be told instead of what it was.

        Raises:
            InputError: There is no index, or one of the functions is missing.
            IndexLocked: Another process has it open for writing.
            IndexCorrupt: A file is missing or damaged, or of another version; it is named.
        """
        from tamis.storage.index.save import open_index

        opened = open_index(path, read_only, sync)
        try:
            matcher = cls._from_index(opened, functions, options, time, sequences)
            matcher._attach_index(opened, "is open for reading only" if read_only else "")
        except BaseException:
            opened.store.close()
            raise
        return matcher

    @classmethod
    def load(
        cls, path: str | Path, functions: Callables | None = None, **options: object
    ) -> Matcher:
        """A copy in memory of a matcher that was saved: changes to it do not reach the index.

        Args:
            path: The folder that `save`, or `tamis compile`, made.
            functions: Those that its selectors call: an index has their names only.
            **options: What the engine is to be told instead of what it was.

        Raises:
            InputError: There is no index, or one of the functions is missing.
            IndexCorrupt: A file is missing or damaged, or of another version; it is named.
        """
        from tamis.storage.index.save import open_index

        opened = open_index(path, read_only=True, sync=False)
        with opened.store:
            matcher = cls._from_index(opened, functions, options)
            matcher._load_index(opened)
        return matcher

    def absorb(self, path: str | Path, *, distinct: bool = False) -> None:
        """Take all subscriptions of a saved matcher, whose index stays as it is.

        Nothing is parsed again: a million subscriptions take about as long as copying them.

        Args:
            path: The folder of the other.
            distinct: The caller knows that no id of it is here already.

        Raises:
            InputError: There is no index, this matcher has an index of its own, or the two differ
                in schema or semantics.
            SubscriptionError: An id is in both, or is of the other kind; nothing has changed then.
            IndexCorrupt: A file is missing or damaged, or of another version; it is named.
        """
        from tamis.storage.index.save import open_index

        if self._journal is not None:
            raise InputError("absorb wants a matcher in memory; see Matcher.load")
        opened = open_index(path, read_only=True, sync=False)
        with opened.store:
            mine, other = self._metadata(), opened.metadata
            if (mine.schema, mine.semantics) != (other.schema, other.semantics):
                raise InputError("it has another schema or other semantics", str(path))
            if not distinct:
                others = Matcher._from_index(opened, self.functions, {})
                others._load_index(opened)
                self._check_new(others)
            self._load_index(opened)

    def _check_new(self, others: Iterable[Id]) -> None:
        for id in others:
            if id in self._subscriptions:
                raise DuplicateSubscription(id)
            check_kind(id, self._subscriptions.conflicting_id(id))

    @classmethod
    def _from_index(
        cls,
        opened: IndexHandle,
        functions: Callables | None,
        options: Mapping[str, object],
        time: TimeLike = None,
        run_sequences: bool = True,
    ) -> Matcher:
        """A matcher as the one that was saved, but without subscriptions."""
        from tamis.storage.index.metadata import check_functions, schema_of

        about = opened.metadata
        given = Functions.of(functions)
        check_functions(opened.store.path, about.functions, given)
        matcher = cls.__new__(cls)
        matcher._build(
            schema_of(about.schema),
            about.semantics,
            about.engine,
            given,
            about.time if time is None else time,
            {**about.options, **options},
            run_sequences,
        )
        return matcher

    def _attach_index(self, opened: IndexHandle, refusal: str) -> None:
        """Become what was saved, and what was changed since; log changes from now on."""
        from tamis.storage.index.journal import Journal

        kept = self._load_index(opened)
        beside = self._sequences.definitions
        self._journal = Journal(
            opened.store, self._block_engine(), self._metadata(), kept, refusal, beside
        )

    def _load_index(self, opened: IndexHandle) -> dict[Segment, SegmentRecord]:
        """Take what was saved, and what was changed since; gives where each segment is kept."""
        from tamis.storage.index.save import restore

        kept = restore(opened, self._block_engine(), partial(parse, functions=self.functions))
        try:
            for id, text, priority in opened.metadata.whole:
                self._subscriptions.add(self._parse_subscription(id, text, priority))
            replay(opened.store.changes, self._subscriptions, self._parse_subscription)
        except TamisError as error:
            reason = f"holds a change that cannot be made: {error}"
            raise IndexCorrupt(opened.store.path, reason) from error
        return kept

    def close(self) -> None:
        """Let another process write to the index. Matching goes on working, changes do not.

        Without an index there is nothing to close.
        """
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Matcher:
        """For `with`: closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def __getstate__(self) -> dict[str, object]:
        """Pickle a copy in memory: an index has one writer."""
        return {**self.__dict__, "_journal": None}

    def _lock_changes(self) -> AbstractContextManager[None]:
        return _NOTHING if self._journal is None else self._journal.lock_changes()

    def _log(self, changes: list[Change], undo: Callable[[], None] | None = None) -> None:
        """Make changes last that have been made; if that fails, undo them."""
        if self._journal is not None:
            try:
                self._journal.append(changes)
            except BaseException:
                if undo is not None:
                    undo()
                raise

    def _block_engine(self) -> BlockEngine:
        from tamis.engines.block import BlockEngine

        if not isinstance(self._engine, BlockEngine):
            raise InputError(f"the engine {self.engine} cannot be saved; block can")
        return self._engine

    def _metadata(self) -> IndexMetadata:
        from tamis.storage.index.metadata import describe_matcher

        time = self._sequences.timing.name
        return describe_matcher(
            self.engine, self._options, self.semantics, self.schema, self.functions, time
        )

    # -- the engine -------------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """The engine's sizes and counters; with sequences, theirs too."""
        stats = self._engine.stats()
        if not self._sequences:
            return stats
        return {**stats, "subscriptions": len(self), **self._sequences.stats()}

    def plan(self, id: Id, events: object = None) -> SubscriptionPlan:
        """Where the engine has put a subscription, and why; prints as a tree.

        Args:
            id: The subscription.
            events: Typical events, as for `match_batch`, for the engine to go by from now on; else
                it goes by those that it has matched, and guesses if there are none.

        Raises:
            UnknownSubscription: There is none of that id.
            InputError: The engine has no plans, or it is a sequence.
            EventError: One of the events cannot be judged.
        """
        engine = self._planning_engine("plans")
        self._find_subscription(id)
        if id in self._sequences:
            raise InputError(f"{id!r} is a sequence, which has no plan; ask about one of its steps")
        sample = None if events is None else EventBatch.of(events, self.schema, self.semantics)
        return engine.plan_of(id, sample)

    def learn(self, events: object) -> None:
        """Lay subscriptions out by typical events, now, instead of by the first that come.

        Worth it before `save`: else every process that opens the index does it again.

        Args:
            events: Some hundred of them or more, as for `match_batch`.

        Raises:
            InputError: The engine has no plans.
            EventError: One of the events cannot be judged.
        """
        engine = self._planning_engine("plans")
        engine.learn(EventBatch.of(events, self.schema, self.semantics))

    def costs(self, limit: int = 20) -> Costs:
        """The most expensive subscriptions, counted on a few of the events; prints as a table.

        Args:
            limit: At most so many.

        Raises:
            InputError: The engine does not count.
        """
        _check_limit(limit)
        return self._planning_engine("counters").costs(limit)

    def to_dot(self) -> str:
        """The engine's structure, as a Graphviz digraph."""
        return self._engine.to_dot()

    # -- parts ------------------------------------------------------------------------------------

    def _new_subscription(self, id: Id, selector: str, priority: int) -> Subscription:
        check_new(id, priority, self._subscriptions.conflicting_id(id))
        return self._parse_subscription(id, selector, priority)

    def _parse_subscription(self, id: Id, selector: str, priority: int) -> Subscription:
        return Subscription.of(id, selector, priority, self.schema, self.semantics, self.functions)

    def _planning_engine(self, what: str) -> CostBasedEngine:
        if not isinstance(self._engine, CostBasedEngine):
            raise InputError(f"the engine {self.engine} has no {what}; the engine block has them")
        return self._engine

    def _find_subscription(self, id: Id) -> Subscription:
        try:
            return self._subscriptions[checked_id(id)]
        except KeyError:
            raise UnknownSubscription(id) from None


def _with_completions(matches: Matches, done: list[Completion]) -> Matches:
    """An answer, and the sequences that were completed."""
    event = [one.event for one in done]
    ids = [one.subscription.id for one in done]
    return matches.also(event, ids, [one.subscription.priority for one in done])


def _check_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError(f"limit is a number from 0 on, not {limit!r}")
    return limit
