"""The rows of subscriptions that `lint` and `diff` accept."""

from __future__ import annotations

from tamis.errors import InputError
from tamis.matches import Id

Row = tuple[Id, str] | tuple[Id, str, int]


def checked_row(row: object) -> tuple[Id, str, int]:
    """Return the id, the selector and the priority of a row; the default priority is 0.

    Raises:
        InputError: It is not such a tuple.
    """
    if isinstance(row, tuple) and len(row) in (2, 3) and isinstance(row[1], str):
        return row[0], row[1], row[2] if len(row) == 3 else 0
    raise InputError("a subscription is a tuple (id, selector) or (id, selector, priority)")
