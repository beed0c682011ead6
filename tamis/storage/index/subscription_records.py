"""The subscriptions of a matcher by id, kept consistent with the engine.

If the engine keeps the texts of selectors, they are parsed again on access: an expression tree
takes some kilobytes, the text of its selector a hundred bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from tamis.engines import Engine
from tamis.engines.protocol import RecordingEngine
from tamis.engines.subscription import Subscription
from tamis.matches import Id

# Parses a subscription from an id, a text and a priority that were accepted before.
Reader = Callable[[Id, str, int], Subscription]


class Subscriptions(Protocol):
    """The subscriptions that the engine holds. The caller ensures that ids have the right type."""

    def add(self, subscription: Subscription) -> None:
        """Add a subscription with a new id; if the engine refuses it, nothing changes."""

    def remove(self, id: Id) -> None:
        """Remove a subscription; KeyError if none has this id."""

    def __getitem__(self, id: Id) -> Subscription:
        """Return a subscription by its id; KeyError if none has it."""

    def __contains__(self, id: Id) -> bool:
        """Return whether a subscription has this id."""

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion."""

    def __len__(self) -> int:
        """Return the number of subscriptions."""

    def restorer(self, id: Id) -> Callable[[], None]:
        """Return a function that adds a removed subscription again; KeyError if none has the id."""

    def conflicting_id(self, id: Id) -> Id | None:
        """Return an existing id of the other type, string or integer, if there is one."""


def subscriptions_of(engine: Engine, read: Reader) -> Subscriptions:
    """Return the subscriptions of an engine without any."""
    return (
        EngineSubscriptions(engine, engine, read)
        if isinstance(engine, RecordingEngine)
        else DictSubscriptions(engine)
    )


class DictSubscriptions:
    """Subscriptions in a dictionary, for engines that do not keep texts."""

    def __init__(self, engine: Engine) -> None:
        """Start without subscriptions."""
        self._engine = engine
        self._by_id: dict[Id, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        """Add a subscription."""
        self._engine.add(subscription)
        self._by_id[subscription.id] = subscription

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        if id not in self._by_id:
            raise KeyError(id)
        self._engine.remove(id)
        del self._by_id[id]

    def __getitem__(self, id: Id) -> Subscription:
        """Return a subscription by its id."""
        return self._by_id[id]

    def __contains__(self, id: Id) -> bool:
        """Return whether a subscription has this id."""
        return id in self._by_id

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion."""
        return iter(self._by_id)

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._by_id)

    def restorer(self, id: Id) -> Callable[[], None]:
        """Return a function that adds the subscription again."""
        return partial(self.add, self._by_id[id])

    def conflicting_id(self, id: Id) -> Id | None:
        """Return an existing id of the other type, if there is one."""
        return other_if_mixed(id, next(iter(self._by_id), id))


class EngineSubscriptions:
    """Subscriptions that are parsed on access, for engines that keep their texts."""

    def __init__(self, engine: Engine, record: RecordingEngine, read: Reader) -> None:
        """Take the engine twice: as an engine, and as the record of its texts."""
        self._engine = engine
        self._record = record
        self._read = read
        # Whether ids are strings, if known; finding an id is slow in a large engine.
        self._textual: bool | None = None

    def add(self, subscription: Subscription) -> None:
        """Add a subscription."""
        self._engine.add(subscription)

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        self._engine.remove(id)

    def __getitem__(self, id: Id) -> Subscription:
        """Return a subscription by its id."""
        return self._read(id, *self._record.text(id))

    def __contains__(self, id: Id) -> bool:
        """Return whether a subscription has this id."""
        return id in self._record

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion."""
        return iter(self._record)

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._record)

    def restorer(self, id: Id) -> Callable[[], None]:
        """Return a function that adds the subscription again; it is parsed only then."""
        text, priority = self._record.text(id)
        return lambda: self.add(self._read(id, text, priority))

    def conflicting_id(self, id: Id) -> Id | None:
        """Return an existing id of the other type, if there is one."""
        if isinstance(id, str) is self._textual:
            return None
        other = next(iter(self._record), None)
        # Derived from an existing id: the one in question may never be added.
        self._textual = None if other is None else isinstance(other, str)
        return None if other is None else other_if_mixed(id, other)


def other_if_mixed(id: Id, other: Id) -> Id | None:
    """Return the other id if one of the two is a string and the other an integer."""
    return other if isinstance(id, str) is not isinstance(other, str) else None
