"""The values of one attribute over a batch of events, as Arrow arrays of a few canonical types.

Two ways in: Python objects (`columns_of_dicts`) and Arrow arrays of any type
(`columns_of_arrow`). Both flatten objects to paths, and both give every value the type that
`values.to_value` gives it; the Arrow side does so a column at a time, without copying what is
canonical already. They share a file because each needs the other's notion of a column: what
Arrow has no kernel for, such as a union, goes through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError
from tamis.paths import Path, path_text
from tamis.schema import is_arrow_list
from tamis.values import OPAQUE, Timestamp, Type, Value, to_value, type_of

MAX_DEPTH = 100

ARROW: dict[Type, pa.DataType] = {
    Type.BOOL: pa.bool_(),
    Type.INT: pa.int64(),
    Type.DBL: pa.float64(),
    Type.STR: pa.string(),
    Type.TIMESTAMP: pa.timestamp("us", "UTC"),
    Type.INT_LIST: pa.list_(pa.int64()),
    Type.STR_LIST: pa.list_(pa.string()),
    Type.OPAQUE: pa.bool_(),
}


class Column(NamedTuple):
    """The values of one type that one attribute has in a batch.

    Attributes:
        type: Their type.
        data: One slot per event, of the Arrow type `ARROW[type]`; null where the event has no
            value of this type here. OPAQUE is true where something opaque is. The array may be
            a slice of a larger one (`offset`), and what lies under a null means nothing.

    An empty list, or a list of NULLs alone, is of either list type: it may stand in either column.
    """

    type: Type
    data: pa.Array


Columns: TypeAlias = dict[Path, tuple[Column, ...]]

# Which attributes to read, as a tree of names: None is everything, {} an attribute itself and
# nothing inside it, {"city": …} some things inside it and not itself.
Wanted: TypeAlias = "dict[str, Wanted] | None"


def columns_of_dicts(events: Sequence[Mapping[str, object]], wanted: Wanted = None) -> Columns:
    """The columns of events given as mappings.

    Raises:
        EventError: A value that Tamis cannot hold, a name that is not text, too deep a nesting.
    """
    found: Columns = {}
    _flatten_dicts(range(len(events)), events, (), wanted, len(events), found)
    return found


def columns_of_arrow(
    names: Sequence[str], arrays: Iterable[pa.Array], wanted: Wanted = None
) -> Columns:
    """The columns of events given as Arrow arrays, chunked or not.

    Raises:
        EventError: A value that Tamis cannot hold, two arrays of one name, too deep a nesting.
    """
    found: Columns = {}
    _flatten_fields(names, arrays, (), wanted, found)
    return found


def array_of(kind: Type, values: Sequence[Value]) -> pa.Array:
    """The canonical array of values that are all of one type, or None.

    Raises:
        Exception: Whatever Arrow raises where a value does not fit.
    """
    if kind is Type.OPAQUE:
        array = pa.array([None if value is None else True for value in values], pa.bool_())
    elif kind is Type.TIMESTAMP:
        micros = [value.micros if isinstance(value, Timestamp) else None for value in values]
        array = pa.array(micros, pa.int64()).view(ARROW[kind])
    else:
        array = pa.array(values, ARROW[kind])
    return _one_piece(array)


def values_of(column: Column) -> list[Value]:
    """The other way round: a column as Python values, None where it is null."""
    if column.type is Type.TIMESTAMP:
        # As numbers: Python's datetime ends with the year 9999, a column does not.
        micros = column.data.view(pa.int64()).to_pylist()
        return [None if instant is None else Timestamp(instant) for instant in micros]
    if column.type is Type.OPAQUE:
        return [None if there is None else OPAQUE for there in column.data.to_pylist()]
    values: list[Value] = column.data.to_pylist()
    return values


# -- Python objects -------------------------------------------------------------------------------

# Exact types whose values need no look by to_value: Arrow refuses what does not fit.
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
    wanted: Wanted,
    length: int,
    found: Columns,
) -> None:
    if len(above) >= MAX_DEPTH:
        raise EventError(_TOO_DEEP, rows[0], path_text(above[:1]))
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
        except Exception as error:  # somebody's Mapping, which can raise anything
            raise EventError(f"cannot be read: {error!r}", row, path_text(above)) from error
    for name, (places, raws) in cells.items():
        inside = None if wanted is None else wanted[name]
        _flatten_values(places, raws, (*above, name), inside, length, found)


def _flatten_values(
    rows: Sequence[int],
    raws: Sequence[object],
    path: Path,
    wanted: Wanted,
    length: int,
    found: Columns,
) -> None:
    if not raws:
        return
    if not wanted:
        with _blaming(path):
            columns = _columns_of_values(rows, raws, length)
        if columns:
            found[path] = columns
    objects = {kind for kind in set(map(type, raws)) if issubclass(kind, Mapping)}
    if objects:
        inner = [(row, raw) for row, raw in zip(rows, raws, strict=True) if type(raw) in objects]
        places, mappings = zip(*inner, strict=True)
        _flatten_dicts(places, mappings, path, wanted, length, found)


def _columns_of_values(
    rows: Sequence[int], raws: Sequence[object], length: int
) -> tuple[Column, ...]:
    """Columns of values, none of them None, that stand at the given rows; objects are opaque."""
    only = _only_type(raws)
    groups = {only: (rows, raws)} if only else _by_type(rows, raws)
    return tuple(
        Column(kind, _spread(_built(kind, places, values), places, length))
        for kind, (places, values) in groups.items()
    )


def _only_type(raws: Sequence[Any]) -> Type | None:
    """The type of all of them, if that can be told without a look at each in Python."""
    kinds = set(map(type, raws))
    if kinds == {list}:
        elements = set(map(type, chain.from_iterable(raws))) - {type(None)}
        if elements <= {int}:
            return Type.INT_LIST
        return Type.STR_LIST if elements == {str} else None
    return _EXACT.get(kinds.pop()) if len(kinds) == 1 else None


def _by_type(
    rows: Sequence[int], raws: Sequence[object]
) -> dict[Type, tuple[Sequence[int], Sequence[object]]]:
    groups: dict[Type, tuple[list[int], list[object]]] = {}
    for row, raw in zip(rows, raws, strict=True):
        kind = _EXACT.get(type(raw))
        if kind is None:
            try:
                raw = to_value(raw)
                kind = type_of(raw)
            except Exception as error:  # any object at all may be here, with any __getattr__
                raise EventError(_reason(error), row) from error
            if kind is None:
                continue
        places, values = groups.setdefault(kind, ([], []))
        places.append(row)
        values.append(raw)
    return dict(groups)


def _built(kind: Type, rows: Sequence[int], raws: Sequence[object]) -> pa.Array:
    try:
        return array_of(kind, raws)  # type: ignore[arg-type]
    except Exception as error:
        # One bad value spoils the array: only now look for it.
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
    """Values at increasing rows as an array with a slot for every row."""
    if len(array) == length:
        return array
    places = np.full(length, -1, np.int64)
    places[np.asarray(rows)] = np.arange(len(array))
    return array.take(pa.array(places, mask=places < 0))


# -- Arrow arrays ---------------------------------------------------------------------------------


def _flatten_fields(
    names: Sequence[str], arrays: Iterable[pa.Array], above: Path, wanted: Wanted, found: Columns
) -> None:
    if len(above) >= MAX_DEPTH:
        raise EventError(_TOO_DEEP, attribute=path_text(above[:1]))
    seen: set[str] = set()
    for name, array in zip(names, arrays, strict=True):
        if wanted is not None and name not in wanted:
            continue
        path = (*above, name)
        if name in seen:
            raise EventError("two columns have this name", attribute=path_text(path))
        seen.add(name)
        _flatten_array(array, path, None if wanted is None else wanted[name], found)


def _flatten_array(array: pa.Array, path: Path, wanted: Wanted, found: Columns) -> None:
    with _blaming(path):
        _validate(array)
        plain = _plain(array)
        if plain is None:
            rows, raws = _python_values(array)
        elif not wanted:
            columns = _columns_of_plain(plain)
            if columns:
                found[path] = columns
    if plain is None:
        _flatten_values(rows, raws, path, wanted, len(array), found)
    elif pa.types.is_struct(plain.type):
        # flatten() and not field(): a null object has no fields, whatever lies under it.
        with _blaming(path):
            names = [field.name for field in plain.type]
        _flatten_fields(names, plain.flatten(), path, wanted, found)


def _validate(array: pa.Array) -> None:
    """Refuse an array that is not what its type says; Arrow believes whoever made it."""
    kind = array.type
    # What lies inside a struct has its turn later, and only if it is wanted. Numbers and instants
    # need no look, and of a date64 Arrow would want whole days, wherever it is.
    if pa.types.is_struct(kind) or pa.types.is_primitive(kind) or "date64" in str(kind):
        array.validate()
        return
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        # Text that no event has, such as what a slice leaves out of its lists, does no harm.
        row = _first_undecodable(array)
        if row is not None:
            raise EventError("text is not valid UTF-8", row) from None


def _first_undecodable(array: pa.Array) -> int | None:
    start, end = 0, len(array)
    if _decodable(array):
        return None
    while end - start > 1:  # the first bad row is among these
        middle = (start + end) // 2
        if _decodable(array.slice(start, middle - start)):
            start = middle
        else:
            end = middle
    return start


def _decodable(array: pa.Array) -> bool:
    try:
        array.to_pylist()
    except UnicodeDecodeError:
        return False
    return True


def _plain(array: pa.Array) -> pa.Array | None:
    """The array in one piece, with extensions and encodings taken off.

    None if that takes Python: a union, or a kernel that this Arrow does not have.
    """
    try:
        if isinstance(array, pa.ChunkedArray):
            array = _one_piece(array)
        while True:
            kind = array.type
            if isinstance(kind, pa.BaseExtensionType):
                array = array.storage
                if kind.extension_name == "arrow.bool8":
                    array = pc.not_equal(array, 0)
            elif pa.types.is_dictionary(kind):
                values = array.dictionary
                if pa.types.is_string_view(values.type):  # which Arrow cannot take() from
                    values = values.cast(pa.string())
                array = values.take(array.indices)
            elif pa.types.is_run_end_encoded(kind):
                array = pc.run_end_decode(array)
            else:
                return None if pa.types.is_union(kind) else array
    except pa.ArrowNotImplementedError:
        return None


def _one_piece(array: pa.Array) -> pa.Array:
    if not isinstance(array, pa.ChunkedArray):
        return array
    # combine_chunks() copies even where there is a single chunk.
    whole = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        raise EventError("more than 2 GiB of text in one batch; cut it into smaller ones")
    return whole


def _python_values(array: pa.Array) -> tuple[list[int], list[object]]:
    values = [(row, raw) for row, raw in enumerate(array.to_pylist()) if raw is not None]
    return [row for row, _ in values], [raw for _, raw in values]


def _columns_of_array(array: pa.Array) -> tuple[Column, ...]:
    """Columns of an array of any type; objects are opaque."""
    plain = _plain(array)
    if plain is None:
        return _columns_of_values(*_python_values(array), len(array))
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
        return (Column(Type.INT, _checked(lambda a: a.cast(pa.int64()), array)),)
    if t.is_floating(arrow):
        return (Column(Type.DBL, array.cast(pa.float64())),)
    if t.is_large_string(arrow) or t.is_string_view(arrow):
        return (Column(Type.STR, array.cast(pa.string())),)
    if t.is_timestamp(arrow) or t.is_date(arrow):
        return (Column(Type.TIMESTAMP, _checked(_to_timestamp, array)),)
    there = array.is_valid()
    return _split([(Type.OPAQUE, there, there)])


def _checked(convert: Callable[[pa.Array], pa.Array], array: pa.Array) -> pa.Array:
    try:
        return convert(array)
    except pa.ArrowInvalid as error:
        good, bad = 0, len(array)  # so many from the start can be converted, so many cannot
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                convert(array.slice(0, middle))
                good = middle
            except pa.ArrowInvalid:
                bad = middle
        raise EventError(f"{_shown(array, good)} does not fit into 64 bits", good) from error


def _shown(array: pa.Array, row: int) -> str:
    if pa.types.is_integer(array.type):
        return f"integer {array[row].as_py()}"
    number = array.slice(row, 1).view(pa.int32() if array.type == pa.date32() else pa.int64())
    return f"{array.type} {number[0].as_py()}, in microseconds,"


# To microseconds: divide by the first, rounding down, and multiply by the second.
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
    # The zone says how to show an instant, not which one it is; without a zone it is UTC.
    unit = pa.timestamp(arrow.unit) if pa.types.is_timestamp(arrow) else arrow
    divisor, factor = _MICROSECONDS[unit]
    steps = array.view(pa.int32()).cast(pa.int64()) if arrow == pa.date32() else array.view("int64")
    if divisor > 1:
        # Arrow divides towards zero; an instant before 1970 rounds down like any other.
        floored = _as_numpy(pc.fill_null(steps, 0)) // divisor
        steps = pa.array(floored, mask=_as_numpy(steps.is_null()))
    if factor > 1:
        steps = pc.multiply_checked(steps, factor)
    return steps.view(ARROW[Type.TIMESTAMP])


def _decimal_columns(array: pa.Array) -> tuple[Column, ...]:
    scale = array.type.scale
    if not 0 <= scale <= 57:  # an int64 times 10^57 is the most that 76 digits hold
        return _columns_of_values(*_python_values(array), len(array))
    wide = array.cast(pa.decimal256(76, scale))
    integers = wide.cast(pa.int64(), safe=False)
    # What is not whole, or is beyond 64 bits, does not come back the same.
    whole = pc.equal(integers.cast(wide.type), wide)
    # Through text: the direct cast to double is not correctly rounded.
    doubles = array.cast(pa.string()).cast(pa.float64())
    return _split([(Type.INT, integers, whole), (Type.DBL, doubles, pc.invert(whole))])


def _list_columns(array: pa.Array) -> tuple[Column, ...]:
    """A list takes its type from its elements, so one array can hold lists of several types."""
    lengths = _as_numpy(pc.fill_null(pc.list_value_length(array), 0))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if offsets[-1] >= 2**31:
        raise EventError("more than 2^31 list elements in one batch; cut it into smaller ones")
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
    # Which lists have an element of INT, of STR, of anything else.
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
    """One column of each array, holding what the condition beside it is true of."""
    return tuple(
        Column(kind, pc.if_else(where, array, pa.scalar(None, array.type)))
        for kind, array, where in parts
        if pc.any(where).as_py()
    )


def _as_numpy(array: pa.Array) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = array.to_numpy(zero_copy_only=False)
    return numbers


# -- errors ---------------------------------------------------------------------------------------

_TOO_DEEP = f"objects nest deeper than {MAX_DEPTH}"


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Whatever goes wrong inside is an EventError about this attribute."""
    try:
        yield
    except EventError as error:
        raise EventError(error.reason, error.event, path_text(path)) from error
    except (pa.ArrowException, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise EventError(f"cannot be read: {error}", attribute=path_text(path)) from error
