"""Four routing strategies, from flooding to the Bloom filter paper's (DEBS 2008, §4.1).

| strategy | interests sent to a neighbour | where an event is matched |
|---|---|---|
| `flooding` | none | nowhere: it goes to every broker |
| `siena` | those that no other covers | at every broker, by a poset of subscriptions |
| `covering` | those that no other covers | at every broker, by a bfposet and an sbstree |
| `edge` | all | at the first broker: the event carries its filter through the sbstrees |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.engines import ENGINES
from tamis.engines.protocol import Engine
from tamis.errors import InputError
from tamis.language.evaluate import Event
from tamis.routing.interest import Interest
from tamis.routing.maximal_interests import MaximalInterests
from tamis.routing.router import HERE, Destinations, InterestUpdate, Router
from tamis.routing.routing_table import EngineTable, FilterTable, NoTable, Table

SHAPE: Final = Shape(16384, 4)  # as in the paper's examples, with k for a few thousand predicates


class FloodingRouter(Router):
    """Every event goes to every broker, which matches it on delivery."""

    strategy: ClassVar[str] = "flooding"

    def __init__(self) -> None:
        """Create a router without neighbours."""
        super().__init__(NoTable())

    def advertised_interests(self, neighbour: str) -> dict[str, Interest]:
        """Return no interests."""
        self._check(neighbour)
        return {}

    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        everywhere = self.neighbours | ({HERE} if self._wanted[HERE] else set())
        return [(set(everywhere), None) for _ in events]

    def _announce(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        return []

    def _withdraw(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        return []


class _MaximalRouter(Router):
    """A neighbour is sent only the interests that no other interest sent to it covers."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._maximal: dict[str, MaximalInterests] = {}

    def advertised_interests(self, neighbour: str) -> dict[str, Interest]:
        """Return the maximal interests of the other interfaces."""
        self._check(neighbour)
        return {interest.text: interest for interest in self._maximal[neighbour].maximal}

    def _announce(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        changes = self._maximal[neighbour].add(interest)
        return [InterestUpdate(neighbour, each, wanted) for each, wanted in changes]

    def _withdraw(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        changes = self._maximal[neighbour].remove(interest)
        return [InterestUpdate(neighbour, each, wanted) for each, wanted in changes]

    def _add_neighbour(self, neighbour: str) -> None:
        self._maximal[neighbour] = MaximalInterests()

    def _remove_neighbour(self, neighbour: str) -> None:
        del self._maximal[neighbour]


class SienaRouter(_MaximalRouter):
    """Every broker matches every event, with Siena's poset or another engine."""

    strategy: ClassVar[str] = "siena"

    def __init__(self, engine: Callable[[], Engine] = ENGINES["siena"]) -> None:
        """Create a router without neighbours."""
        self.table = EngineTable(engine)
        super().__init__(self.table)

    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        self.evaluations += len(events)
        return [(interfaces, None) for interfaces in self.table.forward(events)]


class CoveringRouter(_MaximalRouter):
    """Every broker matches every event, with filters that it computes itself."""

    strategy: ClassVar[str] = "covering"

    def __init__(self, shape: Shape = SHAPE) -> None:
        """Create a router without neighbours."""
        self.table = FilterTable(shape)
        super().__init__(self.table)

    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        self.evaluations += len(events)
        destinations = self.table.forward(self.table.match(events), _neighbours(sources))
        return [(each, None) for each in destinations]


class EdgeRouter(Router):
    """The first broker computes the filter of an event, and the others use it.

    So the first broker must know all predicates of all subscribers: every interest is sent to every
    broker.

    The paper's filter has all predicates that an event satisfies. But the first broker knows all
    interests of the others, so the predicates of the conjunctions that the event satisfies as a
    whole, somewhere else, are enough. Such a *narrow* filter leads to the same brokers and is
    shorter, but the first broker takes longer to compute it.
    """

    strategy: ClassVar[str] = "edge"

    def __init__(self, shape: Shape = SHAPE, narrow: bool = False) -> None:
        """Create a router without neighbours."""
        self.shape = shape
        self.table = FilterTable(shape)
        self._narrow = narrow
        super().__init__(self.table)

    def advertised_interests(self, neighbour: str) -> dict[str, Interest]:
        """Return all interests of the other interfaces."""
        self._check(neighbour)
        return {
            interest.text: interest
            for interest, holders in self._holders.items()
            if len(holders) > 1 or neighbour not in holders
        }

    def _find_destinations(
        self, events: Sequence[Event], sources: Sequence[str], filters: Sequence[Bloom | None]
    ) -> list[Destinations]:
        fresh = [i for i, bloom in enumerate(filters) if bloom is None]
        self.evaluations += len(fresh)
        computed = iter(self.table.match([events[i] for i in fresh]))
        carried = [next(computed) if bloom is None else bloom for bloom in filters]
        destinations = self.table.forward(carried, _neighbours(sources))
        if self._narrow:
            onward = [i for i in fresh if destinations[i] - {HERE, sources[i]}]
            narrow = self.table.narrow_filters([carried[i] for i in onward], HERE)
            for i, bloom in zip(onward, narrow, strict=True):
                carried[i] = bloom
        return list(zip(destinations, carried, strict=True))

    def _announce(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        return [InterestUpdate(neighbour, interest, True)]

    def _withdraw(self, neighbour: str, interest: Interest) -> list[InterestUpdate]:
        return [InterestUpdate(neighbour, interest, False)]


def _neighbours(sources: Sequence[str]) -> list[str | None]:
    """Return the sources to exclude; own subscribers do get events that are published here."""
    return [source or None for source in sources]


STRATEGIES: Final[dict[str, Callable[[Shape], Router]]] = {
    FloodingRouter.strategy: lambda shape: FloodingRouter(),
    SienaRouter.strategy: lambda shape: SienaRouter(),
    CoveringRouter.strategy: CoveringRouter,
    EdgeRouter.strategy: EdgeRouter,
}


def router(strategy: str, shape: Shape = SHAPE, narrow: bool = False) -> Router:
    """Create a router with a strategy.

    Args:
        strategy: One of `STRATEGIES`.
        shape: The shape of filters, if there are any; the same at all brokers.
        narrow: Whether events carry narrow filters (see `EdgeRouter`); brokers may differ in this.

    Raises:
        InputError: There is no such strategy.
    """
    make = STRATEGIES.get(strategy)
    if make is None:
        names = ", ".join(STRATEGIES)
        raise InputError(f"unknown routing strategy {strategy!r}; choose one of {names}")
    return EdgeRouter(shape, narrow) if make is EdgeRouter else make(shape)
