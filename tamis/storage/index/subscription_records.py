"""The subscriptions of a matcher by id: where they are kept, and that engine and record agree.

An engine that has a record of its own is asked again: a tree takes some kilobytes, the text of its
selector a hundred bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from tamis.engines import Engine
from tamis.engines.protocol import RecordingEngine
from tamis.engines.subscription import Subscription
from tamis.matches import Id

# From an id, a text and a priority that were accepted once, the subscription.
Reader = Callable[[Id, str, int], Subscription]


class Subscriptions(Protocol):
    """What the engine holds. Ids are of the right kind: the caller sees to it."""

    def add(self, subscription: Subscription) -> None:
        """Give the engine a subscription of a new id; if it refuses, nothing has changed."""

    def remove(self, id: Id) -> None:
        """Take one away; KeyError if there is none."""

    def __getitem__(self, id: Id) -> Subscription:
        """A subscription by its id; KeyError if there is none."""

    def __contains__(self, id: Id) -> bool:
        """Whether there is one."""

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding."""

    def __len__(self) -> int:
        """How many there are."""

    def restorer(self, id: Id) -> Callable[[], None]:
        """What adds one again once it has been removed; KeyError if there is none."""

    def conflicting_id(self, id: Id) -> Id | None:
        """An id that is a string where this one is an integer, or the other way round, if any."""


def subscriptions_of(engine: Engine, read: Reader) -> Subscriptions:
    """The subscriptions of an engine that has none yet."""
    return (
        EngineSubscriptions(engine, engine, read)
        if isinstance(engine, RecordingEngine)
        else DictSubscriptions(engine)
    )


class DictSubscriptions:
    """For engines that keep no texts: a dictionary beside them."""

    def __init__(self, engine: Engine) -> None:
        """Begin with none."""
        self._engine = engine
        self._by_id: dict[Id, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        """Give the engine a subscription."""
        self._engine.add(subscription)
        self._by_id[subscription.id] = subscription

    def remove(self, id: Id) -> None:
        """Take one away."""
        if id not in self._by_id:
            raise KeyError(id)
        self._engine.remove(id)
        del self._by_id[id]

    def __getitem__(self, id: Id) -> Subscription:
        """A subscription by its id."""
        return self._by_id[id]

    def __contains__(self, id: Id) -> bool:
        """Whether there is one."""
        return id in self._by_id

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding."""
        return iter(self._by_id)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._by_id)

    def restorer(self, id: Id) -> Callable[[], None]:
        """What adds one again."""
        return partial(self.add, self._by_id[id])

    def conflicting_id(self, id: Id) -> Id | None:
        """An id of the other kind, if there is any."""
        return other_if_mixed(id, next(iter(self._by_id), id))


class EngineSubscriptions:
    """For engines that keep texts: read again when somebody wants to see a subscription."""

    def __init__(self, engine: Engine, record: RecordingEngine, read: Reader) -> None:
        """Take the engine, twice: as what it does, and as what it knows."""
        self._engine = engine
        self._record = record
        self._read = read
        # Whether ids are strings, as far as is known; looking at one takes time in a large engine.
        self._textual: bool | None = None

    def add(self, subscription: Subscription) -> None:
        """Give the engine a subscription."""
        self._engine.add(subscription)

    def remove(self, id: Id) -> None:
        """Take one away."""
        self._engine.remove(id)

    def __getitem__(self, id: Id) -> Subscription:
        """A subscription by its id."""
        return self._read(id, *self._record.text(id))

    def __contains__(self, id: Id) -> bool:
        """Whether there is one."""
        return id in self._record

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding."""
        return iter(self._record)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._record)

    def restorer(self, id: Id) -> Callable[[], None]:
        """What adds one again; it is read only then."""
        text, priority = self._record.text(id)
        return lambda: self.add(self._read(id, text, priority))

    def conflicting_id(self, id: Id) -> Id | None:
        """An id of the other kind, if there is any."""
        if isinstance(id, str) is self._textual:
            return None
        other = next(iter(self._record), None)
        # An id that is asked about need not come: only those that are there tell.
        self._textual = None if other is None else isinstance(other, str)
        return None if other is None else other_if_mixed(id, other)


def other_if_mixed(id: Id, other: Id) -> Id | None:
    """The other id, if one of the two is a string and one an integer."""
    return other if isinstance(id, str) is not isinstance(other, str) else None
