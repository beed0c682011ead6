"""The facade: register subscriptions, pass events, get the ids that match.

The module is long because it holds every public method of a matcher with its documentation; the
work is done elsewhere.
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
    """Finds the subscriptions that each event satisfies.

    >>> m = Matcher()
    >>> m.add("cheap-pcs", "company IN ('IBM', 'Dell') AND price <= 1000", priority=2)
    >>> m.add("anything-ibm", "company = 'IBM'")
    >>> m.match({"company": "IBM", "price": 900})
    ['cheap-pcs', 'anything-ibm']

    Results are ordered by priority, highest first, and then by id. The ids of one matcher are all
    strings or all integers. Several threads may match at the same time; while one of them changes
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
        """Create a matcher without subscriptions.

        Args:
            schema: The attributes of events, e.g. `{"price": "DBL", "city": ("STR", "")}`;
                required by the semantics `default` and `total`.
            semantics: What a missing attribute means: `sql`, `strict`, `default` or `total`; see
                docs/guides/language.md.
            engine: One of `tamis.ENGINES`.
            functions: User-defined functions that selectors may call, by name, e.g.
                `{"distance": distance}`. They must be pure: the same arguments give the same
                result. To pickle the matcher they must be functions of a module, which pickle by
                name.
            time: The time that sequences use: the attribute that says when an event happened, an
                instant or a number of seconds; or a clock, a function that is called as events
                arrive and returns seconds. The default is `time.monotonic`.
            **options: Options of the engine, e.g. `filter="tvp"` of `atree`.

        Raises:
            SchemaError: The schema is invalid, or required and missing, or the semantics are
                unknown.
            InputError: The engine is unknown or has no such option, a function cannot be called
                in a selector, or the time is neither an attribute nor a clock.
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
            SelectorError: The selector is invalid; the error says where and why.
            DuplicateSubscription: The id exists; `replace` changes a subscription.
            SubscriptionError: The id or the priority is of the wrong type.
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
                columns `id`, `selector` and, optionally, `priority`.
            bad: With "fail", the first bad row raises, and no row is added. With "skip", good rows
                are added and bad ones are listed in the result.

        Raises:
            TamisError: A row is bad, as in `add`, and `bad` is "fail".
            InputError: The rows have the wrong shape.
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
        """Change a subscription; without `priority` it keeps its priority.

        Raises:
            UnknownSubscription: No subscription has this id.
            TamisError: As `add` does; the old subscription then stays.
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
        """Remove a subscription.

        Raises:
            UnknownSubscription: No subscription has this id.
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
        """Return the number of subscriptions."""
        return len(self._subscriptions)

    def __contains__(self, id: object) -> bool:
        """Return whether a subscription has this id."""
        return is_id(id) and id in self._subscriptions  # type: ignore[operator]

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion, sequences last; `replace` may move an id."""
        return iter(self._subscriptions)

    def __getitem__(self, id: Id) -> Subscription:
        """Return a subscription by its id."""
        return self._find_subscription(id)

    @property
    def sequences(self) -> list[Subscription]:
        """The subscriptions that are sequences, in order of insertion."""
        return [self._sequences[id].subscription for id in self._sequences]

    # -- events -----------------------------------------------------------------------------------

    def match(self, event: Mapping[str, object], limit: int | None = None) -> list[Id]:
        """Return the ids of all subscriptions that the event satisfies, highest priority first.

        Args:
            event: A mapping of names to values, nested or not.
            limit: The maximum number of ids; those of highest priority are returned.

        Raises:
            EventError: The event cannot be evaluated.
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
            if done is None or done:  # a batch merges both by priority
                batch = EventBatch.of([event])
                matches = self._engine.match(batch)
                done = self._sequences.match(batch) if done is None else done
                found = _with_completions(matches, done).of_event(0)
        return found[:limit]

    def match_batch(self, events: object, limit: int | None = None) -> Matches:
        """Match many events at once.

        Args:
            events: A list of dicts, an Arrow table or batch, a pandas or Polars frame, or an
                EventBatch.
            limit: The maximum number of ids per event; those of highest priority are kept.

        Raises:
            EventError: An event cannot be evaluated; the error says which.
            FunctionError: A function that a selector calls failed; the error has the arguments.
        """
        if limit is not None:
            _check_limit(limit)
        batch = EventBatch.of(events, self.schema, self.semantics)
        matches = self._engine.match(batch, limit)
        if self._sequences and self._sequences.running:
            # Last: once sequences have seen the events, nothing may fail.
            matches = _with_completions(matches, self._sequences.match(batch))
        return matches if limit is None else matches.limited(limit)

    def counts(self, events: object) -> dict[Id, int]:
        """Count the events that each subscription matches; omit those that match none.

        The result is that of `match_batch(events).counts()`, without storing which events match.

        Raises:
            EventError: An event cannot be evaluated; the error says which.
            FunctionError: A function that a selector calls failed; the error has the arguments.
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
        """Explain why the event does or does not match the subscription.

        For a sequence: which steps the event satisfies, and whether it would complete the sequence
        if it arrived now. Explaining an event does not advance the sequence.

        Raises:
            UnknownSubscription: No subscription has this id.
            EventError: The event cannot be evaluated.
            FunctionError: A function that the selector calls failed.
        """
        subscription = self._find_subscription(id)
        batch = EventBatch.of([event], self.schema, self.semantics)
        if id in self._sequences:
            return self._sequences.explain(id, batch)
        return explain(subscription, batch.row(0))

    # -- on disk ----------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the matcher into a new index, a folder, atomically.

        Sequences are saved without their state: when the index is opened, they start again.

        Raises:
            InputError: The path exists, or the engine cannot be saved.
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
        """Open a saved matcher. The files are memory-mapped, so processes share the memory.

        From then on every change is in the index when the call that made it returns, even if the
        process crashes afterwards. Call `close` at the end, or use `with`. One process may write
        at a time.

        Args:
            path: The folder that `save` or `tamis compile` created.
            functions: The functions that its selectors call; an index holds only their names.
            read_only: Refuse changes and take no lock, so that any number of processes can open
                the index. The matcher shows its state at this moment.
            sync: Make changes survive a power cut too, not only a crash of the process: every
                call waits for the disk, which takes a millisecond or more. `add_many` waits once.
            time: The time that sequences use, instead of the saved one; a clock is not saved.
            sequences: Whether sequences see events. If not, they can be changed but never match:
                for a process that sees only some of the events, such as a Spark worker.
            **options: Options of the engine, instead of the saved ones.

        Raises:
            InputError: There is no index, or one of the functions is missing.
            IndexLocked: Another process has it open for writing.
            IndexCorrupt: A file is missing, damaged or of another version; the error names it.
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
        """Load a saved matcher into memory: later changes do not reach the index.

        Args:
            path: The folder that `save` or `tamis compile` created.
            functions: The functions that its selectors call; an index holds only their names.
            **options: Options of the engine, instead of the saved ones.

        Raises:
            InputError: There is no index, or one of the functions is missing.
            IndexCorrupt: A file is missing, damaged or of another version; the error names it.
        """
        from tamis.storage.index.save import open_index

        opened = open_index(path, read_only=True, sync=False)
        with opened.store:
            matcher = cls._from_index(opened, functions, options)
            matcher._load_index(opened)
        return matcher

    def absorb(self, path: str | Path, *, distinct: bool = False) -> None:
        """Add all subscriptions of a saved matcher, whose index is unchanged.

        Nothing is parsed again: a million subscriptions take about as long as copying them.

        Args:
            path: The folder of the other matcher.
            distinct: The caller guarantees that this matcher has none of the other's ids.

        Raises:
            InputError: There is no index, this matcher has an index of its own, or the two differ
                in schema or semantics.
            SubscriptionError: An id is in both, or the ids differ in type; nothing has changed.
            IndexCorrupt: A file is missing, damaged or of another version; the error names it.
        """
        from tamis.storage.index.save import open_index

        if self._journal is not None:
            raise InputError("absorb needs a matcher in memory; use Matcher.load")
        opened = open_index(path, read_only=True, sync=False)
        with opened.store:
            mine, other = self._metadata(), opened.metadata
            if (mine.schema, mine.semantics) != (other.schema, other.semantics):
                raise InputError("its schema or semantics differ from this matcher's", str(path))
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
        """Return a matcher with the saved settings, without subscriptions."""
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
        """Load the index and its log; write changes to the log from now on."""
        from tamis.storage.index.journal import Journal

        kept = self._load_index(opened)
        beside = self._sequences.definitions
        self._journal = Journal(
            opened.store, self._block_engine(), self._metadata(), kept, refusal, beside
        )

    def _load_index(self, opened: IndexHandle) -> dict[Segment, SegmentRecord]:
        """Load the index and its log; return the record of each segment."""
        from tamis.storage.index.save import restore

        kept = restore(opened, self._block_engine(), partial(parse, functions=self.functions))
        try:
            for id, text, priority in opened.metadata.whole:
                self._subscriptions.add(self._parse_subscription(id, text, priority))
            replay(opened.store.changes, self._subscriptions, self._parse_subscription)
        except TamisError as error:
            reason = f"holds a change that cannot be applied: {error}"
            raise IndexCorrupt(opened.store.path, reason) from error
        return kept

    def close(self) -> None:
        """Release the index for other writers. The matcher can still match, but not change.

        A matcher without an index has nothing to close.
        """
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Matcher:
        """Return the matcher; `with` closes it at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the matcher."""
        self.close()

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the index, which has one writer: the copy is in memory."""
        return {**self.__dict__, "_journal": None}

    def _lock_changes(self) -> AbstractContextManager[None]:
        return _NOTHING if self._journal is None else self._journal.lock_changes()

    def _log(self, changes: list[Change], undo: Callable[[], None] | None = None) -> None:
        """Write changes that have been made to the log; undo them if that fails."""
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
            raise InputError(f"the engine {self.engine} cannot be saved; the engine block can")
        return self._engine

    def _metadata(self) -> IndexMetadata:
        from tamis.storage.index.metadata import describe_matcher

        time = self._sequences.timing.name
        return describe_matcher(
            self.engine, self._options, self.semantics, self.schema, self.functions, time
        )

    # -- the engine -------------------------------------------------------------------------------

    def stats(self) -> Mapping[str, object]:
        """Return the sizes and counters of the engine and of sequences."""
        stats = self._engine.stats()
        if not self._sequences:
            return stats
        return {**stats, "subscriptions": len(self), **self._sequences.stats()}

    def plan(self, id: Id, events: object = None) -> SubscriptionPlan:
        """Return where the engine placed a subscription, and why; it prints as a tree.

        Args:
            id: The id of the subscription.
            events: Typical events, as for `match_batch`, for the engine to learn from. Otherwise
                it uses those that it has matched, and estimates if there are none.

        Raises:
            UnknownSubscription: No subscription has this id.
            InputError: The engine has no plans, or the subscription is a sequence.
            EventError: An event cannot be evaluated.
        """
        engine = self._planning_engine("plans")
        self._find_subscription(id)
        if id in self._sequences:
            raise InputError(f"{id!r} is a sequence, which has no plan; plan one of its steps")
        sample = None if events is None else EventBatch.of(events, self.schema, self.semantics)
        return engine.plan_of(id, sample)

    def learn(self, events: object) -> None:
        """Place subscriptions by typical events now, instead of by the first events to match.

        Call it before `save`: otherwise every process that opens the index does this again.

        Args:
            events: A few hundred events or more, as for `match_batch`.

        Raises:
            InputError: The engine has no plans.
            EventError: An event cannot be evaluated.
        """
        engine = self._planning_engine("plans")
        engine.learn(EventBatch.of(events, self.schema, self.semantics))

    def costs(self, limit: int = 20) -> Costs:
        """Return the most expensive subscriptions, measured on a sample of the events.

        The result prints as a table.

        Args:
            limit: The maximum number of subscriptions.

        Raises:
            InputError: The engine has no counters.
        """
        _check_limit(limit)
        return self._planning_engine("counters").costs(limit)

    def to_dot(self) -> str:
        """Return the engine's structure as a Graphviz digraph."""
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
    """Add the sequences that events completed to the matches."""
    event = [one.event for one in done]
    ids = [one.subscription.id for one in done]
    return matches.also(event, ids, [one.subscription.priority for one in done])


def _check_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError(f"limit must be an integer of at least 0, not {limit!r}")
    return limit
