"""The routing table of a broker: the interests per address, and so where an event goes.

There are two kinds. `FilterTable` uses Bloom filters (DEBS 2008, §4.3-4.5) and may return an
address that does not want the event. `EngineTable` uses any engine and is exact. Neither ever omits
an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tamis.bloom.bfposet import BFPoset
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.bloom.sbstree import SbsTree
from tamis.engines.protocol import Engine
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.language.evaluate import Event
from tamis.language.expr import And, BoolExpr
from tamis.routing.interest import Interest


class Table(Protocol):
    """The common part of all tables; they differ in how events are looked up."""

    def insert(self, interest: Interest, address: str) -> None:
        """Add an interest that an address does not have yet."""

    def remove(self, interest: Interest, address: str) -> None:
        """Remove an interest.

        Raises:
            KeyError: The address does not have it.
        """

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the table."""


class NoTable:
    """An empty table, for routers that never look up events."""

    def insert(self, interest: Interest, address: str) -> None:
        """Do nothing."""

    def remove(self, interest: Interest, address: str) -> None:
        """Do nothing."""

    def sizes(self) -> dict[str, int]:
        """Return no sizes."""
        return {}


class CatchAllAddresses:
    """Addresses that receive every event, because they have an interest no table can hold."""

    def __init__(self) -> None:
        """Start without addresses."""
        self._wanted: dict[str, dict[Interest, None]] = {}

    @property
    def addresses(self) -> set[str]:
        """The addresses."""
        return set(self._wanted)

    def insert(self, interest: Interest, address: str) -> None:
        """Add an interest of an address."""
        self._wanted.setdefault(address, {})[interest] = None

    def remove(self, interest: Interest, address: str) -> None:
        """Remove an interest of an address."""
        del self._wanted[address][interest]
        if not self._wanted[address]:
            del self._wanted[address]


class FilterTable:
    """A table of a bfposet and an sbstree.

    >>> table = FilterTable(Shape(16384, 4))
    >>> table.insert(Interest.parse("x > 5 AND y = 0"), "north")
    >>> one, other = table.match([{"x": 7, "y": 0}, {"x": 7}])
    >>> table.forward([Bloom.from_bytes(one.to_bytes()), other, one], [None, None, "north"])
    [{'north'}, set(), set()]

    Attributes:
        poset: The predicates.
        tree: The filters.
    """

    def __init__(self, shape: Shape) -> None:
        """Create an empty table.

        Args:
            shape: The shape of filters, the same at all brokers.
        """
        self.poset = BFPoset(shape)
        self.tree = SbsTree(shape)
        self._catch_all = CatchAllAddresses()

    def insert(self, interest: Interest, address: str) -> None:
        """Add an interest that an address does not have yet."""
        if interest.conjunctions is None:
            self._catch_all.insert(interest, address)
            return
        for conjunction in interest.conjunctions:
            stored = self.poset.hold(conjunction)
            self.tree.insert(self.poset.filter_of_stored(stored), address)

    def remove(self, interest: Interest, address: str) -> None:
        """Remove an interest.

        Raises:
            KeyError: The address does not have it.
        """
        if interest.conjunctions is None:
            self._catch_all.remove(interest, address)
            return
        for conjunction in interest.conjunctions:
            self.tree.remove(self.poset.filter_of(conjunction), address)
            self.poset.unsubscribe(conjunction, address)

    def match(self, events: Iterable[Event]) -> list[Bloom]:
        """Return the filter of each event: of all stored predicates that it satisfies."""
        return self.poset.match_many(events)

    def narrow_filters(self, filters: Sequence[Bloom], without: str | None = None) -> list[Bloom]:
        """Reduce events' filters to the bits of matching filters, ignoring those of one address."""
        return self.tree.narrow_filters(filters, without)

    def forward(self, filters: Sequence[Bloom], sources: Sequence[str | None]) -> list[set[str]]:
        """Return the addresses for each event's filter, without the event's source.

        Raises:
            InputError: A filter has another shape.
        """
        addresses: list[set[str]] = self.tree.publish_each(filters, sources)  # type: ignore[assignment]
        catch_all = self._catch_all.addresses
        if catch_all:
            pairs = zip(addresses, sources, strict=True)
            addresses = [(each | catch_all) - {source} for each, source in pairs]
        return addresses

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the table."""
        return {
            "predicates": len(self.poset),
            "nodes": self.tree.nodes,
            "bytes": self.tree.nbytes,
        }


class EngineTable:
    """A table that matches with any engine.

    >>> from tamis.engines.baselines.brute import BruteEngine
    >>> table = EngineTable(BruteEngine)
    >>> table.insert(Interest.parse("x > 5"), "north")
    >>> table.forward([{"x": 7}, {"x": 3}])
    [{'north'}, set()]
    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        """Create an empty table.

        Args:
            engine: Creates the engine, such as `tamis.engines.ENGINES["siena"]`.
        """
        self._engine = engine()
        self._catch_all = CatchAllAddresses()
        self._numbers: dict[tuple[str, str], list[int]] = {}
        self._addresses: dict[int, str] = {}
        self._next = 0

    def insert(self, interest: Interest, address: str) -> None:
        """Add an interest that an address does not have yet."""
        # Some engines support conjunctions only.
        numbers = self._add_conditions([interest.condition], address)
        if numbers is None and interest.conjunctions is not None:
            numbers = self._add_conditions([And(each) for each in interest.conjunctions], address)
        if numbers is None:
            self._catch_all.insert(interest, address)
        else:
            self._numbers[address, interest.text] = numbers

    def remove(self, interest: Interest, address: str) -> None:
        """Remove an interest.

        Raises:
            KeyError: The address does not have it.
        """
        numbers = self._numbers.pop((address, interest.text), None)
        if numbers is None:
            self._catch_all.remove(interest, address)
        else:
            self._remove_numbers(numbers)

    def _add_conditions(self, conditions: list[BoolExpr], address: str) -> list[int] | None:
        """Add conditions to the engine; return their numbers, or None if one is unsupported."""
        numbers: list[int] = []
        for condition in conditions:
            try:
                self._engine.add(Subscription(self._next, "", 0, condition))
            except UnsupportedExpression:
                self._remove_numbers(numbers)
                return None
            numbers.append(self._next)
            self._addresses[self._next] = address
            self._next += 1
        return numbers

    def _remove_numbers(self, numbers: list[int]) -> None:
        for number in numbers:
            self._engine.remove(number)
            del self._addresses[number]

    def forward(self, events: Sequence[Event]) -> list[set[str]]:
        """Return the addresses for each event."""
        matches = self._engine.match(EventBatch.of([dict(event) for event in events]))
        addresses = [self._catch_all.addresses for _ in events]
        pairs = zip(matches.event.tolist(), matches.subscription.tolist(), strict=True)
        for event, number in pairs:
            addresses[event].add(self._addresses[number])
        return addresses

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the table."""
        return {"entries": len(self._addresses)}
