"""Records of files: JSON lines, arrays, CSV rows, each with its line and its fault, if any.

Lines are numbered from 1 as in an editor, including blank ones.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec
import pyarrow as pa

from tamis.errors import InputError

OnBad: TypeAlias = "Callable[[BadLine], None] | None"
# The line, its content, and what is wrong with it ("" if nothing is).
Record: TypeAlias = "tuple[int, Any, str]"
# None is a pause: nothing more has arrived on standard input yet.
Records: TypeAlias = "Iterator[Record | None]"

FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv",
            ".parquet": "parquet"}  # fmt: skip
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a file that was skipped, and why."""

    source: str
    line: int
    reason: str

    def __str__(self) -> str:
        """Return `source:line: reason`, as compilers do, so that editors can jump there."""
        return f"{self.source}:{self.line}: {self.reason}"

    def as_error(self) -> InputError:
        """Return the bad line as an exception."""
        return InputError(self.reason, self.source, self.line)


def check_bad(bad: str) -> None:
    """Reject values other than "fail" and "skip"."""
    if bad not in ("fail", "skip"):
        raise InputError(f"bad must be 'fail' or 'skip', not {bad!r}")


def report_bad_line(line: BadLine, bad: str, on_bad: OnBad) -> None:
    """Raise a bad line, or pass it to `on_bad`."""
    if bad == "fail":
        raise line.as_error()
    if on_bad:
        on_bad(line)


class InputFile:
    """A file that is read line by line, or standard input, compressed or not.

    Attributes:
        name: The name in messages.
        stem: The path without `.gz`.
        format: "jsonl", "json", "csv", "parquet", or "" for any other suffix.
    """

    def __init__(self, path: str | Path) -> None:
        """Inspect the name, without opening the file.

        Raises:
            InputError: It cannot be the name of a file.
        """
        if not isinstance(path, str | Path):
            raise InputError(f"a file name must be text or a Path, not {type(path).__name__}")
        if "\0" in str(path):
            raise InputError("a file name cannot contain a NUL character", str(path))
        self.path = Path(path)
        self.is_stdin = str(path) == "-"
        self.name = "standard input" if self.is_stdin else str(path)
        self._packed = self.path.suffix.lower() == ".gz"
        self.stem = self.name[:-3] if self._packed else self.name
        self.format = "jsonl" if self.is_stdin else FORMATS.get(Path(self.stem).suffix.lower(), "")
        if self._packed and self.format == "parquet":
            raise InputError(
                "a Parquet file is compressed inside; unpack it with gunzip", self.name
            )
        self._raw: BinaryIO | None = None
        self._size = 0

    def lines(self) -> Iterator[tuple[int, bytes] | None]:
        """Yield the lines with their numbers, from 1; None for a pause on standard input."""
        with self._open() as file:
            number = 0
            for line in _stdin_lines(file) if self.is_stdin else file:
                if line is None:
                    yield None
                    continue
                number += 1
                yield number, line.removeprefix(_BOM) if number == 1 else line

    def fraction(self) -> float | None:
        """Return the part of the file read so far, from 0 to 1; None if unknown."""
        if self._raw is None or not self._size:
            return None
        return 1.0 if self._raw.closed else min(self._raw.tell() / self._size, 1.0)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        with self.wrap_errors():
            if self.is_stdin:
                yield sys.stdin.buffer
                return
            with self.path.open("rb") as raw:
                self._raw = raw
                # A pipe has no size and no position.
                self._size = self.path.stat().st_size if self.path.is_file() else 0
                if not self._packed:
                    yield raw
                    return
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked  # type: ignore[misc]

    @contextmanager
    def wrap_errors(self) -> Iterator[None]:
        """Turn errors about the file into an InputError that names it."""
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
    # read1 returns what has arrived, without waiting for more: a live pipe gets results at once.
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


def json_records(source: InputFile) -> Records:
    """Yield the objects of a file of JSON lines; a `.json` file may hold one array instead."""
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
                fault = json_fault(error, item[1])
                if source.format == "json" and fault.startswith("not JSON"):
                    fault += "; a .json file holds one object per line, or one array"
                yield item[0], None, fault


def json_fault(error: Exception, raw: bytes) -> str:
    """Return the reason for an error of msgspec."""
    if isinstance(error, UnicodeDecodeError):
        return "not valid UTF-8"
    if isinstance(error, RecursionError):
        return "objects nest too deep"
    if _has_lone_surrogate(raw):
        return "text holds a lone surrogate, which is not valid Unicode"
    text = str(error)
    if wrong := re.match("Expected `object`, got `(.*?)`", text):
        return f"not a JSON object but {wrong[1]}"
    if "truncated" in text:
        return "not JSON: it ends early"
    if "malformed" in text:
        return f"not JSON: {text.removeprefix('JSON is malformed: ')}"
    return text.partition(" - at ")[0].lower()


def _has_lone_surrogate(raw: bytes) -> bool:
    # msgspec reports such text as truncated or malformed; Python's parser accepts it.
    if b"\\u" not in raw:
        return False
    try:
        json.dumps(json.loads(raw), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass
    return False


def _array_records(text: bytes, name: str, line: int) -> Records:
    try:
        elements = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"in the array: {json_fault(error, text)}", name) from None
    decode = msgspec.json.Decoder(dict).decode
    end = 0
    for element in elements:
        raw = bytes(element)
        # Only a comma and white space separate elements, so the first occurrence is the element.
        start = text.index(raw, end)
        line += text.count(b"\n", end, start)
        try:
            yield line, decode(raw), ""
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield line, None, json_fault(error, raw)
        line += raw.count(b"\n")
        end = start + len(raw)


# -- CSV ------------------------------------------------------------------------------------------


# Python's limit of 131,072 characters per field is too small; but without any limit an open quote
# would swallow the rest of the file, however large, before it is noticed.
_FIELD_SIZE = 1 << 26


def csv_rows(source: InputFile) -> Iterator[Record]:
    """Yield the rows of a CSV file as lists of text, each with its first line; skip blank rows."""
    if csv.field_size_limit() < _FIELD_SIZE:  # a setting of the whole process
        csv.field_size_limit(_FIELD_SIZE)
    feed = _Feed(source)
    reader = csv.reader(feed, strict=True)
    while True:
        feed.row.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            # An open quote swallows what follows: report its line only, and read the others again.
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
    """Lines for csv.reader: keeps those of the current row, and can return lines to the input."""

    def __init__(self, source: InputFile) -> None:
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


def csv_header(rows: Iterator[Record], source: InputFile) -> list[str]:
    """Return the names in the first row; none if the file is empty."""
    _, names, fault = next(rows, (1, [], ""))
    twice = [name for i, name in enumerate(names or ()) if name and name in names[:i]]
    if fault or twice:
        reason = fault or f"two columns are named {twice[0]!r}; rename one"
        # Without a line number: the header is not a bad line that could be skipped.
        raise InputError(f"in the header: {reason}", source.name)
    header: list[str] = names
    return header


def count_fault(header: list[str], fields: list[str]) -> str:
    """Return what is wrong with a row whose length differs from the header's; "" if equal."""
    if len(fields) == len(header):
        return ""
    plural = "" if len(fields) == 1 else "s"
    return f"{len(fields)} field{plural} where the header has {len(header)}"
