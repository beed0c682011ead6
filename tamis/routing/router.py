"""A broker's part in routing: what it tells its neighbours, and where it sends an event.

A broker has interfaces: one to each neighbour, and one to its own subscribers. What it has been
told over an interface is wanted there; a neighbour is told what all *other* interfaces want, or
enough of it. The brokers of one network have routers of one strategy (`strategies.py`).

Pure: messages are what methods give back, to be carried in order by whoever calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from tamis.bloom.filter import Bloom
from tamis.errors import InputError
from tamis.language.evaluate import Event
from tamis.routing.interest import Interest
from tamis.routing.routing_table import Table

HERE: Final = ""  # the interface of a broker's own subscribers


class InterestUpdate(NamedTuple):
    """A message to a neighbour.

    Attributes:
        neighbour: Whom it is for.
        interest: What it is about.
        wanted: Whether that is wanted from now on, or no longer.
    """

    neighbour: str
    interest: Interest
    wanted: bool


class Route(NamedTuple):
    """Where an event goes.

    Attributes:
        neighbours: To whom it is sent on.
        here: Whether one of the broker's own subscribers may want it; whoever delivers it checks.
        bloom: The filter that it carries from here on, if it carries one.
    """

    neighbours: frozenset[str]
    here: bool
    bloom: Bloom | None = None


Destinations = tuple[set[str], Bloom | None]


class Router(ABC):
    """What all strategies share: who wants what.

    Attributes:
        evaluations: How many events were held against predicates in order to route them.
    """

    strategy: ClassVar[str]

    def __init__(self, table: Table) -> None:
        """Begin without neighbours, and with nothing that anybody wants.

        Args:
            table: An empty one.
        """
        self.evaluations = 0
        self._table = table
        self._wanted: dict[str, dict[str, Interest]] = {HERE: {}}
        self._times: dict[str, int] = {}  # how many of its own subscribers want each text
        self._holders: dict[Interest, dict[str, None]] = {}

    # -- neighbours -------------------------------------------------------------------------------

    @property
    def neighbours(self) -> frozenset[str]:
        """The names of all neighbours."""
        return frozenset(self._wanted) - {HERE}

    def join(self, neighbour: str) -> list[InterestUpdate]:
        """A link is there: what to tell the new neighbour.

        Raises:
            InputError: It has no name, or is a neighbour already.
        """
        if neighbour == HERE:
            raise InputError("a neighbour needs a name")
        if neighbour in self._wanted:
            raise InputError(f"{neighbour!r} is a neighbour already")
        self._wanted[neighbour] = {}
        self._add_neighbour(neighbour)
        for interest in self._holders:
            self._announce(neighbour, interest)
        return [
            InterestUpdate(neighbour, interest, True)
            for interest in self.advertised_interests(neighbour).values()
        ]

    def leave(self, neighbour: str) -> list[InterestUpdate]:
        """A link is gone, with all that was wanted over it: what to tell the others.

        Raises:
            InputError: It is no neighbour.
        """
        self._check(neighbour)
        told: list[InterestUpdate] = []
        for interest in list(self._wanted[neighbour].values()):
            told += self.unsubscribe(interest, neighbour)
        del self._wanted[neighbour]
        self._remove_neighbour(neighbour)
        return [each for each in told if each.neighbour != neighbour]

    # -- interests --------------------------------------------------------------------------------

    def subscribe(self, interest: Interest, source: str = HERE) -> list[InterestUpdate]:
        """Something is wanted: what to tell whom.

        Own subscribers are counted. A neighbour may say the same again: it is said once.

        Raises:
            InputError: The source is no neighbour.
        """
        if source == HERE:
            self._times[interest.text] = self._times.get(interest.text, 0) + 1
        else:
            self._check(source)
        if interest.text in self._wanted[source]:
            return []
        self._table.insert(interest, source)
        self._wanted[source][interest.text] = interest
        holders = self._holders.setdefault(interest, {})
        holders[source] = None
        told: list[InterestUpdate] = []
        # Whoever is the first to want it is news to all others; the second, to the first.
        fresh = self.neighbours if len(holders) == 1 else holders if len(holders) == 2 else ()
        for neighbour in sorted(fresh):
            if neighbour not in (source, HERE):
                told += self._announce(neighbour, interest)
        return told

    def unsubscribe(self, interest: Interest, source: str = HERE) -> list[InterestUpdate]:
        """Something is no longer wanted: what to tell whom, in this order.

        Raises:
            KeyError: It was not wanted there; nothing has changed.
            InputError: The source is no neighbour.
        """
        if source != HERE:
            self._check(source)
        if interest.text not in self._wanted[source]:
            raise KeyError((interest, source))
        if source == HERE:
            self._times[interest.text] -= 1
            if self._times[interest.text]:
                return []
            del self._times[interest.text]
        del self._wanted[source][interest.text]
        self._table.remove(interest, source)
        holders = self._holders[interest]
        del holders[source]
        told: list[InterestUpdate] = []
        stale = self.neighbours if not holders else holders if len(holders) == 1 else ()
        for neighbour in sorted(stale):
            if neighbour not in (source, HERE):
                told += self._withdraw(neighbour, interest)
        if not holders:
            del self._holders[interest]
        return told

    def wanted_interests(self, source: str = HERE) -> Mapping[str, Interest]:
        """All that is wanted over an interface, by text.

        Raises:
            InputError: The source is no neighbour.
        """
        if source != HERE:
            self._check(source)
        return MappingProxyType(self._wanted[source])

    @abstractmethod
    def advertised_interests(self, neighbour: str) -> dict[str, Interest]:
        """All that a neighbour is to know, by text."""

    # -- events -----------------------------------------------------------------------------------

    def route(self, event: Event, source: str = HERE, bloom: Bloom | None = None) -> Route:
        """Where an event goes; never back to where it came from.

        Args:
            event: Its values, those that a schema fills in among them.
            source: The interface that it came from.
            bloom: The filter that it carried.

        Raises:
            InputError: The filter is not of this network's shape.
        """
        return self.route_many([event], [source], [bloom])[0]

    def route_many(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Route]:
        """The same for some events, each with its own source and filter: quicker than one by one.

        Raises:
            InputError: A filter is not of this network's shape.
        """
        found = self._find_destinations(events, sources, filters)
        return [
            Route(frozenset(faces - {HERE, source}), HERE in faces, bloom)
            for (faces, bloom), source in zip(found, sources, strict=True)
        ]

    # -- introspection ----------------------------------------------------------------------------

    def sizes(self) -> dict[str, object]:
        """How large it is.

        Returns:
            `wanted` per interface, `told` per neighbour, and what the strategy's table says.
        """
        return {
            "wanted": {source: len(found) for source, found in self._wanted.items()},
            "told": {
                neighbour: len(self.advertised_interests(neighbour))
                for neighbour in sorted(self.neighbours)
            },
            **self._table.sizes(),
        }

    # -- what strategies differ in ----------------------------------------------------------------

    @abstractmethod
    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        """The interfaces that may want each event, and the filter that it carries on.

        One that it came from need not be among them.
        """

    @abstractmethod
    def _announce(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        """What a neighbour is told when another interface is the first to want something."""

    @abstractmethod
    def _withdraw(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        """What a neighbour is told when no other interface wants it any more."""

    def _add_neighbour(self, neighbour: str) -> None:  # noqa: B027  # most do nothing
        """A neighbour is new."""

    def _remove_neighbour(self, neighbour: str) -> None:  # noqa: B027
        """A neighbour is gone."""

    def _check(self, neighbour: str) -> None:
        if neighbour == HERE or neighbour not in self._wanted:
            raise InputError(f"{neighbour!r} is no neighbour")
