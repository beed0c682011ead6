"""The call that matches events, of a table or of a stream, against an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.spark.batches import gathered
from tamis.spark.frames import ID_TYPES, check_columns, check_free, quoted
from tamis.spark.judging import Judge, opened
from tamis.spark.remote import on_worker
from tamis.spark.sharding import (
    SHARD,
    by_shard,
    is_sharded,
    routed,
    shard_folder,
    signatures,
)
from tamis.spark.versions import Version, pinned, resolve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

PAIRS, LISTS = "pairs", "lists"
_INLINED = {PAIRS: ("subscription", "priority"), LISTS: ()}

_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


def match(
    events: DataFrame,
    index: str | Path,
    *,
    keep: Iterable[str] | None = None,
    hide: Iterable[str] = (),
    form: str = PAIRS,
    limit: int | None = None,
    version: int | None = None,
    functions: Callables | None = None,
    corrupt: str | None = None,
    errors: str | None = "error",
) -> DataFrame:
    """The events, each with the subscriptions that it satisfies.

    The same call for a table and for a stream. A stream takes the newest version of the index at
    every micro-batch; a batch that is run again after a failure is judged by the same version
    again. A table is judged by the version that is newest now.

    Args:
        events: Rows are events, their columns attributes; structs and arrays are what they are in
            the language: `user.city`, `array_contains(tags, 'x')`.
        index: The folder that `compile`, or `Matcher.save`, made.
        keep: The columns of the events to keep; all by default.
        hide: Columns that selectors do not see.
        form: "pairs": a row per match, with `subscription` and `priority`. "lists": a row per
            event, with the list `subscriptions`, highest priority first, which may be empty.
        limit: At most so many subscriptions per event: those of highest priority.
        version: The version to judge by, instead of the newest.
        functions: Those that selectors call.
        corrupt: A column that is not null where an event could not be read, as
            `from_json` and `spark.read.json` make with `columnNameOfCorruptRecord`.
        errors: The name of a column that says why an event could not be judged: it has no
            subscription then, and the others go on. None: such an event is an error.

    Returns:
        The columns kept, `subscription` and `priority` or `subscriptions`, `index_version`, and
        the column for errors.

    Raises:
        InputError: There is no index, or no such column or form, or a name is taken.
    """
    spark = events.sparkSession
    folder = Path(index).absolute()
    if form not in (PAIRS, LISTS):
        raise InputError(f"form is {PAIRS!r} or {LISTS!r}, not {form!r}")
    found = on_worker(spark, partial(looked_at, folder, version, functions))
    names = list(events.columns) if keep is None else list(keep)
    schema = _schema(events, names, hide, corrupt, form, found["id_type"], errors)
    added = schema.fieldNames()[len(names) :]
    number = None if events.isStreaming and version is None else found["version"]
    hidden = frozenset([*hide, *([corrupt] if corrupt else [])])
    ids = ID_TYPES[found["id_type"]]
    listed = ids if form == LISTS else pa.struct([("subscription", ids), ("priority", pa.int64())])

    if found["shards"]:
        if form == LISTS or limit is not None:
            raise InputError("an index in shards gives pairs, without a limit", str(index))
        if errors is None:
            raise InputError("an index in shards needs a column for errors", str(index))
        events = _routed(events, folder, number, hidden, corrupt, functions, found["shards"])

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by = version_now(folder) if number is None else resolve(folder, number)
        if is_sharded(by.folder) != bool(found["shards"]):
            raise InputError(f"version {by.number} is placed otherwise; start the stream anew")
        judges: dict[Path, Judge] = {}
        for batch in gathered(batches):
            whole = [(by.folder, batch)]
            for where, part in by_shard(batch, by.folder) if found["shards"] else whole:
                if where not in judges:
                    matcher = opened(Version(by.number, where), functions)
                    out = _arrow_schema(part.schema, names, added, listed)
                    judges[where] = Judge(matcher, by.number, out, hidden, limit, corrupt, errors)
                yield from judges[where](part)

    judged = events.mapInArrow(judge, schema)
    return judged if form == LISTS else _in_pairs(judged, names, errors)


def _routed(
    events: DataFrame,
    index: Path,
    number: int | None,
    hidden: frozenset[str],
    corrupt: str | None,
    functions: Callables | None,
    shards: int,
) -> DataFrame:
    """The events once for every shard that must see them, each shard in a partition of its own."""
    from pyspark.sql.types import IntegerType, StructType

    def route(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by = version_now(index) if number is None else resolve(index, number)
        like = opened(Version(by.number, shard_folder(by.folder, 0)), functions)
        yield from routed(gathered(batches), signatures(by.folder), like, hidden, corrupt)

    check_free(events.columns, [SHARD])
    schema = StructType([*events.schema.fields]).add(SHARD, IntegerType())
    return events.mapInArrow(route, schema).repartitionById(shards, SHARD)


def version_now(index: Path) -> Version:
    """The version for the micro-batch that this task is part of."""
    from pyspark import TaskContext

    context = TaskContext.get()
    query = context.getLocalProperty(_QUERY) if context else None
    batch = context.getLocalProperty(_BATCH) if context else None
    if query is None or batch is None:
        return resolve(index)
    return pinned(index, query, int(batch))


def looked_at(index: Path, version: int | None, functions: Callables | None) -> dict[str, object]:
    """A version's number and the type of its ids; for a worker to say."""
    found = resolve(index, version)
    folders = [found.folder]
    shards = 0
    if is_sharded(found.folder):
        shards = len(signatures(found.folder).blooms)
        folders = [shard_folder(found.folder, shard) for shard in range(shards)]
    # Of the first subscription there is: an empty shard does not say what ids are like.
    ids = (id for folder in folders for id in opened(Version(found.number, folder), functions))
    id_type = "string" if isinstance(next(ids, ""), str) else "bigint"
    return {"version": found.number, "id_type": id_type, "shards": shards}


def _schema(
    events: DataFrame,
    names: list[str],
    hide: Iterable[str],
    corrupt: str | None,
    form: str,
    id_type: str,
    errors: str | None,
) -> StructType:
    """What comes out."""
    from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructType

    check_columns(events, [*names, *hide, corrupt])
    schema = StructType([events.schema[name] for name in names])
    listed: DataType = StringType() if id_type == "string" else LongType()
    if form == PAIRS:
        listed = StructType().add("subscription", listed).add("priority", LongType())
    schema.add("subscriptions", ArrayType(listed))
    schema.add("index_version", LongType())
    if errors is not None:
        schema.add(errors, StringType())
    check_free(names, [*schema.fieldNames()[len(names) :], *_INLINED[form]])
    return schema


def _in_pairs(found: DataFrame, names: list[str], errors: str | None) -> DataFrame:
    """A row per match, made by Spark: ten million of them are too many for Arrow's way back."""
    from pyspark.sql import functions as F

    last = ["index_version", *([errors] if errors else [])]
    rows = found.select(*map(quoted, names), F.inline_outer("subscriptions"), *map(quoted, last))
    some = F.col("subscription").isNotNull()
    return rows.where(some if errors is None else some | F.col(quoted(errors)).isNotNull())


def _arrow_schema(
    events: pa.Schema, names: list[str], added: list[str], listed: pa.DataType
) -> pa.Schema:
    """What a worker hands back; what is not said is a text."""
    types = {"subscriptions": pa.list_(listed), "index_version": pa.int64()}
    kept = [events.field(name) for name in names]
    return pa.schema(kept + [pa.field(name, types.get(name, pa.string())) for name in added])
