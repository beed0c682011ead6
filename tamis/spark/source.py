"""The events of a workload as a Spark table, or as a stream: the data source `tamis`.

    spark.dataSource.register(TamisSource)
    spark.read.format("tamis").option("workload", "flights").load()
    spark.readStream.format("tamis").option("workload", "selective").load()

Event n of a workload is the same whoever asks for it, and when. So an offset of the stream is the
number of an event, nothing is kept anywhere, and a batch that is run again gives the same rows.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tamis.errors import InputError, shortened
from tamis.workloads.catalogue import NAMES, Listed, named

# Spark is at its best with Arrow batches near this many rows.
_ROWS = 10_000
# Drawn at a time: many batches, for workloads draw whole blocks; fewer where rows are wide.
_CELLS = 2_000_000

_OPTIONS = ("workload", "rows", "seed", "partitions", "rowsPerBatch")

Offset = dict[str, int]


class TamisSource(DataSource):
    """The data source `tamis`.

    Options:
        workload: One of `tamis.workloads.catalogue.NAMES`.
        rows: How many events; without it all that there are, which is for `flights` only, or a
            stream without end.
        seed: Instead of the workload's own.
        partitions: Into how many parts the rows of a table, or of a batch of a stream, are cut; 4.
        rowsPerBatch: How many rows a batch of a stream has at most; 10,000.
    """

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "tamis"

    def schema(self) -> StructType:
        """The columns, as the workload has them."""
        return from_arrow_schema(_Asked.of(self.options).listed.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """For `spark.read`."""
        asked = _Asked.of(self.options)
        if asked.rows is None:
            raise InputError("has no end: say how many, option('rows', 1000)", asked.workload)
        return _Reader(asked, asked.rows)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For `spark.readStream`."""
        return _StreamReader(_Asked.of(self.options))


class _Asked(NamedTuple):
    """The options, read and checked; `rows` is None for a workload without end."""

    workload: str
    rows: int | None
    seed: int | None
    partitions: int
    rows_per_batch: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _Asked:
        given = {name.lower(): value for name, value in options.items()}
        known = {name.lower(): name for name in _OPTIONS}
        for name in given.keys() - known.keys():
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {known[close[0]]!r}?" if close else f"there are {_OPTIONS}"
            raise InputError(f"unknown option; {hint}", name)
        if "workload" not in given:
            raise InputError(f"is missing; there are {', '.join(NAMES)}", "workload")
        asked = cls(
            given["workload"],
            _whole(given, "rows", 0),
            _whole(given, "seed", 0),
            _whole(given, "partitions", 1) or 4,
            _whole(given, "rowsPerBatch", 1) or 10_000,
        )
        length = asked.listed.length
        if length is not None and (asked.rows or 0) > length:
            raise InputError(f"{asked.workload} has {length:,}, not {asked.rows:,}", "rows")
        return asked._replace(rows=length if asked.rows is None else asked.rows)

    @property
    def listed(self) -> Listed:
        # Not kept: it would be pickled, and making it costs nothing that is not kept anyway.
        return named(self.workload, self.seed)

    def spans(self, start: int, stop: int) -> list[_Span]:
        """The rows in so many parts, or in fewer if there are not so many rows; in one if none."""
        parts = max(1, min(self.partitions, stop - start))
        cuts = [start + (stop - start) * part // parts for part in range(parts + 1)]
        return [_Span(*ends) for ends in pairwise(cuts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a part."""
        assert isinstance(partition, _Span)
        listed = self.listed
        step = max(1, _CELLS // len(listed.schema))
        for start in range(partition.start, partition.stop, step):
            table = listed.table(start, min(step, partition.stop - start))
            yield from table.to_batches(max_chunksize=_ROWS)


def _whole(given: Mapping[str, str], name: str, least: int) -> int | None:
    text = given.get(name.lower())
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"must be a whole number, not {shortened(text)!r}", name) from None
    if number < least:
        raise InputError(f"must be {least} or more, not {number}", name)
    return number


class _Span(InputPartition):
    """Some events: from one up to another, which does not belong to them."""

    def __init__(self, start: int, stop: int) -> None:
        super().__init__((start, stop))
        self.start = start
        self.stop = stop


class _Reader(DataSourceReader):
    def __init__(self, asked: _Asked, rows: int) -> None:
        self._asked = asked
        self._rows = rows

    def partitions(self) -> list[_Span]:
        return self._asked.spans(0, self._rows)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._asked.read(partition)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, asked: _Asked) -> None:
        self._asked = asked
        self._only_now = False
        self._end = asked.rows

    def initialOffset(self) -> Offset:
        return {"event": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._asked.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        self._only_now = True

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        first = start["event"]
        if self._end is None and self._only_now:
            # What is there now, of a workload without end: one batch, from wherever we are.
            self._end = first + self._asked.rows_per_batch
        if isinstance(limit, ReadMaxRows):
            most = first + limit.max_rows
        else:  # everything
            most = first + self._asked.rows_per_batch if self._end is None else self._end
        # Never backwards: a query may be taken up again with fewer `rows` than it had.
        return {"event": max(first, most if self._end is None else min(most, self._end))}

    def partitions(self, start: Offset, end: Offset) -> list[_Span]:
        if start == end:
            return []
        return self._asked.spans(start["event"], end["event"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._asked.read(partition)
