"""A column: the values of one attribute over a batch of events, as an Arrow array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from tamis.errors import EventError
from tamis.paths import Path, path_text
from tamis.values import OPAQUE, Timestamp, Type, Value

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
            value of this type here. OPAQUE is true where the event has an opaque value. The array
            may be a slice of a larger one (`offset`), and slots that are null may hold anything.

    An empty list, or a list of NULLs only, is of either list type: it may be in either column.
    """

    type: Type
    data: pa.Array


Columns: TypeAlias = dict[Path, tuple[Column, ...]]

# Which attributes to read, as a tree of names: None is everything, {} is the attribute itself
# without its fields, {"city": …} is some of its fields without the attribute itself.
AttributeTree: TypeAlias = "dict[str, AttributeTree] | None"


def array_of(kind: Type, values: Sequence[Value]) -> pa.Array:
    """Return the canonical array of values that are all of one type, or None.

    Raises:
        Exception: An error of Arrow, if a value does not fit.
    """
    if kind is Type.OPAQUE:
        array = pa.array([None if value is None else True for value in values], pa.bool_())
    elif kind is Type.TIMESTAMP:
        micros = [value.micros if isinstance(value, Timestamp) else None for value in values]
        array = pa.array(micros, pa.int64()).view(ARROW[kind])
    else:
        array = pa.array(values, ARROW[kind])
    return to_one_chunk(array)


def values_of(column: Column) -> list[Value]:
    """Return a column as Python values, None where it is null; the inverse of `array_of`."""
    if column.type is Type.TIMESTAMP:
        # As numbers: columns hold years beyond 9999, the last one of Python's datetime.
        micros = column.data.view(pa.int64()).to_pylist()
        return [None if instant is None else Timestamp(instant) for instant in micros]
    if column.type is Type.OPAQUE:
        return [None if there is None else OPAQUE for there in column.data.to_pylist()]
    values: list[Value] = column.data.to_pylist()
    return values


def to_one_chunk(array: pa.Array) -> pa.Array:
    """Return the chunks of an array as one array."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    # combine_chunks() copies even a single chunk.
    whole = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        raise EventError("more than 2 GiB of text in one batch; split it into smaller ones")
    return whole


TOO_DEEP = f"objects nest deeper than {MAX_DEPTH}"


@contextmanager
def wrap_event_errors(path: Path) -> Iterator[None]:
    """Turn errors into an EventError about this attribute."""
    try:
        yield
    except EventError as error:
        raise EventError(error.reason, error.event, path_text(path)) from error
    except (pa.ArrowException, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise EventError(f"cannot be read: {error}", attribute=path_text(path)) from error
