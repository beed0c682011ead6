"""Rows of subscriptions as users pass them: tuples, or an Arrow table."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from tamis.errors import InputError, TamisError, shorten
from tamis.matches import Id

Row = tuple[Id, str] | tuple[Id, str, int]


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that `add_many` rejected."""

    row: int
    id: object
    error: TamisError


@dataclass(slots=True)
class AddResult:
    """The result of `add_many`: the number of rows it added, and those it rejected."""

    count: int = 0
    rejected: list[RejectedRow] = field(default_factory=list)


def rows_of(rows: Iterable[Row] | pa.Table | pa.RecordBatch) -> Iterable[object]:
    """Iterate over rows in any of their forms.

    Raises:
        InputError: They have another form.
    """
    if not isinstance(rows, pa.Table | pa.RecordBatch):
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise InputError(f"rows must be tuples or an Arrow table, not {type(rows).__name__}")
        return rows
    names = rows.schema.names
    for name in ("id", "selector"):
        if name not in names:
            raise InputError(f"the table has no column {name!r}; it has {', '.join(names)}")
    columns = [_column(rows, name) for name in ("id", "selector")]
    if "priority" in names:
        columns.append([0 if p is None else p for p in _column(rows, "priority")])
    return zip(*columns, strict=True)


def _column(rows: pa.Table | pa.RecordBatch, name: str) -> list[object]:
    if rows.schema.names.count(name) > 1:
        raise InputError(f"the table has two columns {name!r}")
    try:
        values: list[object] = rows.column(name).to_pylist()
    except UnicodeDecodeError:
        raise InputError(f"the column {name!r} contains text that is not UTF-8") from None
    return values


def parts_of(row: object) -> tuple[Id, str, int]:
    """Return the id, selector and priority of a row.

    Raises:
        InputError: It has another shape.
    """
    if not isinstance(row, tuple | list) or not 2 <= len(row) <= 3:
        shown = shorten(repr(row))
        raise InputError(f"a row must be (id, selector) or (id, selector, priority), not {shown}")
    return row[0], row[1], row[2] if len(row) == 3 else 0


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause Python's cycle collector while many trees are created.

    They hold no cycles, so the collector would scan all of them again and again for nothing: a
    quarter of the time of a bulk load.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
