"""Backtest: compare two rule sets over the same past events, in one pass."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.schema import SchemaLike
from tamis.spark.backtest_worker import Difference, subscription_rows
from tamis.spark.index.compile import compile
from tamis.spark.index.compile_job import Compiled
from tamis.spark.index.shard_files import is_sharded
from tamis.spark.index.versions import Version, resolve
from tamis.spark.match.event_batches import coalesce_batches
from tamis.spark.match.match_worker import open_version
from tamis.spark.table_columns import ID_TYPES, check_columns
from tamis.spark.worker_call import run_on_worker
from tamis.storage.index.metadata import describe_matcher, schema_of
from tamis.storage.store.durable_files import remove

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The maximum number of rejected rows of a table that are listed.
_REJECTS = 1000

_DIFFERENCE = (
    "subscription {}, in_current boolean, in_proposed boolean, current long, proposed long, "
    "gained long, lost long, gained_examples array<string>, lost_examples array<string>, "
    "events long, unjudged long, faults array<string>"
)


@dataclass(frozen=True)
class Side:
    """One of the two rule sets.

    Attributes:
        version: The version of its index; 0 for a saved matcher, None for a table.
        subscriptions: The number of its subscriptions.
        matches: The number of pairs of an event and a subscription that match.
        rejected: The number of rows of its table that were rejected.
        rejects: The first of these: id, selector, position of the fault, reason.
    """

    version: int | None
    subscriptions: int
    matches: int
    rejected: int
    rejects: list[dict[str, Any]]


@dataclass(frozen=True)
class Backtest:
    """The differences between two rule sets.

    Attributes:
        events: The number of events.
        unjudged: The number of events that one of the two could not evaluate: they count for
            neither.
        faults: The reasons, for some of these.
        current: The current rule set.
        proposed: The proposed rule set.
        gained: The number of matches that only the proposed rule set has.
        lost: The number of matches that only the current rule set has.
        subscriptions: A row per subscription of either, those that change most first:
            `subscription`, `in_current`, `in_proposed`, `current`, `proposed` (its matches),
            `gained`, `lost`, and `gained_examples`, `lost_examples`.
        seconds: The elapsed time.
    """

    events: int
    unjudged: int
    faults: list[str]
    current: Side
    proposed: Side
    gained: int
    lost: int
    subscriptions: pa.Table
    seconds: float

    @property
    def changed(self) -> pa.Table:
        """The subscriptions that gain or lose matches."""
        moved = pc.add(self.subscriptions["gained"], self.subscriptions["lost"])
        return self.subscriptions.filter(pc.greater(moved, 0))

    @property
    def only_current(self) -> list[str | int]:
        """The ids that only the current rule set has."""
        return self._only("in_proposed")

    @property
    def only_proposed(self) -> list[str | int]:
        """The ids that only the proposed rule set has."""
        return self._only("in_current")

    def _only(self, absent: str) -> list[str | int]:
        rows = self.subscriptions.filter(pc.invert(self.subscriptions[absent]))
        found: list[str | int] = rows["subscription"].to_pylist()
        return sorted(found)


def backtest(
    events: DataFrame,
    current: DataFrame | str | Path,
    proposed: DataFrame | str | Path,
    *,
    key: str | None = None,
    examples: int = 3,
    current_version: int | None = None,
    proposed_version: int | None = None,
    schema: SchemaLike | None = None,
    semantics: str | None = None,
    functions: Callables | None = None,
    hide: Iterable[str] = (),
    corrupt: str | None = None,
    scratch: str | Path | None = None,
) -> Backtest:
    """Run a proposed rule set against the current one over past events.

    Every event is read once and matched against both; only counts and examples leave the workers.

    Args:
        events: A table, as for `match`.
        current: The current rules: the folder of an index, or a table of subscriptions as for
            `compile`.
        proposed: The proposed rules, in the same forms. Both may be versions of one index.
        key: The column that names an event in examples; without it they are whole events, as JSON.
        examples: The maximum number of examples per subscription, of gained matches and of lost
            ones.
        current_version: The version of the current index, if not the newest.
        proposed_version: The version of the proposed index, if not the newest.
        schema: The attributes of events, for tables; by default those of the other index.
        semantics: What a missing attribute means, for tables; by default as in the other index.
        functions: The functions that selectors call.
        hide: Columns that selectors do not see.
        corrupt: A column that is not null if an event could not be read.
        scratch: A folder that all workers share, for indexes that are compiled from tables and
            removed at the end. The default is the folder for temporary files, which works for a
            local session only.

    Raises:
        InputError: The events are a stream, a column or an index is missing, or the two have ids
            of different types.
    """
    started = time.perf_counter()
    spark = events.sparkSession
    _check(events, examples)
    check_columns(events, [key, *hide, corrupt])
    temporary = Path(scratch or tempfile.gettempdir()).absolute() / f"backtest-{token_hex(8)}"
    given = {
        "current": _RuleSet(current, current_version, temporary / "current"),
        "proposed": _RuleSet(proposed, proposed_version, temporary / "proposed"),
    }
    for name, side in given.items():
        if side.is_table and side.version is not None:
            raise InputError(f"{name} is a table, which has no versions")
    try:
        found = [side.read_info(spark, functions) for side in given.values() if not side.is_table]
        like: dict[str, Any] = found[0] if found else {"schema": None, "semantics": "sql"}
        rules = schema_of(like["schema"]) if schema is None else schema
        for side in given.values():
            side.compile_table(rules, semantics or like["semantics"], functions)
        sides = [side.read_info(spark, functions) for side in given.values()]
        id_type = _id_type(sides)
        hidden = frozenset([*hide, *([corrupt] if corrupt else [])])
        folders = [Path(side["folder"]) for side in sides]
        rows = _differences(
            events, folders, id_type, functions, hidden=hidden, key=key, examples=examples,
            corrupt=corrupt,
        )  # fmt: skip
    finally:
        if any(side.is_table for side in given.values()):
            run_on_worker(spark, partial(_remove_folder, temporary))
    return _backtest_result(rows, list(given.values()), sides, started)


class _RuleSet:
    """One of the two rule sets: its index or table, and the result of compiling the table."""

    def __init__(self, rules: DataFrame | str | Path, version: int | None, temporary: Path) -> None:
        self.is_table = not isinstance(rules, str | Path)
        self.version = version
        self._rules: Any = rules
        self._folder = temporary if self.is_table else Path(rules).absolute()  # type: ignore[arg-type]
        self.outcome: Compiled | None = None
        self.rejects: list[dict[str, Any]] = []

    def compile_table(
        self, schema: SchemaLike | None, semantics: str, functions: Callables | None
    ) -> None:
        if not self.is_table:
            return
        self.outcome = compile(
            self._rules, self._folder, schema=schema, semantics=semantics, functions=functions
        )
        if self.outcome.rejected:  # collected now: they are in the temporary folder
            rows = self.outcome.rejects.limit(_REJECTS).collect()
            self.rejects = [row.asDict() for row in rows]

    def read_info(self, spark: SparkSession, functions: Callables | None) -> dict[str, Any]:
        task = partial(_index_info, self._folder, self.version, functions)
        info: dict[str, Any] = run_on_worker(spark, task)
        return info

    def side(self, found: dict[str, Any], matches: int) -> Side:
        return Side(
            None if self.is_table else found["version"],
            found["subscriptions"],
            matches,
            self.outcome.rejected if self.outcome else 0,
            self.rejects,
        )


def _check(events: DataFrame, examples: int) -> None:
    if events.isStreaming:
        raise InputError("a backtest needs past events: a table, not a stream")
    if examples < 0:
        raise InputError(f"examples must be at least 0, not {examples}")


def _id_type(sides: list[dict[str, Any]]) -> str:
    kinds = {side["id_type"] for side in sides if side["id_type"] is not None}
    if len(kinds) > 1:
        raise InputError("the ids of one rule set are text, those of the other integers")
    return kinds.pop() if kinds else "string"


def _differences(
    events: DataFrame,
    folders: list[Path],
    id_type: str,
    functions: Callables | None,
    **how: Any,
) -> pa.Table:
    """Compare in one pass over the events, and aggregate the result."""
    from pyspark.sql import functions as F

    current, proposed = (partial(_matcher, folder, functions) for folder in folders)
    ids = ID_TYPES[id_type]

    def compare(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        difference = Difference(current(), proposed(), ids, **how)
        yield from difference(coalesce_batches(batches))

    def list_all(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield from subscription_rows(current(), proposed(), ids)

    columns = _DIFFERENCE.format(id_type)
    differences = events.mapInArrow(compare, columns)
    subscriptions = events.sparkSession.range(1).coalesce(1).mapInArrow(list_all, columns)
    counts = ("current", "proposed", "gained", "lost", "events", "unjudged")
    texts = ("gained_examples", "lost_examples", "faults")
    summed = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in counts]
    # Sorted, so that the same events give the same examples, unless tasks had others.
    few = [
        F.slice(F.array_sort(F.flatten(F.collect_list(name))), 1, how["examples"]).alias(name)
        for name in texts
    ]
    flags = [F.max(name).alias(name) for name in ("in_current", "in_proposed")]
    rows = differences.union(subscriptions)
    return rows.groupBy("subscription").agg(*flags, *summed, *few).toArrow()


def _backtest_result(
    rows: pa.Table, given: list[_RuleSet], found: list[dict[str, Any]], started: float
) -> Backtest:
    of_events = pc.is_null(rows["subscription"])
    whole = rows.filter(of_events).to_pylist()
    total: dict[str, Any] = whole[0] if whole else {"events": 0, "unjudged": 0, "faults": []}
    table = rows.filter(pc.invert(of_events)).drop_columns(["events", "unjudged", "faults"])
    table = table.append_column("moved", pc.add(table["gained"], table["lost"]))
    table = table.sort_by([("moved", "descending"), ("subscription", "ascending")])
    sums = {
        name: pc.sum(table[name], min_count=0).as_py()
        for name in ("current", "proposed", "gained", "lost")
    }
    return Backtest(
        total["events"],
        total["unjudged"],
        total["faults"],
        given[0].side(found[0], sums["current"]),
        given[1].side(found[1], sums["proposed"]),
        sums["gained"],
        sums["lost"],
        table.drop_columns(["moved"]),
        time.perf_counter() - started,
    )


# -- on a worker ----------------------------------------------------------------------------------


def _matcher(folder: Path, functions: Callables | None) -> Any:
    return open_version(Version(0, folder), functions)


def _index_info(index: Path, version: int | None, functions: Callables | None) -> dict[str, object]:
    """Return what the driver needs to know of an index; the folder is that of the version."""
    at = resolve(index, version)
    if is_sharded(at.folder):
        raise InputError("an index in shards cannot be backtested yet", str(index))
    matcher = open_version(at, functions)
    first = next(iter(matcher), None)
    kind = None if first is None else "string" if isinstance(first, str) else "bigint"
    metadata = describe_matcher(
        matcher.engine, {}, matcher.semantics, matcher.schema, matcher.functions
    )
    return {
        "version": at.number,
        "folder": str(at.folder),
        "id_type": kind,
        "subscriptions": len(matcher),
        "schema": metadata.schema,
        "semantics": metadata.semantics,
    }


def _remove_folder(folder: Path) -> None:
    if folder.exists():
        remove(folder)
