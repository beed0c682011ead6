"""The call that matches events, of a table or of a stream, against an index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.spark.index.shard_files import SHARD, index_folders, is_sharded
from tamis.spark.index.versions import Version, resolve
from tamis.spark.match.match_task import MatchTask
from tamis.spark.match.match_worker import open_version
from tamis.spark.match.merge_shards import EVENT
from tamis.spark.table_columns import ID_TYPES, check_columns, check_names_free, quote_column
from tamis.spark.worker_call import run_on_worker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

PAIRS, LISTS = "pairs", "lists"
_INLINED = {PAIRS: ("subscription", "priority"), LISTS: ()}


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
    from pyspark.sql.types import LongType, StructField

    spark = events.sparkSession
    folder = Path(index).absolute()
    if form not in (PAIRS, LISTS):
        raise InputError(f"form is {PAIRS!r} or {LISTS!r}, not {form!r}")
    found = run_on_worker(spark, partial(version_info, folder, version, functions))
    names = list(events.columns) if keep is None else list(keep)
    check_columns(events, [*names, *hide, corrupt])
    kept = [events.schema[name] for name in names]
    schema = _schema(kept, form, found["id_type"], errors)
    added = schema.fieldNames()[len(names) :]
    check_names_free(names, [*added, *_INLINED[form]])
    ids = ID_TYPES[found["id_type"]]
    asked = MatchTask(
        index=folder,
        number=None if events.isStreaming and version is None else found["version"],
        keep=names,
        add=added,
        listed=ids if form == LISTS else _pair_type(ids),
        hidden=frozenset([*hide, *([corrupt] if corrupt else [])]),
        limit=limit,
        functions=functions,
        corrupt=corrupt,
        errors=errors,
    )
    if not found["shards"]:
        judged = events.mapInArrow(asked.match_events, schema)
    elif form == LISTS or limit is not None or functions:
        # One answer is wanted, or none if a function fails: those of the shards must meet.
        between = _schema([*kept, StructField(EVENT, LongType())], PAIRS, found["id_type"], errors)
        hidden = asked.hidden | {EVENT}
        numbered = replace(asked, keep=[*names, EVENT], listed=_pair_type(ids), hidden=hidden)
        sent = _route_events(
            events, numbered.route_numbered_events, found["shards"], [EVENT, SHARD]
        )
        judged = sent.mapInArrow(numbered.match_by_shard, between)
        judged = judged.repartition(EVENT).mapInArrow(asked.merge_shards, schema)
    else:
        sent = _route_events(events, asked.route_events, found["shards"], [SHARD])
        judged = sent.mapInArrow(asked.match_by_shard, schema)
    return judged if form == LISTS else _pair_rows(judged, names, errors)


def _pair_type(ids: pa.DataType) -> pa.DataType:
    return pa.struct([("subscription", ids), ("priority", pa.int64())])


def _route_events(events: DataFrame, route: Any, shards: int, added: list[str]) -> DataFrame:
    """The events once for every shard that must see them, each shard in a partition of its own."""
    from pyspark.sql.types import IntegerType, LongType, StructType

    check_names_free(events.columns, added)
    schema = StructType([*events.schema.fields])
    for name in added:
        schema.add(name, IntegerType() if name == SHARD else LongType())
    return events.mapInArrow(route, schema).repartitionById(shards, SHARD)


def version_info(
    index: Path, version: int | None, functions: Callables | None
) -> dict[str, object]:
    """A version's number and the type of its ids; for a worker to say."""
    found = resolve(index, version)
    where = index_folders(found.folder)
    # Of the first subscription there is: an empty shard does not say what ids are like.
    ids = (id for folder in where for id in open_version(Version(found.number, folder), functions))
    id_type = "string" if isinstance(next(ids, ""), str) else "bigint"
    shards = len(where) if is_sharded(found.folder) else 0
    return {"version": found.number, "id_type": id_type, "shards": shards}


def _schema(kept: list[StructField], form: str, id_type: str, errors: str | None) -> StructType:
    """What comes out."""
    from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructType

    listed: DataType = StringType() if id_type == "string" else LongType()
    if form == PAIRS:
        listed = StructType().add("subscription", listed).add("priority", LongType())
    schema = StructType([*kept]).add("subscriptions", ArrayType(listed))
    schema.add("index_version", LongType())
    return schema if errors is None else schema.add(errors, StringType())


def _pair_rows(found: DataFrame, names: list[str], errors: str | None) -> DataFrame:
    """A row per match, made by Spark: ten million of them are too many for Arrow's way back."""
    from pyspark.sql import functions as F

    last = ["index_version", *([errors] if errors else [])]
    rows = found.select(
        *map(quote_column, names), F.inline_outer("subscriptions"), *map(quote_column, last)
    )
    some = F.col("subscription").isNotNull()
    return rows.where(some if errors is None else some | F.col(quote_column(errors)).isNotNull())
