"""From a table of subscriptions to an index: parsed, typed and laid out on the executors."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError
from tamis.index.durable import remove
from tamis.language.functions import Callables
from tamis.matcher import Matcher
from tamis.schema import SchemaLike
from tamis.spark import building, sharding
from tamis.spark.frames import ID_TYPES
from tamis.spark.remote import on_worker
from tamis.spark.versions import Version, latest, remove_leftovers, resolve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# Subscriptions in a part: enough to be worth a task, and few enough to spread.
_PART = 1 << 16
# Where workers hold the whole index, at most so many: about a gigabyte, mapped.
MOST_REPLICATED = 5_000_000
SHARD_SIZE = 2_500_000
# Typical events that are kept for an index to be laid out by.
_SAMPLE = 4096

_OUTCOME = (
    "part string, added long, removed long, id {}, selector string, position int, reason string"
)


@dataclass(frozen=True)
class Compiled:
    """What came of it.

    Attributes:
        version: The version that the index has now.
        subscriptions: How many there are in it.
        added, removed: What changed; a replaced one counts in both.
        rejected: How many rows were not taken.
        rejects: These rows: id, selector, the position of the fault in it, and the reason.
        seconds: How long it took.
    """

    version: int
    subscriptions: int
    added: int
    removed: int
    rejected: int
    rejects: DataFrame
    seconds: float


def compile(
    subscriptions: DataFrame,
    index: str | Path,
    *,
    schema: SchemaLike | None = None,
    semantics: str = "sql",
    functions: Callables | None = None,
    sample: DataFrame | None = None,
    parts: int | None = None,
    placement: str = "auto",
    shard_size: int = SHARD_SIZE,
) -> Compiled:
    """Compile a table of subscriptions into a new version of an index.

    Bad rows are set aside, with where and why, and the rest goes on. A version is there whole or
    not at all, whatever happens meanwhile; those before it stay.

    Args:
        subscriptions: A table with the columns `id` (text or integers), `selector` and, if you
            like, `priority`.
        index: The folder; workers must see it under this path.
        schema: The attributes of events, as for `tamis.Matcher`.
        semantics: What a missing attribute means.
        functions: What selectors may call besides the built-in functions.
        sample: Typical events, for plans to go by; a few thousand are taken.
        parts: How many parts to build side by side; by default one for every 65,536 rows.
        placement: "replicate": every worker opens the whole index. "shard": it is cut into shards,
            and events are sent to those that may match. "auto": in shards if it would be too large
            for one.
        shard_size: About how many subscriptions a shard has.

    Raises:
        InputError: A column is missing or of the wrong type, or there is no such placement.
    """
    from pyspark.sql import functions as F

    frame = subscriptions.withColumn("change", F.lit(building.ADD))
    made = _Made(schema, semantics, functions)
    if placement not in ("auto", "replicate", "shard"):
        raise InputError(f"placement is 'auto', 'replicate' or 'shard', not {placement!r}")
    if placement == "shard" or (placement == "auto" and subscriptions.count() > MOST_REPLICATED):
        return _in_shards(frame, index, made, shard_size)
    return _version(frame, index, made, from_old=False, order=None, sample=sample, parts=parts)


def change(
    changes: DataFrame,
    index: str | Path,
    *,
    functions: Callables | None = None,
    order: str | None = None,
    sample: DataFrame | None = None,
    parts: int | None = None,
) -> Compiled:
    """Make the next version of an index from the newest one and a table of changes.

    Args:
        changes: A table with the columns `change` (`add`, `replace` or `remove`), `id`,
            `selector`, and, if you like, `priority`. What cannot be done (adding an id that there
            is, removing one that there is not) is rejected.
        index: The folder that `compile` made.
        functions: Those that selectors call.
        order: The column that changes of one id are ordered by; needed where an id has several.
        sample: Typical events, for plans to go by.
        parts: How many parts to build side by side; by default one for every 65,536 rows.

    Raises:
        InputError: A column is missing or of the wrong type, or there is no index.
    """
    made = _Made(None, "sql", functions)
    return _version(changes, index, made, from_old=True, order=order, sample=sample, parts=parts)


@dataclass(frozen=True)
class _Made:
    """How a matcher is made, as it travels to workers."""

    schema: SchemaLike | None
    semantics: str
    functions: Callables | None

    def matcher(self) -> Matcher:
        return Matcher(self.schema, self.semantics, functions=self.functions)


def _version(
    frame: DataFrame,
    index: str | Path,
    made: _Made,
    from_old: bool,
    order: str | None,
    sample: DataFrame | None,
    parts: int | None,
) -> Compiled:
    begun = time.perf_counter()
    folder = Path(index).absolute()
    made.matcher()  # what is wrong with the schema is said at once
    spark = frame.sparkSession
    id_type, rows = _checked(frame, order)
    if parts is None:
        parts = max(1, -(-rows.count() // _PART))
    now = on_worker(spark, partial(_prepared, folder, from_old, id_type, made.functions))
    work = _Work(folder, token_hex(8), now["version"] if from_old else None, now["version"] + 1)
    outcome = _outcome(rows, work, made, id_type, parts, order)
    named = outcome.where("part IS NOT NULL").collect()
    version, subscriptions = now["version"], now["subscriptions"]
    if named or not from_old:
        events = None if sample is None else sample.limit(_SAMPLE).toArrow()
        names = [row.part for row in named]
        subscriptions = on_worker(spark, partial(_joined, work, names, made, events))
        version = work.new
    on_worker(spark, partial(_cleaned, work))
    return _compiled(version, subscriptions, named, outcome, begun)


def _compiled(
    version: int, subscriptions: int, named: list[Row], outcome: DataFrame, begun: float
) -> Compiled:
    rejects = outcome.where("part IS NULL").select("id", "selector", "position", "reason")
    return Compiled(
        version,
        subscriptions,
        sum(row.added for row in named),
        sum(row.removed for row in named),
        rejects.count(),
        rejects,
        time.perf_counter() - begun,
    )


def _in_shards(frame: DataFrame, index: str | Path, made: _Made, size: int) -> Compiled:
    """Find covers, cut by them, and build a part for each shard."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    begun = time.perf_counter()
    folder = Path(index).absolute()
    spark = frame.sparkSession
    id_type, rows = _checked(frame, None)
    now = on_worker(spark, partial(_prepared, folder, False, id_type, made.functions))
    work = _Work(folder, token_hex(8), None, now["version"] + 1)

    def cover(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from sharding.covered(batches, made.matcher())

    columns = f"change string, id {id_type}, selector string, priority bigint"
    kept = f"{columns}, {sharding.KEYS} array<bigint>, {sharding.PATHS} array<string>"
    # Kept, as all selectors are parsed for it, and it is asked twice.
    covers = (work.parts / "covers").as_uri()
    rows.mapInArrow(cover, kept).write.parquet(covers)
    found = spark.read.parquet(covers)
    covered, rows_in_all = found.selectExpr("count(keys)", "count(*)").collect()[0]
    narrow = -(-covered // size)
    shards = max(1, narrow + -(-(rows_in_all - covered) // size))
    by_cover = F.pmod(F.element_at("keys", 1), F.lit(max(narrow, 1)))
    by_id = F.lit(narrow) + F.pmod(F.xxhash64("id"), F.lit(max(shards - narrow, 1)))
    shard = F.when(F.col("keys").isNull(), by_id).otherwise(
        F.when(F.size("keys") > 0, by_cover).otherwise(F.lit(0))
    )
    # Rows of one id must meet, or nobody would notice that there are two.
    together = F.min(shard).over(Window.partitionBy("id")).cast("int")

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = building.Part(None, made.matcher())
        yield from sharding.built(batches, part, work.parts, ID_TYPES[id_type])

    placed = found.withColumn(sharding.SHARD, together).repartitionById(shards, sharding.SHARD)
    placed.mapInArrow(build, _OUTCOME.format(id_type)).write.parquet(work.outcome)
    outcome = spark.read.parquet(work.outcome)
    named = outcome.where("part IS NOT NULL").collect()
    names = [row.part for row in named]
    on_worker(spark, partial(_put_together, work, names, shards, made))
    on_worker(spark, partial(_cleaned, work))
    return _compiled(work.new, sum(row.added for row in named), named, outcome, begun)


@dataclass(frozen=True)
class _Work:
    """What is being made.

    Attributes:
        index: The index.
        token: A name for what is written on the way.
        old: The version to begin with, if any.
        new: The version to be.
    """

    index: Path
    token: str
    old: int | None
    new: int

    @property
    def parts(self) -> Path:
        return self.index / "parts" / self.token

    @property
    def outcome(self) -> str:
        return (self.index / "rejects" / f"{self.new:08d}-{self.token}").as_uri()

    def old_version(self) -> Version | None:
        return None if self.old is None else resolve(self.index, self.old)


def _checked(frame: DataFrame, order: str | None) -> tuple[str, DataFrame]:
    """The type of the ids, and the columns that are needed, each of the right type."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegralType, StringType

    types = {field.name: field.dataType for field in frame.schema.fields}
    for name in ("change", "id", "selector", *([order] if order else [])):
        if name not in types:
            raise InputError(f"the table has no column {name!r}; it has {', '.join(types)}")
    if not isinstance(types["id"], StringType | IntegralType):
        raise InputError(f"ids are text or integers, not {types['id'].simpleString()}")
    if not isinstance(types["selector"], StringType):
        raise InputError(f"selectors are text, not {types['selector'].simpleString()}")
    id_type = "string" if isinstance(types["id"], StringType) else "bigint"
    priority = F.lit(0).cast("bigint")
    if "priority" in types:
        if not isinstance(types["priority"], IntegralType):
            raise InputError(f"priorities are integers, not {types['priority'].simpleString()}")
        priority = F.col("priority").cast("bigint")
    columns = [
        F.col("change"),
        F.col("id").cast(id_type).alias("id"),
        F.col("selector"),
        priority.alias("priority"),
    ]
    if order:
        columns.append(F.col(order).alias("at"))
    return id_type, frame.select(*columns)


def _outcome(
    rows: DataFrame, work: _Work, made: _Made, id_type: str, parts: int, order: str | None
) -> DataFrame:
    """Build the parts. What became of them, and bad rows, are kept: they are asked for twice."""

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        old = work.old_version()
        before = None if old is None else Matcher.open(old.folder, made.functions, read_only=True)
        new = made.matcher() if before is None else building.like(before)
        part = building.Part(before, new)
        yield from building.built(batches, part, work.parts, ID_TYPES[id_type])

    # All changes of one id must meet, in their order.
    rows = rows.repartition(parts, "id")
    if order:
        rows = rows.sortWithinPartitions("at")
    rows.mapInArrow(build, _OUTCOME.format(id_type)).write.parquet(work.outcome)
    return rows.sparkSession.read.parquet(work.outcome)


# -- errands --------------------------------------------------------------------------------------


def _prepared(
    index: Path, from_old: bool, id_type: str, functions: Callables | None
) -> dict[str, int]:
    """See what there is, and whether ids are of the same kind."""
    if any(index.glob("manifest-*")):
        raise InputError("a matcher was saved here; it has no versions", str(index))
    number = latest(index)
    if from_old or number:
        found = resolve(index)
        if sharding.is_sharded(found.folder):
            if from_old:
                raise InputError("an index in shards cannot be changed yet; compile it", str(index))
            return {"version": number, "subscriptions": 0}
        with Matcher.open(found.folder, functions, read_only=True) as old:
            first = next(iter(old), None)
            if first is not None and isinstance(first, str) != (id_type == "string"):
                raise InputError(f"its ids are like {first!r}; these are {id_type}", str(index))
            return {"version": number, "subscriptions": len(old)}
    return {"version": 0, "subscriptions": 0}


def _joined(work: _Work, names: list[str], made: _Made, sample: pa.Table | None) -> int:
    old = work.old_version()
    matcher = made.matcher() if old is None else Matcher.load(old.folder, made.functions)
    parts = [work.parts / name for name in names]
    return building.joined(matcher, parts, work.index, work.new, sample)


def _put_together(work: _Work, names: list[str], shards: int, made: _Made) -> None:
    parts = {int(name.partition("-")[0]): work.parts / name for name in names}
    sharding.put_together(work.index, parts, shards, made.matcher(), work.new)


def _cleaned(work: _Work) -> None:
    if work.parts.exists():
        remove(work.parts)
    remove_leftovers(work.index)
