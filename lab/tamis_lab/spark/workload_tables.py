"""The subscriptions and events of a workload as Spark tables, for large sizes.

    subscriptions(spark, "selective", 10_000_000).write.parquet(...)
    events(spark, "selective", 100_000_000, seed=7).write.parquet(...)

Row n of a workload is always the same: each task draws the rows of its own part, from the name, the
seed and the parameters, and nothing else is sent. Rows and their order are those of
`tamis_lab.workloads.workload_catalogue.workload_by_name`, in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from tamis.errors import InputError
from tamis_lab.workloads.overlay_workload import EVENTS, SUBSCRIPTIONS, OverlayWorkload
from tamis_lab.workloads.workload_catalogue import WorkloadTables, workload_by_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Drawn = TypeVar("Drawn")

# Default rows of a partition: some blocks of each workload, some seconds of drawing.
_PART = 1 << 18
# Rows of an Arrow batch, and cells drawn at a time.
_ROWS, _CELLS = 10_000, 2_000_000


def subscriptions(
    spark: SparkSession,
    name: str,
    count: int,
    *,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    partitions: int | None = None,
) -> DataFrame:
    """Return `count` subscriptions of a workload: `id`, `selector`, `priority`.

    Args:
        spark: The session.
        name: One of `tamis_lab.workloads.workload_catalogue.NAMES`.
        count: Number of subscriptions.
        seed: Replaces the workload's own seed.
        parameters: Replaces parameters of the workload.
        partitions: Number of partitions; by default one for each 262,144 rows.

    Raises:
        InputError: The workload is unknown, or a parameter is out of range.
    """
    made = partial(workload_by_name, name, seed, count, dict(parameters or {}))
    return _frame(spark, count, partitions, made().subscriptions_schema, made, _subscriptions)


def events(
    spark: SparkSession,
    name: str,
    count: int,
    *,
    seed: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    drawn: Mapping[str, Any] | None = None,
    partitions: int | None = None,
) -> DataFrame:
    """Return `count` events of a workload; `drawn` holds more arguments for its `events`.

    Raises:
        InputError: The workload is unknown, a parameter is out of range, or there are fewer events.
    """
    made = partial(workload_by_name, name, seed, None, dict(parameters or {}), dict(drawn or {}))
    length = made().length
    if length is not None and count > length:
        raise InputError(f"{name} has {length:,} events, not {count:,}", "events")
    return _frame(spark, count, partitions, made().schema, made, _events)


def overlay_subscriptions(
    spark: SparkSession, overlay: OverlayWorkload, partitions: int | None = None
) -> DataFrame:
    """Return the subscriptions of a network of brokers: `number`, `broker`, `selector`."""
    made = partial(OverlayWorkload, **asdict(overlay))
    count = overlay.subscriptions
    return _frame(
        spark, count, partitions, SUBSCRIPTIONS, made, OverlayWorkload.subscriptions_table
    )


def overlay_events(
    spark: SparkSession, overlay: OverlayWorkload, count: int, partitions: int | None = None
) -> DataFrame:
    """Return `count` events of a network of brokers: `broker`, and `event` as JSON."""
    made = partial(OverlayWorkload, **asdict(overlay))
    return _frame(spark, count, partitions, EVENTS, made, _overlay_events)


def _overlay_events(overlay: OverlayWorkload, start: int, count: int) -> pa.Table:
    return overlay.events_table(count, start)


def _subscriptions(listed: WorkloadTables, start: int, count: int) -> pa.Table:
    return listed.subscriptions(start, count)


def _events(listed: WorkloadTables, start: int, count: int) -> pa.Table:
    return listed.table(start, count)


def _frame(
    spark: SparkSession,
    count: int,
    partitions: int | None,
    schema: pa.Schema,
    made: Callable[[], Drawn],
    rows: Callable[[Drawn, int, int], pa.Table],
) -> DataFrame:
    if count < 0:
        raise InputError("must be 0 or more", "count")
    if partitions is not None and partitions < 1:
        raise InputError("must be 1 or more", "partitions")
    parts = max(1, min(count, partitions or -(-count // _PART)))
    step = max(1, min(_PART, _CELLS // len(schema)))

    def draw_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = made()
        for batch in batches:
            for part in batch.column(0).to_pylist():
                stop = count * (part + 1) // parts
                for start in range(count * part // parts, stop, step):
                    table = rows(listed, start, min(step, stop - start))
                    yield from table.cast(schema).to_batches(max_chunksize=_ROWS)

    # One number for each partition, which determines what the partition draws.
    numbers = spark.range(0, parts, 1, parts)
    return numbers.mapInArrow(draw_batches, from_arrow_schema(schema))
