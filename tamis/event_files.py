"""Events from files: JSON lines, CSV or Parquet, as batches.

A record that cannot be read or judged is a bad line: it is reported, and the rest goes on. Events
are numbered from 0 by their place among *all* records of the input, bad ones too, so that a number
always points into the file; a bad record merely has no answer. Lines are numbered from 1 as an
editor does, blank ones too; of a Parquet file the "line" is the row.

What is no matter of one line, such as a missing file, a damaged Parquet file or a CSV header with
the same name twice, is an InputError whatever is asked for bad lines.

The record readers (`Source`, `json_records`, `csv_rows`) also serve `subscription_files`; that and
the typing of CSV columns make this file longer than most.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa

from tamis.errors import EventError, InputError
from tamis.events import EventBatch
from tamis.schema import Schema
from tamis.values import INT_MAX, INT_MIN, Timestamp, Type

OnBad: TypeAlias = "Callable[[BadLine], None] | None"
# The line, what stands there, and what is wrong with it ("" if nothing is).
Record: TypeAlias = "tuple[int, Any, str]"
# None is a pause: whoever writes to our standard input has no more to say for now.
Records: TypeAlias = "Iterator[Record | None]"
Row: TypeAlias = "dict[str, object]"

_FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv",
            ".parquet": "parquet"}  # fmt: skip
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a file that was skipped, and why."""

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        """As compilers do, so that editors can jump there."""
        return f"{self.source}:{self.line}: {self.reason}"

    def as_error(self) -> InputError:
        """The same as an exception."""
        return InputError(self.reason, self.source, self.line)


class EventChunk(NamedTuple):
    """Some events of a file.

    Attributes:
        numbers: Per event of the batch, its number in the file.
        batch: The events.
        fraction: How much of the file has been read by now, from 0 to 1; None if nobody knows.
    """

    numbers: list[int]
    batch: EventBatch
    fraction: float | None


def read_events(
    path: str | Path,
    schema: Schema | None = None,
    semantics: str = "sql",
    bad: str = "fail",
    on_bad: OnBad = None,
    batch_size: int = 10_000,
) -> Iterator[EventChunk]:
    """Read a file of events, a batch at a time.

    The format goes by the name: `.jsonl`, `.ndjson` (an object a line), `.json` (the same, or one
    array of objects, which is read as a whole), `.csv`, `.parquet`; all but Parquet also with
    `.gz`. `-` and names without a suffix are JSON lines. From standard input a batch is whatever
    has arrived, up to `batch_size`.

    A CSV file has a header; a name in it is one attribute, dots and all. Each column is typed as a
    whole, which takes a first reading of the file: INT, DBL, BOOL (true or false), TIMESTAMP, else
    STR. Numbers with a leading zero or plus, or beyond 64 bits, are text: they are codes. A
    type that the schema declares rules instead (a list is then written as in JSON). An empty field
    is NULL, quoted or not.

    Args:
        path: The file, or `-` for standard input.
        schema: The attributes of events.
        semantics: One of `sql`, `strict`, `default`, `total`.
        bad: With "fail" the first bad line raises, with "skip" it is left out.
        on_bad: Called with each bad line that is left out.
        batch_size: At most so many records in a batch.

    Raises:
        InputError: A file that cannot be read, or a bad line with `bad="fail"`.
        SchemaError: The semantics need a schema.
    """
    check_bad(bad)
    source = Source(path)
    if source.format == "" and Path(source.stem).suffix:
        known = ", ".join(_FORMATS)
        raise InputError(f"unknown kind of file; events are {known}, or - for JSON lines",
                         source.name)  # fmt: skip
    reading = _Reading(source, schema, semantics, bad, on_bad, batch_size)
    if source.format == "parquet":
        return reading.parquet()
    if source.format == "csv":
        return reading.chunks(_csv_events(source, schema))
    return reading.chunks(json_records(source))


def check_bad(bad: str) -> None:
    """Refuse anything but "fail" and "skip"."""
    if bad not in ("fail", "skip"):
        raise InputError(f"bad is 'fail' or 'skip', not {bad!r}")


class Source:
    """A file to be read line by line, or standard input, compressed or not.

    Attributes:
        name: For messages.
        stem: The path without `.gz`.
        format: "jsonl", "json", "csv", "parquet", or "" for a suffix that says nothing.
    """

    def __init__(self, path: str | Path) -> None:
        """Look at the name only."""
        self.path = Path(path)
        self.is_stdin = str(path) == "-"
        self.name = "standard input" if self.is_stdin else str(path)
        self._packed = self.path.suffix.lower() == ".gz"
        self.stem = self.name[:-3] if self._packed else self.name
        self.format = "jsonl" if self.is_stdin else _FORMATS.get(Path(self.stem).suffix.lower(), "")
        if self._packed and self.format == "parquet":
            raise InputError("a Parquet file is compressed inside; gunzip it", self.name)
        self._raw: BinaryIO | None = None
        self._size = 0

    def lines(self) -> Iterator[tuple[int, bytes] | None]:
        """The lines with their numbers, from 1; None for a pause in standard input."""
        with self._open() as file:
            number = 0
            for line in _stdin_lines(file) if self.is_stdin else file:
                if line is None:
                    yield None
                    continue
                number += 1
                yield number, line.removeprefix(_BOM) if number == 1 else line

    def fraction(self) -> float | None:
        """How much has been read by now."""
        if self._raw is None or not self._size:
            return None
        return 1.0 if self._raw.closed else min(self._raw.tell() / self._size, 1.0)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        with self.blamed():
            if self.is_stdin:
                yield sys.stdin.buffer
                return
            with self.path.open("rb") as raw:
                self._raw = raw
                # A pipe has no size, and cannot tell where it is.
                self._size = self.path.stat().st_size if self.path.is_file() else 0
                if not self._packed:
                    yield raw
                    return
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked  # type: ignore[misc]

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Whatever goes wrong with the file inside is an InputError about it."""
        try:
            yield
        except OSError as error:
            raise InputError(error.strerror or str(error), self.name) from error
        except (EOFError, zlib.error) as error:
            raise InputError(f"damaged or cut off: {error}", self.name) from error
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise InputError(f"not a Parquet file, or damaged: {error}", self.name) from error


def _stdin_lines(file: BinaryIO) -> Iterator[bytes | None]:
    parts: list[bytes] = []
    # One read takes what is there, without waiting for more: a live pipe gets its answers at once.
    while block := file.read1(1 << 20):  # type: ignore[attr-defined]
        head, newline, tail = block.rpartition(b"\n")
        if not newline:
            parts.append(block)
            continue
        yield from b"".join([*parts, head]).split(b"\n")
        yield None
        parts = [tail]
    if rest := b"".join(parts):
        yield rest


# -- JSON -----------------------------------------------------------------------------------------


def json_records(source: Source) -> Records:
    """The objects of a file of JSON lines; a `.json` file may hold one array instead."""
    lines = source.lines()
    if source.format == "json":
        first = next((item for item in lines if item and item[1].strip()), None)
        lines = chain([first], lines)
        if first and first[1].lstrip().startswith(b"["):
            text = b"".join(item[1] for item in lines if item)
            yield from _array_records(text, source.name, first[0])
            return
    decode = msgspec.json.Decoder(dict).decode
    for item in lines:
        if item is None:
            yield None
        elif item[1].strip():
            try:
                yield item[0], decode(item[1]), ""
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                yield item[0], None, json_fault(error)


def json_fault(error: Exception) -> str:
    """What msgspec found wrong, in our words."""
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    if isinstance(error, RecursionError):
        return "objects nest too deep"
    text = str(error)
    if wrong := re.match("Expected `object`, got `(.*?)`", text):
        return f"not a JSON object but {wrong[1]}"
    if "truncated" in text:
        return "not JSON: it ends early"
    if "malformed" in text:
        return f"not JSON: {text.removeprefix('JSON is malformed: ')}"
    return text.partition(" - at ")[0].lower()


def _array_records(text: bytes, name: str, line: int) -> Records:
    try:
        elements = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the array is {json_fault(error)}", name) from None
    decode = msgspec.json.Decoder(dict).decode
    end = 0
    for element in elements:
        raw = bytes(element)
        # Between two elements there is a comma and white space, so this is the element itself.
        start = text.index(raw, end)
        line += text.count(b"\n", end, start)
        try:
            yield line, decode(raw), ""
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield line, None, json_fault(error)
        line += raw.count(b"\n")
        end = start + len(raw)


# -- CSV ------------------------------------------------------------------------------------------


def csv_rows(source: Source) -> Iterator[Record]:
    """The rows of a CSV file as lists of text, each with the line it begins on; blank ones not."""
    feed = _Feed(source)
    reader = csv.reader(feed, strict=True)
    while True:
        feed.row.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # An open quote swallows what follows: only its line is bad, the others are read again.
            line = feed.row[0][0]
            feed.again.extendleft(reversed(feed.row[1:]))
            reader = csv.reader(feed, strict=True)
            yield line, None, f"not CSV: {error}; is a quote open?"
            continue
        line = feed.row[0][0]
        if any(text is None for _, text in feed.row):
            yield line, None, "not valid UTF-8"
        elif any(field.strip() for field in fields) or len(fields) > 1:
            yield line, fields, ""


class _Feed:
    """Lines for csv.reader: keeps those of the row at hand, and takes lines back."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines()
        self.row: list[tuple[int, str | None]] = []
        self.again: deque[tuple[int, str | None]] = deque()

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self.again:
            self.row.append(self.again.popleft())
        else:
            number, raw = next(self._lines)  # type: ignore[misc]
            try:
                self.row.append((number, raw.decode()))
            except UnicodeDecodeError:
                self.row.append((number, None))
        return self.row[-1][1] or "?\n"


def csv_header(rows: Iterator[Record], source: Source) -> list[str]:
    """Take the first row as names; none if the file is empty."""
    _, names, fault = next(rows, (1, [], ""))
    twice = [name for i, name in enumerate(names or ()) if name and name in names[:i]]
    if fault or twice:
        reason = fault or f"two columns are named {twice[0]!r}; rename one"
        # Without a line: this is no bad line that could be skipped.
        raise InputError(f"in the header: {reason}", source.name)
    header: list[str] = names
    return header


def count_fault(header: list[str], fields: list[str]) -> str:
    """What to say of a row that does not fit under the header."""
    plural = "" if len(fields) == 1 else "s"
    return f"{len(fields)} field{plural} where the header has {len(header)}"


_Convert: TypeAlias = "Callable[[str], object] | None"


def _csv_events(source: Source, schema: Schema | None) -> Records:
    rows = csv_rows(source)
    header = csv_header(rows, source)
    converters = _converters(source, header, schema)
    for line, fields, fault in rows:
        event: Row = {}
        if not fault and len(fields) != len(header):
            fault = count_fault(header, fields)
        for name, convert, text in zip(header, converters, () if fault else fields, strict=False):
            if text and convert:
                try:
                    event[name] = convert(text)
                except (ValueError, OverflowError) as error:
                    fault = f"attribute {name!r}: {error}"
                    break
        yield line, event, fault


def _converters(source: Source, header: list[str], schema: Schema | None) -> list[_Convert]:
    """How to read each column; None for those that nobody can ask about."""
    declared = {} if schema is None else schema.types
    ignored = schema is not None and not schema.open
    unknown = [i for i, name in enumerate(header)
               if name and (name,) not in declared and not ignored]  # fmt: skip
    found = _column_types(source, header, unknown) if unknown else {}
    return [
        _DECLARED[declared[(name,)]] if (name,) in declared else _INFERRED.get(found.get(i))
        for i, name in enumerate(header)
    ]


def _column_types(source: Source, header: list[str], columns: list[int]) -> dict[int, Type]:
    if not source.path.is_file():
        reason = "CSV is read twice, so it must be a file; write it to disk, or use JSON lines"
        raise InputError(reason, source.name)
    types: dict[int, Type] = {}
    rows = csv_rows(Source(source.path))
    next(rows, None)
    for _, fields, fault in rows:
        if fault or len(fields) != len(header):
            continue
        for i in columns:
            if fields[i] and (so_far := types.get(i)) is not Type.STR:
                types[i] = _joined(so_far, _type_of_text(fields[i]))
    return types


def _joined(so_far: Type | None, found: Type) -> Type:
    if so_far is None or so_far is found:
        return found
    return Type.DBL if {so_far, found} == {Type.INT, Type.DBL} else Type.STR


_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DBL = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = ("NaN", "inf", "-inf", "Infinity", "-Infinity")  # as pandas and Spark write them


def is_int(text: str) -> bool:
    """Whether the text is an INT as it would be printed."""
    return _INT.fullmatch(text) is not None and len(text) <= 20 and INT_MIN <= int(text) <= INT_MAX


def _type_of_text(text: str) -> Type:
    if _INT.fullmatch(text):
        return Type.INT if is_int(text) else Type.STR
    if (_DBL.fullmatch(text) and isfinite(float(text))) or text in _NOT_FINITE:
        return Type.DBL
    if text.lower() in ("true", "false"):
        return Type.BOOL
    try:
        Timestamp.parse(text)
    except (ValueError, OverflowError):
        return Type.STR
    return Type.TIMESTAMP


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text[:60]!r} is not of type BOOL; write true or false")
    return text.lower() == "true"


def _number(text: str) -> object:
    if text in _NOT_FINITE:
        return float(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:60]!r} is not a number")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _list(text: str) -> object:
    try:
        return msgspec.json.decode(text, type=list)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ValueError(f"{text[:60]!r} is not a list; write it as in JSON: [1, 2]") from None


_INFERRED: dict[Type | None, Callable[[str], object]] = {
    Type.INT: int, Type.DBL: float, Type.BOOL: _bool, Type.TIMESTAMP: Timestamp.parse,
    Type.STR: str,
}  # fmt: skip
# What the schema makes of the value (an INT of 5.0, a TIMESTAMP of text) is EventBatch's affair.
_DECLARED: dict[Type, Callable[[str], object]] = {
    Type.INT: _number, Type.DBL: _number, Type.BOOL: _bool, Type.TIMESTAMP: str, Type.STR: str,
    Type.INT_LIST: _list, Type.STR_LIST: _list,
}  # fmt: skip


# -- batches --------------------------------------------------------------------------------------

# Where a batch fails, spans of so many rows are tried, and the rows of those that fail: no row is
# looked at more than four times, however many are bad.
_SPAN = 64


class _Reading:
    """Records to batches, with bad lines taken out."""

    def __init__(
        self,
        source: Source,
        schema: Schema | None,
        semantics: str,
        bad: str,
        on_bad: OnBad,
        batch_size: int,
    ) -> None:
        self.source = source
        self.schema = schema
        self.semantics = semantics
        self.fail = bad == "fail"
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
                # Failing waits for no batch to fill, but earlier rows of it may be bad as well.
                if len(rows) + len(bad) < self.batch_size and not (fault and self.fail):
                    continue
            if rows or bad:
                yield from self._converted(rows, places, bad, self.source.fraction())
                rows, places, bad = [], [], []

    def parquet(self) -> Iterator[EventChunk]:
        import pyarrow.parquet as pq

        with self.source.blamed():
            file = pq.ParquetFile(self.source.path)
            batches = file.iter_batches(self.batch_size)
        row, total = 0, file.metadata.num_rows
        while True:
            with self.source.blamed():
                table = next(batches, None)
            if table is None:
                file.close()
                return
            try:
                self._batch(table.slice(0, 0))
            except EventError as error:  # the columns are at fault, not a row
                raise InputError(str(error), self.source.name) from error
            places = [(i, i + 1) for i in range(row, row + len(table))]
            row += len(table)
            yield from self._converted(table, places, [], row / total)

    def _converted(
        self,
        rows: list[Row] | pa.RecordBatch,
        places: list[tuple[int, int]],
        bad: list[BadLine],
        fraction: float | None,
    ) -> Iterator[EventChunk]:
        batch = None
        try:
            batch = self._batch(rows)
        except EventError:
            faults = dict(self._faults(rows))
            if not faults:
                # Every row is good, and yet the batch is not: it is too large.
                if len(rows) < 2:
                    raise
                self._report(bad)
                half = len(rows) // 2
                yield from self._converted(rows[:half], places[:half], [], fraction)
                yield from self._converted(rows[half:], places[half:], [], fraction)
                return
            bad += [BadLine(self.source.name, places[i][1], why) for i, why in faults.items()]
            good = [i for i in range(len(rows)) if i not in faults]
            if isinstance(rows, list):
                rows = [rows[i] for i in good]
            else:
                rows = rows.take(pa.array(good, pa.int64()))
            places = [places[i] for i in good]
        self._report(bad)
        if batch is None:
            batch = self._batch(rows)
        if len(batch):
            yield EventChunk([number for number, _ in places], batch, fraction)

    def _batch(self, rows: list[Row] | pa.RecordBatch) -> EventBatch:
        if isinstance(rows, list):
            return EventBatch.from_dicts(rows, self.schema, self.semantics)
        try:
            rows.validate(full=True)  # Parquet takes any bytes as text; its readers fail later
        except pa.ArrowInvalid as error:
            raise EventError(f"damaged: {error}") from error
        return EventBatch.from_arrow(rows, self.schema, self.semantics)

    def _faults(self, rows: list[Row] | pa.RecordBatch) -> Iterator[tuple[int, str]]:
        for start in range(0, len(rows), _SPAN):
            try:
                self._batch(rows[start : start + _SPAN])
            except EventError:
                for i in range(start, min(start + _SPAN, len(rows))):
                    try:
                        self._batch(rows[i : i + 1])
                    except EventError as error:
                        what = f"attribute {error.attribute!r}: " if error.attribute else ""
                        yield i, what + error.reason

    def _report(self, bad: Iterable[BadLine]) -> None:
        for line in sorted(bad, key=lambda line: line.line):
            if self.fail:
                raise line.as_error()
            if self.on_bad:
                self.on_bad(line)
