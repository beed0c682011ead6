"""How large a simulation is."""

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

FEW = 20_000  # events of a sweep, at most


@dataclass(frozen=True, kw_only=True)
class SimulationSizes:
    """A simulation, as it is asked for.

    Attributes:
        brokers: How many there are in each network.
        subscriptions: How many there are in each network.
        events: How many are sent through each network.
        topologies: Which networks.
        strategies: Which strategies.
        shape: Of filters.
        sweep: Other sizes of filters, in bits, that a part of the events is tried with too.
        seed: Of the workload, and of random trees.
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
        """Refuse what there is not.

        Raises:
            InputError: There is no such strategy, or a number is out of range.
        """
        _check("strategy", self.strategies, STRATEGIES, "strategies")
        _check("topology", self.topologies, TOPOLOGIES, "topology")
        if self.events < 1:
            raise InputError("must be 1 or more", "events")

    @property
    def workload(self) -> OverlayWorkload:
        """What is subscribed to and published."""
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


# Filters of a sweep: from those that claim nearly everything to those that claim nothing in vain.
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
