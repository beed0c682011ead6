"""The table of a broker: who wants what, and so where an event goes.

Two kinds: `FilterTable` goes by Bloom filters (DEBS 2008, §4.3-4.5), and may name an address that
wants nothing of the event; `EngineTable` has any engine, and does not. Neither ever leaves one out.
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
    """What all tables have in common; how they are asked is not."""

    def insert(self, interest: Interest, address: str) -> None:
        """Take what an address wants and did not want before."""

    def remove(self, interest: Interest, address: str) -> None:
        """Take it back.

        Raises:
            KeyError: It is not there.
        """

    def sizes(self) -> dict[str, int]:
        """How large it is."""


class NoTable:
    """For those who do not ask."""

    def insert(self, interest: Interest, address: str) -> None:
        """Forget it."""

    def remove(self, interest: Interest, address: str) -> None:
        """Forget it."""

    def sizes(self) -> dict[str, int]:
        """There is nothing."""
        return {}


class CatchAllAddresses:
    """Addresses that are sent every event: they want something that a table cannot hold."""

    def __init__(self) -> None:
        """Begin with none."""
        self._wanted: dict[str, dict[Interest, None]] = {}

    @property
    def addresses(self) -> set[str]:
        """Them."""
        return set(self._wanted)

    def insert(self, interest: Interest, address: str) -> None:
        """Take what an address wants."""
        self._wanted.setdefault(address, {})[interest] = None

    def remove(self, interest: Interest, address: str) -> None:
        """Take it back."""
        del self._wanted[address][interest]
        if not self._wanted[address]:
            del self._wanted[address]


class FilterTable:
    """bfposet and sbstree.

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
        """Begin with nothing.

        Args:
            shape: The shape of filters: the same at all brokers.
        """
        self.poset = BFPoset(shape)
        self.tree = SbsTree(shape)
        self._catch_all = CatchAllAddresses()

    def insert(self, interest: Interest, address: str) -> None:
        """Take what an address wants and did not want before."""
        if interest.conjunctions is None:
            self._catch_all.insert(interest, address)
            return
        for conjunction in interest.conjunctions:
            held = self.poset.hold(conjunction)
            self.tree.insert(self.poset.filter_of_stored(held), address)

    def remove(self, interest: Interest, address: str) -> None:
        """Take it back.

        Raises:
            KeyError: It is not there.
        """
        if interest.conjunctions is None:
            self._catch_all.remove(interest, address)
            return
        for conjunction in interest.conjunctions:
            self.tree.remove(self.poset.filter_of(conjunction), address)
            self.poset.unsubscribe(conjunction, address)

    def match(self, events: Iterable[Event]) -> list[Bloom]:
        """The filters of events: of each, all of the predicates here that hold."""
        return self.poset.match_many(events)

    def narrow_filters(self, filters: Sequence[Bloom], without: str | None = None) -> list[Bloom]:
        """What the filters of all others than one address can ask for of events' filters."""
        return self.tree.narrow_filters(filters, without)

    def forward(self, filters: Sequence[Bloom], sources: Sequence[str | None]) -> list[set[str]]:
        """Where each of some events goes, by its filter; not to where it came from.

        Raises:
            InputError: A filter is of another shape.
        """
        found: list[set[str]] = self.tree.publish_each(filters, sources)  # type: ignore[assignment]
        everything = self._catch_all.addresses
        if everything:
            pairs = zip(found, sources, strict=True)
            found = [(each | everything) - {source} for each, source in pairs]
        return found

    def sizes(self) -> dict[str, int]:
        """How large it is."""
        return {
            "predicates": len(self.poset),
            "nodes": self.tree.nodes,
            "bytes": self.tree.nbytes,
        }


class EngineTable:
    """Any engine.

    >>> from tamis.engines.baselines.brute import BruteEngine
    >>> table = EngineTable(BruteEngine)
    >>> table.insert(Interest.parse("x > 5"), "north")
    >>> table.forward([{"x": 7}, {"x": 3}])
    [{'north'}, set()]
    """

    def __init__(self, engine: Callable[[], Engine]) -> None:
        """Begin with nothing.

        Args:
            engine: Makes the engine, such as `tamis.engines.ENGINES["siena"]`.
        """
        self._engine = engine()
        self._catch_all = CatchAllAddresses()
        self._numbers: dict[tuple[str, str], list[int]] = {}
        self._addresses: dict[int, str] = {}
        self._next = 0

    def insert(self, interest: Interest, address: str) -> None:
        """Take what an address wants and did not want before."""
        # Some engines know conjunctions only.
        numbers = self._add_conditions([interest.condition], address)
        if numbers is None and interest.conjunctions is not None:
            numbers = self._add_conditions([And(each) for each in interest.conjunctions], address)
        if numbers is None:
            self._catch_all.insert(interest, address)
        else:
            self._numbers[address, interest.text] = numbers

    def remove(self, interest: Interest, address: str) -> None:
        """Take it back.

        Raises:
            KeyError: It is not there.
        """
        numbers = self._numbers.pop((address, interest.text), None)
        if numbers is None:
            self._catch_all.remove(interest, address)
        else:
            self._remove_numbers(numbers)

    def _add_conditions(self, conditions: list[BoolExpr], address: str) -> list[int] | None:
        """The numbers under which an engine has them; None if there is one that it cannot take."""
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
        """Where each of some events goes."""
        matches = self._engine.match(EventBatch.of([dict(event) for event in events]))
        found = [self._catch_all.addresses for _ in events]
        pairs = zip(matches.event.tolist(), matches.subscription.tolist(), strict=True)
        for event, number in pairs:
            found[event].add(self._addresses[number])
        return found

    def sizes(self) -> dict[str, int]:
        """How large it is."""
        return {"entries": len(self._addresses)}
