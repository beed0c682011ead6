"""Match the events of a table or a stream against an index."""

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
    """Return the events with the subscriptions that each satisfies.

    The call is the same for a table and for a stream. A stream uses the newest version of the index
    for every micro-batch; a micro-batch that runs again after a failure uses the same version
    again. A table uses the version that is newest now.

    Args:
        events: Rows are events, and columns are attributes; structs and arrays work as in the
            language: `user.city`, `array_contains(tags, 'x')`.
        index: The folder that `compile` or `Matcher.save` created.
        keep: The columns of the events to keep; all by default.
        hide: Columns that selectors do not see.
        form: "pairs": a row per match, with `subscription` and `priority`. "lists": a row per
            event, with the list `subscriptions`, highest priority first, which may be empty.
        limit: The maximum number of subscriptions per event; those of highest priority are kept.
        version: The version to use instead of the newest.
        functions: The functions that selectors call.
        corrupt: A column that is not null if an event could not be read, such as the
            `columnNameOfCorruptRecord` of `from_json` and `spark.read.json`.
        errors: The name of a column for the reason why an event could not be evaluated: such an
            event has no subscriptions, and the others continue. None: it raises an error.

    Returns:
        The columns kept, `subscription` and `priority` or `subscriptions`, `index_version`, and
        the column for errors.

    Raises:
        InputError: There is no index, or no such column or form, or a name is already in use.
    """
    from pyspark.sql.types import LongType, StructField

    spark = events.sparkSession
    folder = Path(index).absolute()
    if form not in (PAIRS, LISTS):
        raise InputError(f"form must be {PAIRS!r} or {LISTS!r}, not {form!r}")
    info = run_on_worker(spark, partial(version_info, folder, version, functions))
    names = list(events.columns) if keep is None else list(keep)
    check_columns(events, [*names, *hide, corrupt])
    kept = [events.schema[name] for name in names]
    schema = _schema(kept, form, info["id_type"], errors)
    added = schema.fieldNames()[len(names) :]
    check_names_free(names, [*added, *_INLINED[form]])
    ids = ID_TYPES[info["id_type"]]
    task = MatchTask(
        index=folder,
        number=None if events.isStreaming and version is None else info["version"],
        keep=names,
        add=added,
        listed=ids if form == LISTS else _pair_type(ids),
        hidden=frozenset([*hide, *([corrupt] if corrupt else [])]),
        limit=limit,
        functions=functions,
        corrupt=corrupt,
        errors=errors,
    )
    if not info["shards"]:
        matched = events.mapInArrow(task.match_events, schema)
    elif form == LISTS or limit is not None or functions:
        # Merge the results of the shards: for one list, a limit, or no result if a function fails.
        between = _schema([*kept, StructField(EVENT, LongType())], PAIRS, info["id_type"], errors)
        hidden = task.hidden | {EVENT}
        numbered = replace(task, keep=[*names, EVENT], listed=_pair_type(ids), hidden=hidden)
        routed = _route_events(
            events, numbered.route_numbered_events, info["shards"], [EVENT, SHARD]
        )
        matched = routed.mapInArrow(numbered.match_by_shard, between)
        matched = matched.repartition(EVENT).mapInArrow(task.merge_shards, schema)
    else:
        routed = _route_events(events, task.route_events, info["shards"], [SHARD])
        matched = routed.mapInArrow(task.match_by_shard, schema)
    return matched if form == LISTS else _pair_rows(matched, names, errors)


def _pair_type(ids: pa.DataType) -> pa.DataType:
    return pa.struct([("subscription", ids), ("priority", pa.int64())])


def _route_events(events: DataFrame, route: Any, shards: int, added: list[str]) -> DataFrame:
    """Return the events once per candidate shard, each shard in a partition of its own."""
    from pyspark.sql.types import IntegerType, LongType, StructType

    check_names_free(events.columns, added)
    schema = StructType([*events.schema.fields])
    for name in added:
        schema.add(name, IntegerType() if name == SHARD else LongType())
    return events.mapInArrow(route, schema).repartitionById(shards, SHARD)


def version_info(
    index: Path, version: int | None, functions: Callables | None
) -> dict[str, object]:
    """Return a version's number, the type of its ids and its shards; runs on a worker."""
    found = resolve(index, version)
    where = index_folders(found.folder)
    # From the first subscription in any shard: an empty shard does not show the type of ids.
    ids = (id for folder in where for id in open_version(Version(found.number, folder), functions))
    id_type = "string" if isinstance(next(ids, ""), str) else "bigint"
    shards = len(where) if is_sharded(found.folder) else 0
    return {"version": found.number, "id_type": id_type, "shards": shards}


def _schema(kept: list[StructField], form: str, id_type: str, errors: str | None) -> StructType:
    """Return the schema of the result."""
    from pyspark.sql.types import ArrayType, DataType, LongType, StringType, StructType

    listed: DataType = StringType() if id_type == "string" else LongType()
    if form == PAIRS:
        listed = StructType().add("subscription", listed).add("priority", LongType())
    schema = StructType([*kept]).add("subscriptions", ArrayType(listed))
    schema.add("index_version", LongType())
    return schema if errors is None else schema.add(errors, StringType())


def _pair_rows(found: DataFrame, names: list[str], errors: str | None) -> DataFrame:
    """Return a row per match. Spark expands the lists: ten million rows are too many for Arrow."""
    from pyspark.sql import functions as F

    last = ["index_version", *([errors] if errors else [])]
    rows = found.select(
        *map(quote_column, names), F.inline_outer("subscriptions"), *map(quote_column, last)
    )
    some = F.col("subscription").isNotNull()
    return rows.where(some if errors is None else some | F.col(quote_column(errors)).isNotNull())
