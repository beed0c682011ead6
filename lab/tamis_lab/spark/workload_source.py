"""The events of a workload as a Spark table, or as a stream, for the data source `tamis`.

    spark.read.format("tamis").option("workload", "flights").load()
    spark.readStream.format("tamis").option("workload", "selective").load()

Event n of a workload is always the same. So an offset of the stream is the number of an event, no
state is kept anywhere, and a batch that is run again gives the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tamis.errors import InputError
from tamis.spark.sources.partitions import Span, spans
from tamis.spark.sources.source_options import Options
from tamis_lab.workloads.workload_catalogue import NAMES, WorkloadTables, workload_by_name

# Spark works best with Arrow batches of about this many rows.
_ROWS = 10_000
# Cells drawn at a time: many batches, because workloads draw whole blocks; fewer for wide rows.
_CELLS = 2_000_000

_OPTIONS = ("workload", "rows", "seed", "partitions", "rowsPerBatch")

Offset = dict[str, int]


def schema(options: Mapping[str, str]) -> StructType:
    """Return the columns of the workload."""
    return from_arrow_schema(_SourceOptions.of(options).tables.schema)


def reader(options: Mapping[str, str], schema: StructType) -> DataSourceReader:
    """Return a reader for `spark.read`."""
    asked = _SourceOptions.of(options)
    if asked.rows is None:
        raise InputError("is unlimited; set a number of rows, option('rows', 1000)", asked.workload)
    return _WorkloadReader(asked, asked.rows)


def stream_reader(options: Mapping[str, str], schema: StructType) -> DataSourceStreamReader:
    """Return a reader for `spark.readStream`."""
    return _WorkloadStreamReader(_SourceOptions.of(options))


class _SourceOptions(NamedTuple):
    """The options, parsed and checked; `rows` is None for an unlimited workload."""

    workload: str
    rows: int | None
    seed: int | None
    partitions: int
    rows_per_batch: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _SourceOptions:
        given = Options(options, _OPTIONS)
        workload = given.text("workload")
        if workload is None:
            raise InputError(f"is missing; set it to one of {', '.join(NAMES)}", "workload")
        asked = cls(
            workload,
            given.integer("rows", 0),
            given.integer("seed", 0),
            given.integer("partitions", 1) or 4,
            given.integer("rowsPerBatch", 1) or 10_000,
        )
        length = asked.tables.length
        if length is not None and (asked.rows or 0) > length:
            raise InputError(f"{asked.workload} has {length:,} events, not {asked.rows:,}", "rows")
        return asked._replace(rows=length if asked.rows is None else asked.rows)

    @property
    def tables(self) -> WorkloadTables:
        # Not stored: it would be pickled, and what is expensive is cached anyway.
        return workload_by_name(self.workload, self.seed)

    def spans(self, start: int, stop: int) -> list[Span]:
        """Split rows into `partitions` parts, or fewer if there are fewer rows; at least one."""
        return spans(start, stop, min(self.partitions, stop - start))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part."""
        assert isinstance(partition, Span)
        listed = self.tables
        step = max(1, _CELLS // len(listed.schema))
        for start in range(partition.start, partition.stop, step):
            table = listed.table(start, min(step, partition.stop - start))
            yield from table.to_batches(max_chunksize=_ROWS)


class _WorkloadReader(DataSourceReader):
    def __init__(self, options: _SourceOptions, rows: int) -> None:
        self._asked = options
        self._rows = rows

    def partitions(self) -> list[Span]:
        return self._asked.spans(0, self._rows)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._asked.read(partition)


class _WorkloadStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: _SourceOptions) -> None:
        self._asked = options
        self._only_now = False
        self._end = options.rows

    def initialOffset(self) -> Offset:
        return {"event": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._asked.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        self._only_now = True

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        first = start["event"]
        if self._end is None and self._only_now:
            # "Available now" of an unlimited workload is one batch, from the current offset.
            self._end = first + self._asked.rows_per_batch
        if isinstance(limit, ReadMaxRows):
            most = first + limit.max_rows
        else:  # everything
            most = first + self._asked.rows_per_batch if self._end is None else self._end
        # Never backwards: a query may be restarted with fewer `rows` than it had.
        return {"event": max(first, most if self._end is None else min(most, self._end))}

    def partitions(self, start: Offset, end: Offset) -> list[Span]:
        if start == end:
            return []
        return self._asked.spans(start["event"], end["event"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._asked.read(partition)
