"""Routing on a line of brokers, in memory: the cost of each hop, by strategy.

This is what edge routing is for (DEBS 2008, §4.1): the first broker evaluates predicates, the
others walk a tree of bits. Subscribers are spread along the line, so that most events go to its
end. Only the router of each broker is measured; there is no network.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.engines import ENGINES
from tamis.language.evaluate import Event
from tamis.routing.router import HERE, Router
from tamis.routing.strategies import SHAPE, CoveringRouter, EdgeRouter, SienaRouter
from tamis_lab.harness.measure import Experiments, Report, Row, spread
from tamis_lab.simulation.network import Network
from tamis_lab.workloads.bloom2008 import Workload

BROKERS = 8
_EVENTS = 512
_ROUNDS = 5
_BATCHES = (1, 512)  # events at a time; a broker takes at most 512 from NATS

# The block engine beside the paper's structures: it is designed for batches.
_ROUTERS: dict[str, Callable[[Shape], Router]] = {
    "edge": EdgeRouter,
    "edge, narrow": lambda shape: EdgeRouter(shape, narrow=True),
    "covering": CoveringRouter,
    "siena": lambda shape: SienaRouter(),
    "siena, by block": lambda shape: SienaRouter(ENGINES["block"]),
}


def _line(strategy: str, selectors: list[str], shape: Shape) -> Network:
    network = Network(lambda: _ROUTERS[strategy](shape))
    for n in range(BROKERS):
        network.add(str(n))
    for n, selector in enumerate(selectors):
        network.subscribe(str(n % BROKERS), n, selector)
    for one, other in pairwise(range(BROKERS)):
        network.link(str(one), str(other))
    network.settle()
    return network


class _WalkCosts(NamedTuple):
    """Costs per broker, and the mean size of an event's filter in bytes."""

    seconds: list[float]
    arrived: list[int]
    filter_bytes: float


def _walk(network: Network, events: Sequence[Event], batch: int) -> _WalkCosts:
    """Send events down the line in batches; return processor seconds and events per broker."""
    seconds, arrived, filter_bytes = [0.0] * BROKERS, [0] * BROKERS, 0
    routers = [network.router(str(n)) for n in range(BROKERS)]
    for at in range(0, len(events), batch):
        some = events[at : at + batch]
        filters: list[bytes | None] = [None] * len(some)
        for n, router in enumerate(routers):
            source, onward = HERE if n == 0 else str(n - 1), str(n + 1)
            # Includes encoding a filter once, and decoding it at each hop.
            began = time.process_time()
            blooms = _read_filters(filters)
            routes = router.route_many(some, [source] * len(some), blooms)
            if n == 0:
                filters = [None if r.bloom is None else r.bloom.to_bytes() for r in routes]
            seconds[n] += time.process_time() - began
            if n == 0:
                filter_bytes += sum(len(data) for data in filters if data is not None)
            arrived[n] += len(some)
            going = [i for i, route in enumerate(routes) if onward in route.neighbours]
            some, filters = [some[i] for i in going], [filters[i] for i in going]
            if not going:
                break
    return _WalkCosts(seconds, arrived, filter_bytes / len(events))


def _read_filters(filters: list[bytes | None]) -> Sequence[Bloom | None]:
    known = [data for data in filters if data is not None]
    return Bloom.from_many(SHAPE, known) if known else [None] * len(filters)


def line(subscriptions: int, report: Report) -> Iterator[Row]:
    """A line of eight brokers: processor microseconds per event, at the first hop and later."""
    work = Workload(
        subscriptions=subscriptions, names=2_000, choice="pareto", predicates=(1, 2), seed=8
    )
    selectors, events = list(work.selectors()), work.events(_EVENTS).rows()
    networks: dict[str, Network] = {}
    began: dict[str, float] = {}
    for strategy in _ROUTERS:
        report(f"{strategy}: {subscriptions:,} subscriptions at {BROKERS} brokers …")
        at = time.process_time()
        networks[strategy] = _line(strategy, selectors, SHAPE)
        began[strategy] = time.process_time() - at
    for batch in _BATCHES:
        report(f"{batch} at a time …")
        for row in _measure_rows(networks, events, batch):
            name = str(row["strategy"])
            yield {**row, "subscriptions": subscriptions, "fill_s": began[name]}


def _measure_rows(
    networks: dict[str, Network], events: Sequence[Event], batch: int
) -> Iterator[Row]:
    first: dict[str, list[float]] = {name: [] for name in networks}
    later: dict[str, list[float]] = {name: [] for name in networks}
    walked: dict[str, _WalkCosts] = {}
    evaluated: dict[str, float] = {}
    for number in range(_ROUNDS + 1):  # in turns; the first round is a warm-up
        for name, network in networks.items():
            before = _evaluations(network)
            walked[name] = seconds, arrived, _ = _walk(network, events, batch)
            evaluated[name] = (_evaluations(network) - before) / len(events)
            if number:
                first[name].append(1e6 * seconds[0] / arrived[0])
                later[name].append(1e6 * sum(seconds[1:]) / max(1, sum(arrived[1:])))
    edge = statistics.median(later["edge"])
    for name, network in networks.items():
        _, arrived, filter_bytes = walked[name]
        yield {
            "strategy": name,
            "batch": batch,
            "brokers": BROKERS,
            **spread("first_us", first[name]),
            **spread("later_us", later[name]),
            "later_against_edge": statistics.median(later[name]) / edge,
            "evaluations_per_event": evaluated[name],
            "brokers_per_event": sum(arrived) / len(events),
            "to_the_end": arrived[-1] / len(events),
            "filter_bytes": filter_bytes,
            "told": sum(len(network.router(a).advertised_interests(b)) for a, b in network.links),
        }


def _evaluations(network: Network) -> int:
    return sum(network.router(node).evaluations for node in network.nodes)


EXPERIMENTS: Experiments = {"line": (line, 1_000, 10_000)}
