"""Batches of events on workers: coalesce them, and select what selectors see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

# The number of events that are matched at a time: Spark's batches are small.
TOGETHER = 1 << 15

UNREAD = "the event could not be read"


def coalesce_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in fewer batches."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= TOGETHER:
            yield _concat(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _concat(waiting)


def _concat(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def visible_columns(batch: pa.RecordBatch, hidden: frozenset[str]) -> pa.RecordBatch:
    """Return the columns that selectors see."""
    if not hidden:
        return batch
    return batch.select([name for name in batch.schema.names if name not in hidden])


def split_readable(
    batch: pa.RecordBatch, corrupt: str | None
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Return the readable events, and the others, whose column `corrupt` is not null."""
    if corrupt is None or batch.column(corrupt).null_count == batch.num_rows:
        return batch, batch.slice(0, 0)
    column = batch.column(corrupt)
    return batch.filter(column.is_null()), batch.filter(column.is_valid())
