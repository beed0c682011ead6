"""The size of a simulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tamis.bloom.hashing import Shape
from tamis.errors import InputError
from tamis.routing.strategies import SHAPE
from tamis_lab.simulation.job.event_walk import STRATEGIES
from tamis_lab.simulation.topology import TOPOLOGIES, OverlayTree, topology
from tamis_lab.workloads.known_names import check_known
from tamis_lab.workloads.overlay_workload import OverlayWorkload

FEW = 20_000  # most events of a sweep


@dataclass(frozen=True, kw_only=True)
class SimulationSizes:
    """The parameters of a simulation.

    Attributes:
        brokers: Number of brokers of each network.
        subscriptions: Number of subscriptions of each network.
        events: Number of events sent through each network.
        topologies: The networks.
        strategies: The routing strategies.
        shape: The shape of filters.
        sweep: Other filter sizes, in bits, to try with a part of the events.
        seed: Seed of the workload and of random trees.
    """

    brokers: int
    subscriptions: int
    events: int
    topologies: tuple[str, ...] = TOPOLOGIES
    strategies: tuple[str, ...] = tuple(STRATEGIES)
    shape: Shape = SHAPE
    sweep: tuple[int, ...] = ()
    seed: int = 2008

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A strategy or a topology is unknown, or a number is out of range.
        """
        _check("strategy", self.strategies, STRATEGIES, "strategies")
        _check("topology", self.topologies, TOPOLOGIES, "topology")
        if self.events < 1:
            raise InputError("must be 1 or more", "events")

    @property
    def workload(self) -> OverlayWorkload:
        """The subscriptions and events."""
        return OverlayWorkload(
            brokers=self.brokers, subscriptions=self.subscriptions, seed=self.seed
        )

    @property
    def trees(self) -> dict[str, OverlayTree]:
        """The networks, by name."""
        return {name: topology(name, self.brokers, self.seed) for name in self.topologies}

    @property
    def sweep_shapes(self) -> list[Shape]:
        """The shapes of the sweep."""
        return [Shape(m, self.shape.k) for m in self.sweep]


def _check(what: str, names: Sequence[str], known: Collection[str], option: str) -> None:
    check_known(what, names, known, option)
    if not names:
        raise InputError(f"name at least one of {', '.join(known)}", option)


# Filters of a sweep: from those that match nearly everything to those without false positives.
SCALES = {
    "small": SimulationSizes(
        brokers=50,
        subscriptions=20_000,
        events=20_000,
        sweep=tuple(1 << bits for bits in range(7, 17)),
    ),
    "large": SimulationSizes(
        brokers=1_000,
        subscriptions=1_000_000,
        events=1_000_000,
        sweep=tuple(1 << bits for bits in range(11, 19)),
    ),
}
