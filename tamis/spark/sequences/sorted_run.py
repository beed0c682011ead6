"""Run sequences over matches of their steps, sorted by state and then by time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from tamis.sequences.state_machine import Machine, SequenceState
from tamis.spark.sequences.packed_events import RowCodec
from tamis.spark.sequences.step_worker import from_micros

FOUND = {
    "priority": pa.int64(),
    "index_version": pa.int64(),
    "began": pa.int64(),
    "event": pa.binary(),
}


def completion_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of completed sequences, with the packed event that completed each."""
    return pa.schema({"subscription": id_type, **FOUND})


def run_sequences(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield completed sequences; the rows of a state may continue in the next batch."""
    now: tuple[object, ...] | None = None
    machine, state = Machine(0, None), None
    for batch in batches:
        rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        done: list[tuple[object, ...]] = []
        for *whose, time, _, satisfied, priority, version, event in rows:
            if tuple(whose) != now:
                now = tuple(whose)
                machine, state = Machine(whose[2], whose[3]), None
            state, began = machine.step(state, satisfied, time)
            if began is not None:
                done.append((whose[0], priority, version, began, event))
        if done:
            schema = completion_schema(batch.schema.field("subscription").type)
            columns = zip(zip(*done, strict=True), schema, strict=True)
            arrays = [pa.array(values, field.type) for values, field in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def unpack_events(
    batches: Iterable[pa.RecordBatch], packing: RowCodec, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield completed sequences with the columns of the event."""
    for batch in batches:
        kept = packing.unpack(batch.column("event").to_pylist())
        began = from_micros(batch.column("began").to_pylist(), schema.field(len(schema) - 1).type)
        added = [batch.column(name) for name in ("subscription", "priority", "index_version")]
        yield pa.RecordBatch.from_arrays([*kept, *added, began], schema=schema)


def step_order(row: tuple[int, int | None, list[int], object]) -> tuple[object, ...]:
    """Return the sort key of a step match, in Spark's order: nulls first."""
    time, order, satisfied, *_ = row
    return time, order is not None, order, satisfied


def expiry(machine: Machine, state: SequenceState) -> int | None:
    """Return the time after which a state is useless, in microseconds; None if never."""
    if machine.within is None:
        return None
    start = state.starts[0]  # the latest of all
    assert start is not None
    return start + machine.within
