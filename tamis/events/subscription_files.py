"""Read subscriptions from files: JSON lines, CSV, Parquet, or one selector per line.

Lines are numbered as in `records`, and bad ones are handled alike. Selectors are not parsed here:
that is for the Matcher, which has the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tamis.errors import InputError, shorten
from tamis.events.csv_columns import is_int
from tamis.events.records import (
    BadLine,
    InputFile,
    OnBad,
    Record,
    check_bad,
    count_fault,
    csv_header,
    csv_rows,
    json_records,
    report_bad_line,
)
from tamis.matches import Id


class SubscriptionRow(NamedTuple):
    """A subscription from a file, and its line."""

    id: Id
    selector: str
    priority: int
    line: int


def read_subscriptions(
    path: str | Path, bad: str = "fail", on_bad: OnBad = None
) -> Iterator[SubscriptionRow]:
    """Read a file of subscriptions.

    `.jsonl`, `.ndjson` and `.json` hold objects with `id`, `selector` and, optionally, `priority`
    (0 if absent or null); `.csv` and `.parquet` hold columns of these names; other fields are
    ignored. The ids of a CSV file are integers if all of them look like integers, otherwise text.
    Any other file is plain text: one selector per line, with its line number as its id; blank lines
    and lines that begin with `#` are skipped. All but Parquet also with `.gz`; `-` is JSON lines on
    standard input.

    Args:
        path: The file, or `-` for standard input.
        bad: With "fail" the first bad line raises; with "skip" bad lines are skipped.
        on_bad: Called with each bad line that is skipped.

    Raises:
        InputError: The file cannot be read, or a line is bad and `bad` is "fail".
    """
    check_bad(bad)
    source = InputFile(path)
    return _rows(source, bad, on_bad)


def _rows(source: InputFile, bad: str, on_bad: OnBad) -> Iterator[SubscriptionRow]:
    for line, row, fault in _READERS[source.format](source):
        fault = fault or _fault(row)
        if fault:
            report_bad_line(BadLine(source.name, line, fault), bad, on_bad)
            continue
        priority = row.get("priority")
        yield SubscriptionRow(row["id"], row["selector"], 0 if priority is None else priority, line)


def _fault(row: dict[str, Any]) -> str:
    id, selector, priority = row.get("id"), row.get("selector"), row.get("priority")
    if id is None or id == "":
        return "has no id; give it one, a string or an integer"
    if isinstance(id, bool) or not isinstance(id, str | int):
        return f"an id is a string or an integer, not {shorten(repr(id))}"
    if selector is None or selector == "":
        return f"subscription {id!r} has no selector"
    if not isinstance(selector, str):
        return f"subscription {id!r}: a selector is text, not {shorten(repr(selector))}"
    if priority is not None and (isinstance(priority, bool) or not isinstance(priority, int)):
        return f"subscription {id!r}: a priority is an integer, not {shorten(repr(priority))}"
    return ""


# -- formats --------------------------------------------------------------------------------------


def _json(source: InputFile) -> Iterator[Record]:
    return (record for record in json_records(source) if record is not None)


def _csv(source: InputFile) -> Iterator[Record]:
    rows = csv_rows(source)
    header = csv_header(rows, source)
    _check_columns(header, source)
    # The whole file, because the last id may show that the ids are text.
    records: list[Record] = []
    for line, fields, fault in rows:
        fault = fault or count_fault(header, fields)
        row = {} if fault else dict(zip(header, fields, strict=True))
        priority = row.get("priority")
        if priority is not None:
            # A priority that is not an integer stays text, which _fault rejects.
            row["priority"] = int(priority) if is_int(priority) else priority or None
        records.append((line, row, fault))
    if all(fault or is_int(row["id"]) or not row["id"] for _, row, fault in records):
        for _, row, fault in records:
            if not fault and row["id"]:
                row["id"] = int(row["id"])
    return iter(records)


def _parquet(source: InputFile) -> Iterator[Record]:
    import pyarrow.parquet as pq

    with source.wrap_errors():
        file = pq.ParquetFile(source.path)
        names = file.schema_arrow.names
        _check_columns(names, source)
        wanted = [name for name in ("id", "selector", "priority") if name in names]
        row = 0
        for batch in file.iter_batches(columns=wanted):
            for record in batch.to_pylist():
                row += 1
                yield row, record, ""


def _check_columns(names: list[str], source: InputFile) -> None:
    for name in ("id", "selector"):
        if name not in names:
            found = ", ".join(filter(None, names)) or "none"
            raise InputError(f"there is no column {name!r}; the columns are {found}", source.name)


def _text(source: InputFile) -> Iterator[Record]:
    for item in source.lines():
        if item is None or not item[1].strip() or item[1].lstrip().startswith(b"#"):
            continue
        line, raw = item
        try:
            yield line, {"id": line, "selector": raw.decode().rstrip("\r\n")}, ""
        except UnicodeDecodeError:
            yield line, None, "not valid UTF-8"


_READERS = {"jsonl": _json, "json": _json, "csv": _csv, "parquet": _parquet, "": _text}
