"""Convert events given as mappings to columns, one for each path and type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.errors import EventError
from tamis.events.column import (
    MAX_DEPTH,
    TOO_DEEP,
    AttributeTree,
    Column,
    Columns,
    array_of,
    wrap_event_errors,
)
from tamis.paths import Path, path_text
from tamis.values import Type, to_value, type_of


def columns_of_dicts(
    events: Sequence[Mapping[str, object]], wanted: AttributeTree = None
) -> Columns:
    """Return the columns of events given as mappings.

    Raises:
        EventError: A value that Tamis cannot represent, a name that is not text, or objects that
            nest too deep.
    """
    found: Columns = {}
    _flatten_dicts(range(len(events)), events, (), wanted, len(events), found)
    return found


# Exact types whose values need not go through to_value: Arrow rejects what does not fit.
_EXACT: dict[type, Type] = {
    bool: Type.BOOL,
    int: Type.INT,
    float: Type.DBL,
    str: Type.STR,
    dict: Type.OPAQUE,
}


def _flatten_dicts(
    rows: Sequence[int],
    mappings: Sequence[Mapping[str, object]],
    above: Path,
    wanted: AttributeTree,
    length: int,
    found: Columns,
) -> None:
    if len(above) >= MAX_DEPTH:
        raise EventError(TOO_DEEP, rows[0], path_text(above[:1]))
    cells: dict[str, tuple[list[int], list[object]]] = {name: ([], []) for name in wanted or ()}
    for row, mapping in zip(rows, mappings, strict=True):
        try:
            for name, raw in mapping.items():  # white-hot: once per value
                cell = cells.get(name)
                if cell is None:
                    if wanted is not None:
                        continue
                    if not isinstance(name, str):
                        reason = f"attribute names are text, not {type(name).__name__}"
                        raise EventError(reason, row, path_text(above))
                    cell = cells[str.__str__(name)] = ([], [])
                if raw is not None:
                    cell[0].append(row)
                    cell[1].append(raw)
        except EventError:
            raise
        except Exception as error:  # a user's Mapping can raise anything
            raise EventError(f"cannot be read: {error!r}", row, path_text(above)) from error
    for name, (places, raws) in cells.items():
        inside = None if wanted is None else wanted[name]
        flatten_values(places, raws, (*above, name), inside, length, found)


def flatten_values(
    rows: Sequence[int],
    raws: Sequence[object],
    path: Path,
    wanted: AttributeTree,
    length: int,
    found: Columns,
) -> None:
    """Convert the values at the given rows to columns, and the fields of objects likewise."""
    if not raws:
        return
    if not wanted:
        with wrap_event_errors(path):
            columns = columns_of_values(rows, raws, length)
        if columns:
            found[path] = columns
    objects = {kind for kind in set(map(type, raws)) if issubclass(kind, Mapping)}
    if objects:
        inner = [(row, raw) for row, raw in zip(rows, raws, strict=True) if type(raw) in objects]
        places, mappings = zip(*inner, strict=True)
        _flatten_dicts(places, mappings, path, wanted, length, found)


def columns_of_values(
    rows: Sequence[int], raws: Sequence[object], length: int
) -> tuple[Column, ...]:
    """Return the columns of values at the given rows, none of them None; objects are opaque."""
    only = _only_type(raws)
    groups = {only: (rows, raws)} if only else _group_by_type(rows, raws)
    return tuple(
        Column(kind, _spread(_build_array(kind, places, values), places, length))
        for kind, (places, values) in groups.items()
    )


def _only_type(raws: Sequence[Any]) -> Type | None:
    """Return the type of all values, if that needs no inspection of each value in Python."""
    kinds = set(map(type, raws))
    if kinds == {list}:
        elements = set(map(type, chain.from_iterable(raws))) - {type(None)}
        if elements <= {int}:
            return Type.INT_LIST
        return Type.STR_LIST if elements == {str} else None
    return _EXACT.get(kinds.pop()) if len(kinds) == 1 else None


def _group_by_type(
    rows: Sequence[int], raws: Sequence[object]
) -> dict[Type, tuple[Sequence[int], Sequence[object]]]:
    groups: dict[Type, tuple[list[int], list[object]]] = {}
    for row, raw in zip(rows, raws, strict=True):
        kind = _EXACT.get(type(raw))
        if kind is None:
            try:
                raw = to_value(raw)
                kind = type_of(raw)
            except Exception as error:  # it may be any object, with any __getattr__
                raise EventError(_reason(error), row) from error
            if kind is None:
                continue
        places, values = groups.setdefault(kind, ([], []))
        places.append(row)
        values.append(raw)
    return dict(groups)


def _build_array(kind: Type, rows: Sequence[int], raws: Sequence[object]) -> pa.Array:
    try:
        return array_of(kind, raws)  # type: ignore[arg-type]
    except Exception as error:
        # One bad value fails the whole array: find it only now.
        for row, raw in zip(rows, raws, strict=True):
            try:
                array_of(kind, [to_value(raw)])
            except Exception as fault:
                raise EventError(_reason(fault), row) from fault
        raise EventError(_reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, EventError):
        return error.reason
    return str(error) if isinstance(error, ValueError) else f"cannot be read: {error!r}"


def _spread(array: pa.Array, rows: Sequence[int], length: int) -> pa.Array:
    """Spread values at increasing rows over an array with a slot for every row."""
    if len(array) == length:
        return array
    places = np.full(length, -1, np.int64)
    places[np.asarray(rows)] = np.arange(len(array))
    return array.take(pa.array(places, mask=places < 0))
