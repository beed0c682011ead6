"""The changes of a matcher, as they are in its log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from tamis.errors import InputError
from tamis.matches import Id
from tamis.storage.index.subscription_records import Reader, Subscriptions

Change: TypeAlias = tuple[Any, ...]

_ADDED, _REMOVED = "+", "-"


def addition(id: Id, selector: str, priority: int) -> Change:
    """Return the change that adds a subscription, or replaces the one with this id."""
    return (_ADDED, id, selector, priority)


def removal(id: Id) -> Change:
    """Return the change that removes a subscription."""
    return (_REMOVED, id)


def replay(changes: Iterable[Change], subscriptions: Subscriptions, read: Reader) -> None:
    """Apply changes. Some may be applied already; the result is the same.

    Raises:
        TamisError: A change cannot be applied; a log that a matcher wrote has none.
    """
    for what, id, *rest in changes:
        if what not in (_ADDED, _REMOVED):
            raise InputError(f"unknown kind of change {what!r}")
        if id in subscriptions:
            subscriptions.remove(id)
        if what == _ADDED:
            text, priority = rest
            subscriptions.add(read(id, text, priority))
