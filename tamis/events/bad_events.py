"""Isolate the bad events of a batch.

A batch is processed as a whole, because that is fast, and one bad event fails all of it. Such a
batch is split into parts again and again until each part is good or is one bad event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from tamis.errors import EventError

# Splitting by eight takes about as many attempts as halving if few events are bad, and fewer if
# many are: a row of a batch of 32,768 is tried at most six times.
_PARTS = 8

_Result = TypeVar("_Result")
_Error = TypeVar("_Error", bound=Exception)


class RowSlices(Protocol):
    """Events that can be sliced: a list, an Arrow array or an Arrow record batch."""

    def __len__(self) -> int:
        """Return the number of rows."""
        ...

    def __getitem__(self, rows: slice, /) -> Any:
        """Return some of the rows."""
        ...


def isolate_bad(
    rows: RowSlices,
    process: Callable[[Any], _Result],
    errors: type[_Error] | tuple[type[_Error], ...],
) -> Iterator[tuple[Any, _Result | _Error]]:
    """Process rows in as few parts as possible, and set each row that fails apart.

    >>> def invert(numbers):
    ...     return [1 / number for number in numbers]
    >>> for part, outcome in isolate_bad([4, 2, 0], invert, ZeroDivisionError):
    ...     print(part, outcome)
    [4] [0.25]
    [2] [0.5]
    [0] division by zero

    Args:
        rows: The events.
        process: Called with a slice of the rows; it raises if one of them is bad. It must
            have no effect when it raises, because the rows are processed again in parts.
        errors: The exceptions that mean a bad row. Others are raised; with `()` all are.

    Yields:
        The parts in order, none of them empty. Each comes with the result of `process`, or, if it
        is one bad row, with the exception.
    """
    if not len(rows):
        return
    try:
        result = process(rows)
    except errors as error:
        if len(rows) == 1:
            yield rows, error
            return
    else:
        yield rows, result
        return
    size = -(-len(rows) // _PARTS)
    for start in range(0, len(rows), size):
        yield from isolate_bad(rows[start : start + size], process, errors)


def first_bad_row(
    rows: RowSlices, process: Callable[[Any], object], error: type[Exception]
) -> int | None:
    """Return the position of the first row that `process` rejects; None if there is none."""
    position = 0
    for part, outcome in isolate_bad(rows, process, error):
        if isinstance(outcome, error):
            return position
        position += len(part)
    return None


def row_faults(rows: RowSlices, batch_of: Callable[[Any], object]) -> dict[int, str]:
    """Return the rows that cannot be events, by position, with the reason.

    Args:
        rows: The rows.
        batch_of: Converts some of them to a batch; raises EventError if it cannot.
    """
    faults: dict[int, str] = {}
    position = 0
    for part, outcome in isolate_bad(rows, batch_of, EventError):
        if isinstance(outcome, EventError):
            attribute = f"attribute {outcome.attribute!r}: " if outcome.attribute else ""
            faults[position] = attribute + outcome.reason
        position += len(part)
    return faults
