"""Find the events that complete sequences, in a table or a stream.

Workers find which events satisfy which steps, as they match any other selector; only these matches
are shuffled, by sequence and key, and processed in order of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.spark.index.versions import resolve
from tamis.spark.match.event_batches import coalesce_batches
from tamis.spark.match.match import version_info
from tamis.spark.match.match_task import batch_version
from tamis.spark.match.match_worker import open_version
from tamis.spark.sequences.packed_events import RowCodec
from tamis.spark.sequences.sorted_run import run_sequences, unpack_events
from tamis.spark.sequences.step_worker import ORDER, STATE, StepFinder
from tamis.spark.session import PROVIDER, ROCKSDB
from tamis.spark.table_columns import check_columns, check_names_free, quote_column
from tamis.spark.worker_call import run_on_worker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_STEPS = (
    "subscription {}, sequence bigint, steps int, within bigint, key string, time bigint, "
    "order bigint, satisfied array<int>, priority bigint, index_version bigint, event binary"
)
_FOUND = "subscription {}, priority bigint, index_version bigint, began bigint, event binary"
_ADDED = ("subscription", "priority", "index_version", "began")
# The key of a watermark in the metadata of a column.
_WATERMARK = "spark.watermarkDelayMs"


def sequences(
    events: DataFrame,
    index: str | Path,
    *,
    time: str,
    watermark: str | None = None,
    order: str | None = None,
    keep: Iterable[str] | None = None,
    version: int | None = None,
    functions: Callables | None = None,
) -> DataFrame:
    """Return the events that complete sequences (`FIRST … THEN …`), each with the sequence.

    The result is that of a `tamis.Matcher` that gets all events in order of time. On a stream a
    row appears once the watermark has passed the event; events that arrive after that are dropped.

    Args:
        events: As for `match`.
        index: The folder that `compile` or `Matcher.save` created; use `match` for subscriptions
            that are not sequences.
        time: The column of the time: a timestamp, or in a table a number of seconds.
        watermark: On a stream, how late events may arrive, e.g. "10 minutes"; not needed if
            `events` has a watermark on the column already.
        order: A column of integers that orders events of the same time. Without it, events that
            satisfy earlier steps come first.
        keep: The columns of the events to keep; all by default.
        version: The version to use instead of the newest. A stream uses the newest one for every
            micro-batch, and a sequence whose text has changed starts again.
        functions: The functions that selectors call.

    Returns:
        The columns kept, `subscription`, `priority`, `index_version` (the version that matched the
        completing event), and `began`: the start of the latest occurrence that it completes.

    Raises:
        InputError: There is no index, a column is missing or of the wrong type, a name is already
            in use, or a stream has no watermark or an unsuitable state store.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    spark = events.sparkSession
    folder = Path(index).absolute()
    names = list(events.columns) if keep is None else list(keep)
    _check_columns(events, names, time, order)
    if events.isStreaming:
        events = _with_watermark(events, time, watermark)
    found = run_on_worker(spark, partial(version_info, folder, version, functions))
    if found["shards"]:
        raise InputError("sequences do not run on an index in shards yet", str(index))
    number = None if events.isStreaming and version is None else found["version"]
    schema = _schema(events, names, found["id_type"], time)
    arrow = to_arrow_schema(schema, timezone="UTC")
    packing = RowCodec(pa.schema(list(arrow)[: len(names)]))
    id_type = arrow.field(len(names)).type

    def find(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        by = batch_version(folder) if number is None else resolve(folder, number)
        finder = StepFinder(open_version(by, functions), by.number, time, order, id_type, packing)
        for batch in coalesce_batches(batches):
            yield from finder(batch)

    steps = events.mapInArrow(find, _STEPS.format(found["id_type"]))
    whose = ["subscription", *STATE]
    if not events.isStreaming:
        rows = steps.repartition(*whose).sortWithinPartitions(*whose, *ORDER)
        return rows.mapInArrow(lambda b: unpack_events(run_sequences(b), packing, arrow), schema)
    done = _run_on_stream(spark, steps, whose, _FOUND.format(found["id_type"]))
    return done.mapInArrow(lambda b: unpack_events(b, packing, arrow), schema)


def _run_on_stream(
    spark: SparkSession, steps: DataFrame, whose: list[str], found: str
) -> DataFrame:
    from tamis.spark.sequences.stream_states import States

    if "RocksDB" not in str(spark.conf.get(PROVIDER)):
        raise InputError(
            "sequences on a stream need Spark's RocksDB state store: "
            f"set {PROVIDER} to {ROCKSDB}, as tamis.spark.session does",
            "spark",
        )
    return steps.groupBy(*whose).transformWithState(States(), found, "Append", "EventTime")


def _check_columns(events: DataFrame, names: list[str], time: str, order: str | None) -> None:
    from pyspark.sql.types import (
        DoubleType,
        FloatType,
        IntegralType,
        TimestampNTZType,
        TimestampType,
    )

    check_columns(events, [*names, time, order])
    check_names_free(names, _ADDED)
    kind = events.schema[time].dataType
    numbers = () if events.isStreaming else (IntegralType, FloatType, DoubleType)
    if not isinstance(kind, (TimestampType, TimestampNTZType, *numbers)):
        expected = "a timestamp" if events.isStreaming else "a timestamp or a number of seconds"
        raise InputError(f"the time column {time!r} must be {expected}, not {kind.simpleString()}")
    if order is not None and not isinstance(events.schema[order].dataType, IntegralType):
        what = events.schema[order].dataType.simpleString()
        raise InputError(f"the order column {order!r} must be of integers, not {what}")


def _with_watermark(events: DataFrame, time: str, watermark: str | None) -> DataFrame:
    if watermark is not None:
        return events.withWatermark(quote_column(time), watermark)
    if _WATERMARK not in (events.schema[time].metadata or {}):
        raise InputError(f"a stream needs a watermark on {time!r}: watermark='10 minutes'")
    return events


def _schema(events: DataFrame, names: list[str], id_type: str, time: str) -> StructType:
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    # Without metadata: the result does not carry Spark's watermark.
    kept = [StructField(name, events.schema[name].dataType) for name in names]
    schema = StructType(kept)
    schema.add("subscription", StringType() if id_type == "string" else LongType())
    schema.add("priority", LongType()).add("index_version", LongType())
    return schema.add("began", events.schema[time].dataType)
