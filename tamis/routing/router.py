"""A broker's part in routing: what it advertises to its neighbours, and where it sends an event.

A broker has interfaces: one to each neighbour, and one to its own subscribers. An interest received
over an interface is wanted there. A neighbour is sent the interests of all *other* interfaces, or a
subset that covers them. The brokers of one network have routers with the same strategy
(`strategies.py`).

The router does no I/O: its methods return messages, which the caller must deliver in order.
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
        neighbour: The recipient.
        interest: The interest.
        wanted: Whether the interest is added or withdrawn.
    """

    neighbour: str
    interest: Interest
    wanted: bool


class Route(NamedTuple):
    """The destinations of an event.

    Attributes:
        neighbours: The neighbours that it is forwarded to.
        here: Whether one of the broker's own subscribers may want it; the caller checks on
            delivery.
        bloom: The filter that it carries from here on, if it carries one.
    """

    neighbours: frozenset[str]
    here: bool
    bloom: Bloom | None = None


Destinations = tuple[set[str], Bloom | None]


class Router(ABC):
    """The common part of all strategies: the interests per interface.

    Attributes:
        evaluations: How many events were matched against predicates in order to route them.
    """

    strategy: ClassVar[str]

    def __init__(self, table: Table) -> None:
        """Create a router without neighbours or interests.

        Args:
            table: An empty table.
        """
        self.evaluations = 0
        self._table = table
        self._wanted: dict[str, dict[str, Interest]] = {HERE: {}}
        self._times: dict[str, int] = {}  # by text, the number of own subscribers that want it
        self._holders: dict[Interest, dict[str, None]] = {}

    # -- neighbours -------------------------------------------------------------------------------

    @property
    def neighbours(self) -> frozenset[str]:
        """The names of all neighbours."""
        return frozenset(self._wanted) - {HERE}

    def join(self, neighbour: str) -> list[InterestUpdate]:
        """Add a neighbour and return the messages for it.

        Raises:
            InputError: It has no name, or is already a neighbour.
        """
        if neighbour == HERE:
            raise InputError("a neighbour needs a name")
        if neighbour in self._wanted:
            raise InputError(f"{neighbour!r} is already a neighbour")
        self._wanted[neighbour] = {}
        self._add_neighbour(neighbour)
        for interest in self._holders:
            self._announce(neighbour, interest)
        return [
            InterestUpdate(neighbour, interest, True)
            for interest in self.advertised_interests(neighbour).values()
        ]

    def leave(self, neighbour: str) -> list[InterestUpdate]:
        """Remove a neighbour with its interests and return the messages for the others.

        Raises:
            InputError: It is not a neighbour.
        """
        self._check(neighbour)
        updates: list[InterestUpdate] = []
        for interest in list(self._wanted[neighbour].values()):
            updates += self.unsubscribe(interest, neighbour)
        del self._wanted[neighbour]
        self._remove_neighbour(neighbour)
        return [each for each in updates if each.neighbour != neighbour]

    # -- interests --------------------------------------------------------------------------------

    def subscribe(self, interest: Interest, source: str = HERE) -> list[InterestUpdate]:
        """Add an interest and return the messages for neighbours.

        The broker's own subscribers are counted. A neighbour may repeat an interest: it counts
        once.

        Raises:
            InputError: The source is not a neighbour.
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
        updates: list[InterestUpdate] = []
        # The first source of an interest is news to all other neighbours; the second, to the first.
        fresh = self.neighbours if len(holders) == 1 else holders if len(holders) == 2 else ()
        for neighbour in sorted(fresh):
            if neighbour not in (source, HERE):
                updates += self._announce(neighbour, interest)
        return updates

    def unsubscribe(self, interest: Interest, source: str = HERE) -> list[InterestUpdate]:
        """Withdraw an interest and return the messages for neighbours, in this order.

        Raises:
            KeyError: The source does not have the interest. Nothing has changed.
            InputError: The source is not a neighbour.
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
        updates: list[InterestUpdate] = []
        stale = self.neighbours if not holders else holders if len(holders) == 1 else ()
        for neighbour in sorted(stale):
            if neighbour not in (source, HERE):
                updates += self._withdraw(neighbour, interest)
        if not holders:
            del self._holders[interest]
        return updates

    def wanted_interests(self, source: str = HERE) -> Mapping[str, Interest]:
        """Return the interests of an interface, by text.

        Raises:
            InputError: The source is not a neighbour.
        """
        if source != HERE:
            self._check(source)
        return MappingProxyType(self._wanted[source])

    @abstractmethod
    def advertised_interests(self, neighbour: str) -> dict[str, Interest]:
        """Return the interests that a neighbour must know, by text."""

    # -- events -----------------------------------------------------------------------------------

    def route(self, event: Event, source: str = HERE, bloom: Bloom | None = None) -> Route:
        """Return the destinations of an event; never the interface that it came from.

        Args:
            event: Its values, including defaults from a schema.
            source: The interface that it came from.
            bloom: The filter that it carries.

        Raises:
            InputError: The filter does not have this network's shape.
        """
        return self.route_many([event], [source], [bloom])[0]

    def route_many(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Route]:
        """Route several events, each with its own source and filter; faster than one by one.

        Raises:
            InputError: A filter does not have this network's shape.
        """
        destinations = self._find_destinations(events, sources, filters)
        return [
            Route(frozenset(interfaces - {HERE, source}), HERE in interfaces, bloom)
            for (interfaces, bloom), source in zip(destinations, sources, strict=True)
        ]

    # -- introspection ----------------------------------------------------------------------------

    def sizes(self) -> dict[str, object]:
        """Return the sizes of the router.

        Returns:
            `wanted` per interface, `told` (advertised) per neighbour, and the sizes of the table.
        """
        return {
            "wanted": {source: len(interests) for source, interests in self._wanted.items()},
            "told": {
                neighbour: len(self.advertised_interests(neighbour))
                for neighbour in sorted(self.neighbours)
            },
            **self._table.sizes(),
        }

    # -- defined by each strategy -----------------------------------------------------------------

    @abstractmethod
    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        """Return the interfaces that may want each event, and the filter that it carries on.

        The interface that it came from may be omitted.
        """

    @abstractmethod
    def _announce(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        """Return the messages to a neighbour when another interface is the first to want this."""

    @abstractmethod
    def _withdraw(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        """Return the messages to a neighbour when no other interface wants this any more."""

    def _add_neighbour(self, neighbour: str) -> None:  # noqa: B027  # most do nothing
        """Create the state of a new neighbour."""

    def _remove_neighbour(self, neighbour: str) -> None:  # noqa: B027
        """Delete the state of a neighbour."""

    def _check(self, neighbour: str) -> None:
        if neighbour == HERE or neighbour not in self._wanted:
            raise InputError(f"{neighbour!r} is not a neighbour")
