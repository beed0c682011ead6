"""Match Arrow batches on a worker; this module does not use pyspark.

A worker keeps an index open from task to task: it is memory-mapped, and all workers of a machine
share its pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from tamis.errors import EventError, FunctionError, TamisError
from tamis.events.bad_events import isolate_bad
from tamis.language.functions import Callables
from tamis.matcher import Matcher
from tamis.matches import Matches
from tamis.spark.index.versions import Version
from tamis.spark.match.event_batches import UNREAD, split_readable, visible_columns

# The number of versions that a worker keeps open: the previous one may still be needed.
_OPEN = 2

_opened: dict[Path, Matcher] = {}


def open_version(version: Version, functions: Callables | None) -> Matcher:
    """Return the matcher of a version, opened once per worker."""
    matcher = _opened.get(version.folder)
    if matcher is None or functions:
        # A worker sees only some of the events, in any order, so it cannot run sequences.
        matcher = Matcher.open(version.folder, functions, read_only=True, sequences=False)
        if functions:  # every task has its own copies of them
            return matcher
        while len(_opened) >= _OPEN:
            del _opened[next(iter(_opened))]
        _opened[version.folder] = matcher
    return matcher


class ArrowMatcher:
    """Adds their subscriptions to events.

    Attributes:
        schema: The schema of the result.
    """

    def __init__(
        self,
        matcher: Matcher,
        number: int,
        schema: pa.Schema,
        hidden: frozenset[str],
        limit: int | None,
        corrupt: str | None,
        errors: str | None,
    ) -> None:
        """Take the matcher and the form of the result.

        Args:
            matcher: The matcher.
            number: Its version.
            schema: The schema of the result: columns of events, and added ones.
            hidden: Columns that no selector sees.
            limit: The maximum number of subscriptions per event.
            corrupt: A column that is not null if the event could not be read.
            errors: The column for what is wrong with an event; None to raise it.
        """
        self._matcher = matcher
        self._number = number
        self.schema = schema
        self._hidden = hidden
        self._limit = limit
        self._corrupt = corrupt
        self._errors = errors

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Match a batch."""
        batch, unread = split_readable(batch, self._corrupt)
        if unread.num_rows:
            yield self._set_aside(unread, UNREAD)
        yield from self._match(batch)

    def _match(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        errors = () if self._errors is None else (EventError, FunctionError)
        for part, matches in isolate_bad(batch, self._matches, errors):
            if isinstance(matches, TamisError):
                yield self._set_aside(part, str(matches))
            else:
                yield self._match_lists(part, matches)

    def _matches(self, batch: pa.RecordBatch) -> Matches:
        return self._matcher.match_batch(visible_columns(batch, self._hidden), self._limit)

    def _match_lists(self, batch: pa.RecordBatch, matches: Matches) -> pa.RecordBatch:
        pairs = matches.to_arrow()
        offsets = np.zeros(matches.events + 1, np.int32)
        np.cumsum(matches.event_counts(), out=offsets[1:])
        values = _one_chunk(pairs.column("subscription"))
        kind = self.schema.field("subscriptions").type.value_type
        if pa.types.is_struct(kind):
            ids = _cast(values, kind.field(0).type)
            values = pa.StructArray.from_arrays(
                [ids, _one_chunk(pairs.column("priority"))], fields=list(kind)
            )
        rows = self._kept_columns(batch)
        rows["subscriptions"] = pa.ListArray.from_arrays(pa.array(offsets), values)
        return self._output_batch(rows, batch.num_rows)

    def _set_aside(self, batch: pa.RecordBatch, reason: str) -> pa.RecordBatch:
        rows = self._kept_columns(batch)
        if self._errors is not None:
            rows[self._errors] = pa.repeat(pa.scalar(reason), batch.num_rows)
        return self._output_batch(rows, batch.num_rows)

    def _kept_columns(self, batch: pa.RecordBatch) -> dict[str, pa.Array]:
        return {n: batch.column(n) for n in batch.schema.names if n in self.schema.names}

    def _output_batch(self, columns: Mapping[str, pa.Array], rows: int) -> pa.RecordBatch:
        """Return the columns in the order and types of the schema; null where one is missing."""
        number = pa.repeat(pa.scalar(self._number, pa.int64()), rows)
        known = {**columns, "index_version": number}
        columns_out = [
            _cast(known[field.name], field.type)
            if field.name in known
            else pa.nulls(rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns_out, schema=self.schema)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column to the type in the schema; an empty column of ids may have any type."""
    if column.type == kind:
        return column
    return pa.nulls(len(column), kind) if column.null_count == len(column) else column.cast(kind)
