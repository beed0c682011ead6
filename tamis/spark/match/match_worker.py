"""What a worker does with events: no pyspark here, only Arrow batches.

A worker keeps the index that it has open from task to task: it is mapped, not read, and all workers
of a machine share its pages.
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

# Versions that a worker keeps open: the one before may still be wanted.
_OPEN = 2

_opened: dict[Path, Matcher] = {}


def open_version(version: Version, functions: Callables | None) -> Matcher:
    """The matcher of a version, opened once per worker."""
    found = _opened.get(version.folder)
    if found is None or functions:
        # A worker sees some of the events only, in any order: sequences are not for it to run.
        found = Matcher.open(version.folder, functions, read_only=True, sequences=False)
        if functions:  # they come anew with every task
            return found
        while len(_opened) >= _OPEN:
            del _opened[next(iter(_opened))]
        _opened[version.folder] = found
    return found


class ArrowMatcher:
    """Events in, events with their subscriptions out.

    Attributes:
        schema: Of what comes out.
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
        """Prepare to judge.

        Args:
            matcher: What to judge by.
            number: The version that this is.
            schema: Of what comes out: columns of events, and those that are added.
            hidden: Columns that no selector sees.
            limit: At most so many subscriptions per event.
            corrupt: A column that is not null where the event could not be read.
            errors: The column for what is wrong with an event; None if that is to be raised.
        """
        self._matcher = matcher
        self._number = number
        self.schema = schema
        self._hidden = hidden
        self._limit = limit
        self._corrupt = corrupt
        self._errors = errors

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Judge a batch."""
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

    def _match_lists(self, batch: pa.RecordBatch, found: Matches) -> pa.RecordBatch:
        pairs = found.to_arrow()
        offsets = np.zeros(found.events + 1, np.int32)
        np.cumsum(found.event_counts(), out=offsets[1:])
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
        """Rows in the order and of the types that were promised; null where there is nothing."""
        number = pa.repeat(pa.scalar(self._number, pa.int64()), rows)
        found = {**columns, "index_version": number}
        columns_out = [
            _cast(found[field.name], field.type)
            if field.name in found
            else pa.nulls(rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns_out, schema=self.schema)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column of the type that was promised: where there are no ids they may be of any."""
    if column.type == kind:
        return column
    return pa.nulls(len(column), kind) if column.null_count == len(column) else column.cast(kind)
