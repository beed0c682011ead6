"""Events as bytes: the kept columns of an event are one value in Spark's state.

The bytes are an Arrow message without its schema, which both sides have. So every type of Spark
survives the round trip, which it would not as Python values (local times, for example).
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import xxhash

from tamis.errors import InputError


class RowCodec:
    """Converts rows of one schema to bytes, and back."""

    def __init__(self, schema: pa.Schema) -> None:
        """Take the schema of the rows."""
        self.schema = schema
        # A prefix that identifies the schema: a state may outlive the query that wrote it.
        self._mark = xxhash.xxh3_64_digest(schema.remove_metadata().serialize().to_pybytes())

    def pack(self, batch: pa.RecordBatch, rows: Iterable[int]) -> dict[int, bytes]:
        """Pack some rows of a batch, which may have further columns."""
        kept = batch.select(self.schema.names).cast(self.schema)
        return {
            row: self._mark + kept.slice(row, 1).serialize().to_pybytes()
            for row in dict.fromkeys(rows)
        }

    def unpack(self, packed: list[bytes]) -> list[pa.Array]:
        """Return the columns of packed rows.

        Raises:
            InputError: They were packed with other columns.
        """
        if any(one[: len(self._mark)] != self._mark for one in packed):
            raise InputError("the checkpoint holds events with other columns; keep the same ones")
        if not packed:
            return [pa.array([], kind) for kind in self.schema.types]
        if not self.schema.names:
            return []
        rows = [
            pa.ipc.read_record_batch(pa.py_buffer(one)[len(self._mark) :], self.schema)
            for one in packed
        ]
        columns: list[pa.Array] = pa.concat_batches(rows).columns
        return columns
