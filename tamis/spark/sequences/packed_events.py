"""Events as bytes: the columns to keep of one event travel through Spark's state as one value.

They are a message of Arrow's without its schema, which both sides know. So every type that Spark
has comes out as it went in, as it would not by way of Python's values (local times, for one).
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import xxhash

from tamis.errors import InputError


class RowCodec:
    """Rows of one schema to bytes, and back."""

    def __init__(self, schema: pa.Schema) -> None:
        """Take the schema of what is packed."""
        self.schema = schema
        # A state may outlive the query that wrote it.
        self._mark = xxhash.xxh3_64_digest(schema.remove_metadata().serialize().to_pybytes())

    def pack(self, batch: pa.RecordBatch, rows: Iterable[int]) -> dict[int, bytes]:
        """Some rows of a batch that has these columns, among others."""
        kept = batch.select(self.schema.names).cast(self.schema)
        return {
            row: self._mark + kept.slice(row, 1).serialize().to_pybytes()
            for row in dict.fromkeys(rows)
        }

    def unpack(self, packed: list[bytes]) -> list[pa.Array]:
        """The columns.

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
