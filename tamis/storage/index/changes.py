"""The changes of a matcher, as its log has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from tamis.errors import InputError
from tamis.matches import Id
from tamis.storage.index.subscription_records import Reader, Subscriptions

Change: TypeAlias = tuple[Any, ...]

_ADDED, _REMOVED = "+", "-"


def addition(id: Id, selector: str, priority: int) -> Change:
    """From now on this is the subscription of an id, whatever was before."""
    return (_ADDED, id, selector, priority)


def removal(id: Id) -> Change:
    """From now on there is none."""
    return (_REMOVED, id)


def replay(changes: Iterable[Change], subscriptions: Subscriptions, read: Reader) -> None:
    """Make changes again. Some of what they did may be there already; what comes out is the same.

    Raises:
        TamisError: One that cannot be made, so it never was.
    """
    for what, id, *rest in changes:
        if what not in (_ADDED, _REMOVED):
            raise InputError(f"{what!r} is no change that this Tamis knows")
        if id in subscriptions:
            subscriptions.remove(id)
        if what == _ADDED:
            text, priority = rest
            subscriptions.add(read(id, text, priority))
