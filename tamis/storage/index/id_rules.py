"""The rules for ids and priorities."""

from __future__ import annotations

from tamis.errors import SubscriptionError
from tamis.matches import Id
from tamis.values import INT_MAX, INT_MIN


def checked_id(id: Id) -> Id:
    """Return the id if it is valid.

    Raises:
        KeyError: It is not.
    """
    if not is_id(id):
        raise KeyError(id)
    return id


def check_new(id: Id, priority: int, other: Id | None) -> None:
    """Check the id and the priority of a new subscription.

    Args:
        id: The id.
        priority: The priority.
        other: An existing id of the other type, string or integer, if there is one.

    Raises:
        SubscriptionError: One of them is invalid.
    """
    if not is_id(id):
        raise SubscriptionError("an id must be a non-empty string or a 64-bit integer", id)
    if isinstance(id, str):
        _check_text(id)
    check_kind(id, other)
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise SubscriptionError(f"a priority must be an integer, not {priority!r}", id)
    if not INT_MIN <= priority <= INT_MAX:
        raise SubscriptionError("the priority does not fit into 64 bits", id)


def check_kind(id: Id, other: Id | None) -> None:
    """Check that an id has the type of the others; `other` is one of another type, if any.

    Raises:
        SubscriptionError: It has not.
    """
    if other is not None:
        raise SubscriptionError(f"ids must be all strings or all integers, like {other!r}", id)


def is_id(id: object) -> bool:
    """Return whether a value can be an id: non-empty text, or an integer of 64 bits."""
    if isinstance(id, str):
        return id != ""
    return isinstance(id, int) and not isinstance(id, bool) and INT_MIN <= id <= INT_MAX


def _check_text(id: str) -> None:
    try:
        id.encode()
    except UnicodeEncodeError:
        raise SubscriptionError(
            "the id contains a lone surrogate, which is not valid Unicode", id
        ) from None
