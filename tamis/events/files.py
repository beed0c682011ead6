"""Read events from files, JSON lines, CSV or Parquet, as batches.

A record that cannot be read or evaluated is a bad line: it is reported, and reading continues.
Events are numbered from 0 by their position among *all* records of the input, including bad ones,
so that a number always points into the file; a bad record just has no result. Lines are numbered
from 1 as in an editor, including blank ones; the "line" of a Parquet file is its row.

An error that is not about one line, such as a missing file, a damaged Parquet file or a CSV header
with the same name twice, is an InputError, whatever `bad` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from tamis.errors import EventError, InputError, shorten

# Re-exported for the broker, which imports it from here.
from tamis.events.bad_events import row_faults as row_faults
from tamis.events.batch import EventBatch
from tamis.events.csv_columns import csv_events
from tamis.events.records import (
    FORMATS,
    BadLine,
    InputFile,
    OnBad,
    Records,
    check_bad,
    json_records,
    report_bad_line,
)
from tamis.schema import Schema, SchemaLike

Row: TypeAlias = "dict[str, object]"


class EventChunk(NamedTuple):
    """A batch of events from a file.

    Attributes:
        numbers: Per event of the batch, its number in the file.
        batch: The events.
        fraction: The part of the file read so far, from 0 to 1; None if unknown.
    """

    numbers: list[int]
    batch: EventBatch
    fraction: float | None


def read_events(
    path: str | Path,
    schema: SchemaLike | None = None,
    semantics: str = "sql",
    bad: str = "fail",
    on_bad: OnBad = None,
    batch_size: int = 10_000,
) -> Iterator[EventChunk]:
    """Read a file of events in batches.

    The suffix of the name is the format: `.jsonl`, `.ndjson` (one object per line), `.json` (the
    same, or one array of objects, which is read as a whole), `.csv`, `.parquet`; all but Parquet
    also with `.gz`. `-` and names without a suffix are JSON lines. From standard input, a batch
    holds what has arrived, up to `batch_size`.

    A CSV file has a header. A name in it is one attribute, including any dots, unless the schema
    declares the path instead: with the schema {"user.city": "STR"} the column `user.city` is the
    field `city` of the object `user`. The type of a column is inferred from all its fields, for
    which the file is read twice: INT, DBL, BOOL (true or false), TIMESTAMP, otherwise STR. Numbers
    with a leading zero or plus, or beyond 64 bits, are text: they are codes. A type that the schema
    declares takes precedence (a list is then written as in JSON). An empty field is NULL, quoted or
    not.

    Args:
        path: The file, or `-` for standard input.
        schema: The attributes of events.
        semantics: One of `sql`, `strict`, `default`, `total`.
        bad: With "fail" the first bad line raises; with "skip" bad lines are skipped.
        on_bad: Called with each bad line that is skipped.
        batch_size: The maximum number of records in a batch.

    Raises:
        InputError: The file cannot be read, or a line is bad and `bad` is "fail".
        SchemaError: The semantics need a schema, or the schema is invalid.
    """
    check_bad(bad)
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(
            f"batch_size must be an integer of at least 1, not {shorten(repr(batch_size))}"
        )
    source = InputFile(path)
    schema = None if schema is None else Schema.of(schema)
    if source.format == "" and Path(source.stem).suffix:
        known = ", ".join(FORMATS)
        raise InputError(f"unknown file type; events are {known}, or - for JSON lines",
                         source.name)  # fmt: skip
    reading = _EventReader(source, schema, semantics, bad, on_bad, batch_size)
    if source.format == "parquet":
        return reading.parquet_chunks()
    if source.format == "csv":
        return reading.chunks(csv_events(source, schema))
    return reading.chunks(json_records(source))


class _EventReader:
    """Converts records to batches, without the bad lines."""

    def __init__(
        self,
        source: InputFile,
        schema: Schema | None,
        semantics: str,
        bad: str,
        on_bad: OnBad,
        batch_size: int,
    ) -> None:
        self.source = source
        self.schema = schema
        self.semantics = semantics
        self.bad = bad
        self.on_bad = on_bad
        self.batch_size = batch_size

    def chunks(self, records: Records) -> Iterator[EventChunk]:
        rows: list[Row] = []
        places: list[tuple[int, int]] = []  # per row, its number and its line
        bad: list[BadLine] = []
        number = 0
        for record in chain(records, [None]):
            if record is not None:
                line, row, fault = record
                if fault:
                    bad.append(BadLine(self.source.name, line, fault))
                else:
                    rows.append(row)
                    places.append((number, line))
                number += 1
                # With "fail" do not wait for a full batch; an earlier row may be bad too.
                if len(rows) + len(bad) < self.batch_size and not (fault and self.bad == "fail"):
                    continue
            if rows or bad:
                yield from self._convert_rows(rows, places, bad, self.source.fraction())
                rows, places, bad = [], [], []

    def parquet_chunks(self) -> Iterator[EventChunk]:
        import pyarrow.parquet as pq

        with self.source.wrap_errors():
            file = pq.ParquetFile(self.source.path)
            batches = file.iter_batches(self.batch_size)
        row, total = 0, file.metadata.num_rows
        while True:
            with self.source.wrap_errors():
                table = next(batches, None)
            if table is None:
                file.close()
                return
            try:
                self._build_batch(table.slice(0, 0))
            except EventError as error:  # the columns are at fault, not a row
                raise InputError(str(error), self.source.name) from error
            places = [(i, i + 1) for i in range(row, row + len(table))]
            row += len(table)
            yield from self._convert_rows(table, places, [], row / total)

    def _convert_rows(
        self,
        rows: list[Row] | pa.RecordBatch,
        places: list[tuple[int, int]],
        bad: list[BadLine],
        fraction: float | None,
    ) -> Iterator[EventChunk]:
        try:
            batch = self._build_batch(rows)
        except EventError:
            faults = row_faults(rows, self._build_batch)
            if faults:
                bad += [BadLine(self.source.name, places[i][1], why) for i, why in faults.items()]
                good = [i for i in range(len(rows)) if i not in faults]
                if isinstance(rows, list):
                    rows = [rows[i] for i in good]
                else:
                    rows = rows.take(pa.array(good, pa.int64()))
                yield from self._convert_rows(rows, [places[i] for i in good], bad, fraction)
                return
            # Every row is good, so the batch is too large.
            if len(rows) < 2:
                raise
            self._report(bad)
            half = len(rows) // 2
            yield from self._convert_rows(rows[:half], places[:half], [], fraction)
            yield from self._convert_rows(rows[half:], places[half:], [], fraction)
            return
        self._report(bad)
        if len(batch):
            yield EventChunk([number for number, _ in places], batch, fraction)

    def _build_batch(self, rows: list[Row] | pa.RecordBatch) -> EventBatch:
        if isinstance(rows, list):
            return EventBatch.from_dicts(rows, self.schema, self.semantics)
        return EventBatch.from_arrow(rows, self.schema, self.semantics)

    def _report(self, bad: Iterable[BadLine]) -> None:
        for line in sorted(bad, key=lambda line: line.line):
            report_bad_line(line, self.bad, self.on_bad)
