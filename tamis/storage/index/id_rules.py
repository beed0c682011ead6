"""What an id and a priority may be."""

from __future__ import annotations

from tamis.errors import SubscriptionError
from tamis.matches import Id
from tamis.values import INT_MAX, INT_MIN


def checked_id(id: Id) -> Id:
    """An id that there may be.

    Raises:
        KeyError: It cannot be one.
    """
    if not is_id(id):
        raise KeyError(id)
    return id


def check_new(id: Id, priority: int, other: Id | None) -> None:
    """See that a subscription may have this id and this priority.

    Args:
        id: The id.
        priority: The priority.
        other: An id that there is, if it is of the other kind.

    Raises:
        SubscriptionError: It may not.
    """
    if not is_id(id):
        raise SubscriptionError("an id is a non-empty string or a 64-bit integer", id)
    if isinstance(id, str):
        _check_text(id)
    check_kind(id, other)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise SubscriptionError(f"a priority is an integer, not {priority!r}", id)
    if not INT_MIN <= priority <= INT_MAX:
        raise SubscriptionError("the priority does not fit into 64 bits", id)


def check_kind(id: Id, other: Id | None) -> None:
    """See that an id is of the kind of the others; `other` is one that it is unlike, if any.

    Raises:
        SubscriptionError: It is not.
    """
    if other is not None:
        raise SubscriptionError(f"ids are all strings or all integers, as {other!r} is", id)


def is_id(id: object) -> bool:
    """Whether it can be an id: a text, or an integer of 64 bits."""
    if isinstance(id, str):
        return id != ""
    return isinstance(id, int) and not isinstance(id, bool) and INT_MIN <= id <= INT_MAX


def _check_text(id: str) -> None:
    try:
        id.encode()
    except UnicodeEncodeError:
        raise SubscriptionError("the id holds a lone surrogate", id) from None
