"""Convert Arrow arrays of any type to columns, without copying those that are canonical already.

Every value gets the type that `values.to_value` gives it. Types for which Arrow has no kernel, such
as unions, are converted in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError
from tamis.events.bad_events import first_bad_row
from tamis.events.column import (
    ARROW,
    MAX_DEPTH,
    TOO_DEEP,
    AttributeTree,
    Column,
    Columns,
    to_one_chunk,
    wrap_event_errors,
)
from tamis.events.dicts import columns_of_values, flatten_values
from tamis.paths import Path, path_text
from tamis.schema import is_arrow_list
from tamis.values import Type


def columns_of_arrow(
    names: Sequence[str], arrays: Iterable[pa.Array], wanted: AttributeTree = None
) -> Columns:
    """Return the columns of events given as Arrow arrays, chunked or not.

    Raises:
        EventError: A value that Tamis cannot represent, two arrays of the same name, or objects
            that nest too deep.
    """
    found: Columns = {}
    _flatten_fields(names, arrays, (), wanted, found)
    return found


def _flatten_fields(
    names: Sequence[str],
    arrays: Iterable[pa.Array],
    above: Path,
    wanted: AttributeTree,
    found: Columns,
) -> None:
    if len(above) >= MAX_DEPTH:
        raise EventError(TOO_DEEP, attribute=path_text(above[:1]))
    seen: set[str] = set()
    for name, array in zip(names, arrays, strict=True):
        if wanted is not None and name not in wanted:
            continue
        path = (*above, name)
        if name in seen:
            raise EventError("two columns have this name", attribute=path_text(path))
        seen.add(name)
        _flatten_array(array, path, None if wanted is None else wanted[name], found)


def _flatten_array(array: pa.Array, path: Path, wanted: AttributeTree, found: Columns) -> None:
    with wrap_event_errors(path):
        _validate(array)
        plain = _plain_array(array)
        if plain is None:
            rows, raws = _python_values(array)
        elif not wanted:
            columns = _columns_of_plain(plain)
            if columns:
                found[path] = columns
    if plain is None:
        flatten_values(rows, raws, path, wanted, len(array), found)
    elif pa.types.is_struct(plain.type):
        # flatten(), not field(): a null object has no fields, whatever its slots hold.
        with wrap_event_errors(path):
            names = [field.name for field in plain.type]
        _flatten_fields(names, plain.flatten(), path, wanted, found)


def _validate(array: pa.Array) -> None:
    """Reject an array that does not conform to its type; Arrow itself does not check."""
    kind = array.type
    # The fields of a struct are validated later, and only those that are needed. Numbers and
    # instants need no validation, and for a date64, at any depth, Arrow would insist on whole days.
    if pa.types.is_struct(kind) or pa.types.is_primitive(kind) or "date64" in str(kind):
        array.validate()
        return
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        # Invalid text that no event has, such as in a list that a slice leaves out, does no harm.
        row = first_bad_row(array, lambda part: part.to_pylist(), UnicodeDecodeError)
        if row is not None:
            raise EventError("text is not valid UTF-8", row) from None


def _plain_array(array: pa.Array) -> pa.Array | None:
    """Return the array as one chunk, without extension types and encodings.

    None if that needs Python: a union, or a kernel that this version of Arrow lacks.
    """
    try:
        if isinstance(array, pa.ChunkedArray):
            array = to_one_chunk(array)
        while True:
            kind = array.type
            if isinstance(kind, pa.BaseExtensionType):
                array = array.storage
                if kind.extension_name == "arrow.bool8":
                    array = pc.not_equal(array, 0)
            elif pa.types.is_dictionary(kind):
                values = array.dictionary
                if pa.types.is_string_view(values.type):  # Arrow cannot take() from these
                    values = values.cast(pa.string())
                array = values.take(array.indices)
            elif pa.types.is_run_end_encoded(kind):
                array = pc.run_end_decode(array)
            else:
                return None if pa.types.is_union(kind) else array
    except pa.ArrowNotImplementedError:
        return None


def _python_values(array: pa.Array) -> tuple[list[int], list[object]]:
    values = [(row, raw) for row, raw in enumerate(array.to_pylist()) if raw is not None]
    return [row for row, _ in values], [raw for _, raw in values]


def _columns_of_array(array: pa.Array) -> tuple[Column, ...]:
    """Return the columns of an array of any type; objects are opaque."""
    plain = _plain_array(array)
    if plain is None:
        return columns_of_values(*_python_values(array), len(array))
    return _columns_of_plain(plain)


def _columns_of_plain(array: pa.Array) -> tuple[Column, ...]:
    if array.null_count == len(array):
        return ()
    for kind, arrow in ARROW.items():
        if array.type == arrow:
            return (Column(kind, array),)
    t = pa.types
    arrow = array.type
    if t.is_decimal(arrow):
        return _decimal_columns(array)
    if is_arrow_list(arrow):
        return _list_columns(array)
    if t.is_integer(arrow):
        return (Column(Type.INT, _convert_array(lambda a: a.cast(pa.int64()), array)),)
    if t.is_floating(arrow):
        return (Column(Type.DBL, array.cast(pa.float64())),)
    if t.is_large_string(arrow) or t.is_string_view(arrow):
        return (Column(Type.STR, array.cast(pa.string())),)
    if t.is_timestamp(arrow) or t.is_date(arrow):
        return (Column(Type.TIMESTAMP, _convert_array(_to_timestamp, array)),)
    there = array.is_valid()
    return _split([(Type.OPAQUE, there, there)])


def _convert_array(convert: Callable[[pa.Array], pa.Array], array: pa.Array) -> pa.Array:
    try:
        return convert(array)
    except pa.ArrowInvalid as error:
        row = first_bad_row(array, convert, pa.ArrowInvalid)
        if row is None:
            raise
        raise EventError(f"{_value_text(array, row)} does not fit into 64 bits", row) from error


def _value_text(array: pa.Array, row: int) -> str:
    if pa.types.is_integer(array.type):
        return f"integer {array[row].as_py()}"
    number = array.slice(row, 1).view(pa.int32() if array.type == pa.date32() else pa.int64())
    return f"{array.type} {number[0].as_py()}, in microseconds,"


# To get microseconds, divide by the first, rounding down, and multiply by the second.
_MICROSECONDS = {
    pa.timestamp("s"): (1, 1_000_000),
    pa.timestamp("ms"): (1, 1_000),
    pa.timestamp("us"): (1, 1),
    pa.timestamp("ns"): (1_000, 1),
    pa.date32(): (1, 86_400_000_000),
    pa.date64(): (86_400_000, 86_400_000_000),
}


def _to_timestamp(array: pa.Array) -> pa.Array:
    arrow = array.type
    # A zone affects how an instant is shown, not which one it is; without a zone it is UTC.
    unit = pa.timestamp(arrow.unit) if pa.types.is_timestamp(arrow) else arrow
    divisor, factor = _MICROSECONDS[unit]
    steps = array.view(pa.int32()).cast(pa.int64()) if arrow == pa.date32() else array.view("int64")
    if divisor > 1:
        # Arrow rounds towards zero; an instant before 1970 must round down like any other.
        floored = _as_numpy(pc.fill_null(steps, 0)) // divisor
        steps = pa.array(floored, mask=_as_numpy(steps.is_null()))
    if factor > 1:
        steps = pc.multiply_checked(steps, factor)
    return steps.view(ARROW[Type.TIMESTAMP])


def _decimal_columns(array: pa.Array) -> tuple[Column, ...]:
    scale = array.type.scale
    if not 0 <= scale <= 57:  # an int64 times 10^57 just fits into 76 digits
        return columns_of_values(*_python_values(array), len(array))
    wide = array.cast(pa.decimal256(76, scale))
    integers = wide.cast(pa.int64(), safe=False)
    # A number that is not whole, or is beyond 64 bits, does not survive the round trip.
    whole = pc.equal(integers.cast(wide.type), wide)
    # Through text: the direct cast to double is not correctly rounded.
    doubles = array.cast(pa.string()).cast(pa.float64())
    return _split([(Type.INT, integers, whole), (Type.DBL, doubles, pc.invert(whole))])


def _list_columns(array: pa.Array) -> tuple[Column, ...]:
    """Return the columns of lists: one array can hold several types, by the lists' elements."""
    lengths = _as_numpy(pc.fill_null(pc.list_value_length(array), 0))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if offsets[-1] >= 2**31:
        raise EventError("more than 2^31 list elements in one batch; split it into smaller ones")
    owners = np.repeat(np.arange(len(array)), lengths)
    elements = array.flatten()
    try:
        columns = _columns_of_array(elements)
    except EventError as error:
        owner = None if error.event is None else int(owners[error.event])
        raise EventError(error.reason, owner) from error
    data = {
        Type.INT: pa.nulls(len(elements), pa.int64()),
        Type.STR: pa.nulls(len(elements), pa.string()),
    } | dict(columns)
    # Whether each list has an element of INT, of STR, of any other type.
    has_int, has_str, has_other = np.zeros((3, len(array)), bool)
    for kind, values in columns:
        has = {Type.INT: has_int, Type.STR: has_str}.get(kind, has_other)
        has[owners[_as_numpy(values.is_valid())]] = True
    there = _as_numpy(array.is_valid())
    of_int = there & ~has_str & ~has_other
    of_str = there & has_str & ~has_int & ~has_other
    opaque = pa.array(there & ~of_int & ~of_str)
    starts = pa.array(offsets, pa.int32())
    lists = [pa.ListArray.from_arrays(starts, data[kind]) for kind in (Type.INT, Type.STR)]
    return _split(
        [
            (Type.INT_LIST, lists[0], pa.array(of_int)),
            (Type.STR_LIST, lists[1], pa.array(of_str)),
            (Type.OPAQUE, opaque, opaque),
        ]
    )


def _split(parts: Iterable[tuple[Type, pa.Array, pa.Array]]) -> tuple[Column, ...]:
    """Return one column per array, with the values for which the condition beside it is true."""
    return tuple(
        Column(kind, pc.if_else(where, array, pa.scalar(None, array.type)))
        for kind, array, where in parts
        if pc.any(where).as_py()
    )


def _as_numpy(array: pa.Array) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = array.to_numpy(zero_copy_only=False)
    return numbers
