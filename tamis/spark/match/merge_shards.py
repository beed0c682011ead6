"""Merge the results of several shards for each event; this module does not use pyspark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

# The column for the number of an event, by which the results of shards are merged.
EVENT = "tamis_event"

# The number of an event is its partition and its position there; the bits of the latter.
_PLACES = 33


def number_events(batches: Iterable[pa.RecordBatch], partition: int) -> Iterator[pa.RecordBatch]:
    """Add their numbers to the events of a partition."""
    first = partition << _PLACES
    for batch in batches:
        numbers = np.arange(first, first + batch.num_rows, dtype=np.int64)
        first += batch.num_rows
        yield batch.append_column(EVENT, pa.array(numbers))


def merge_answers(
    batches: Iterable[pa.RecordBatch], limit: int | None, errors: str | None, listed: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """Yield a row per event, with all its subscriptions: highest priority first, then by id.

    An event that one shard could not evaluate has no subscriptions.

    Args:
        batches: All rows of these events, each with a list of ids and priorities.
        limit: The maximum number of subscriptions per event.
        errors: The column for what is wrong with an event, if there is one.
        listed: The type of list elements: ids, or ids and priorities.
    """
    some = [batch for batch in batches if batch.num_rows]
    if not some:  # a partition may be empty
        return
    table = pa.Table.from_batches(some).combine_chunks()
    events, first, event = np.unique(
        table.column(EVENT).to_numpy(), return_index=True, return_inverse=True
    )
    bad = np.zeros(len(events), np.bool_)
    rows = table.take(pa.array(first)).drop_columns([EVENT])
    if errors is not None:
        failed = np.flatnonzero(table.column(errors).is_valid().to_numpy(zero_copy_only=False))
        bad[event[failed]] = True
        failed_row = np.full(len(events), -1)
        failed_row[event[failed]] = failed
        reasons = table.column(errors).take(pa.array(failed_row, mask=failed_row < 0))
        rows = rows.set_column(rows.schema.names.index(errors), errors, reasons)
    lists = table.column("subscriptions").combine_chunks()
    subscriptions = _merge_lists(lists, event, bad, limit, listed)
    at = rows.schema.names.index("subscriptions")
    yield from rows.set_column(at, "subscriptions", subscriptions).to_batches()


def _merge_lists(
    lists: pa.ListArray,
    event: npt.NDArray[np.int64],
    bad: npt.NDArray[np.bool_],
    limit: int | None,
    listed: pa.DataType,
) -> pa.ListArray:
    """Merge the lists of each event; null if it could not be evaluated."""
    of = event[pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)]
    pairs = pa.Table.from_arrays([pa.array(of), *lists.flatten().flatten()], ["event", "id", "by"])
    pairs = pairs.filter(pa.array(~bad[of]))
    order = [("event", "ascending"), ("by", "descending"), ("id", "ascending")]
    pairs = pairs.take(pc.sort_indices(pairs, sort_keys=order)).combine_chunks()
    counts = np.bincount(pairs.column("event").to_numpy(), minlength=len(bad))
    if limit is not None:
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        places = np.arange(pairs.num_rows) - np.repeat(starts, counts)
        pairs = pairs.filter(pa.array(places < limit)).combine_chunks()
        counts = np.minimum(counts, limit)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    ids, priorities = (pairs.column(name).combine_chunks() for name in ("id", "by"))
    values = ids
    if pa.types.is_struct(listed):
        values = pa.StructArray.from_arrays([ids, priorities], fields=list(listed))
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(bad))
