"""Routing on a line of brokers, in memory: what each hop costs, by strategy.

The reason for being of edge routing (DEBS 2008, §4.1): the first broker evaluates predicates, the
others walk a tree of bits. All subscribers of an event's kind sit along the line, so that most
events go to its end, and what is measured is the router of each broker: no network.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tamis.bench.measure import Report, Row, spread
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.engines import ENGINES
from tamis.language.evaluate import Event
from tamis.routing.network import Network
from tamis.routing.router import HERE, Router
from tamis.routing.strategies import SHAPE, CoveringRouter, EdgeRouter, SienaRouter
from tamis.workloads.bloom2008 import Workload

BROKERS = 8
_EVENTS = 500
_ROUNDS = 5

# The block engine beside the paper's: one event at a time, which is not what it is made for.
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


def _walk(network: Network, events: Sequence[Event]) -> tuple[list[float], list[int], float]:
    """Processor seconds and events per broker, and the bytes of an event's filter, on average."""
    seconds, arrived, filter_bytes = [0.0] * BROKERS, [0] * BROKERS, 0
    routers = [network.router(str(n)) for n in range(BROKERS)]
    for event in events:
        data: bytes | None = None
        for n, router in enumerate(routers):
            # With what a filter takes to be written once, and to be read at each hop.
            began = time.process_time()
            bloom = None if data is None else Bloom.from_bytes(data)
            route = router.route(event, HERE if n == 0 else str(n - 1), bloom)
            if data is None and route.bloom is not None:
                data = route.bloom.to_bytes()
                filter_bytes += len(data)
            seconds[n] += time.process_time() - began
            arrived[n] += 1
            if str(n + 1) not in route.neighbours:
                break
    return seconds, arrived, filter_bytes / len(events)


def line(subscriptions: int, report: Report) -> Iterator[Row]:
    """A line of eight: microseconds of processor per event, at the first broker and later."""
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
    first: dict[str, list[float]] = {name: [] for name in networks}
    later: dict[str, list[float]] = {name: [] for name in networks}
    walked: dict[str, tuple[list[float], list[int], float]] = {}
    evaluated: dict[str, float] = {}
    for number in range(_ROUNDS + 1):  # in turns; the first is to warm up
        for name, network in networks.items():
            before = _evaluations(network)
            walked[name] = seconds, arrived, _ = _walk(network, events)
            evaluated[name] = (_evaluations(network) - before) / len(events)
            if number:
                first[name].append(1e6 * seconds[0] / arrived[0])
                later[name].append(1e6 * sum(seconds[1:]) / max(1, sum(arrived[1:])))
    edge = statistics.median(later["edge"])
    for name, network in networks.items():
        _, arrived, filter_bytes = walked[name]
        yield {
            "strategy": name,
            "subscriptions": subscriptions,
            "brokers": BROKERS,
            **spread("first_us", first[name]),
            **spread("later_us", later[name]),
            "later_against_edge": statistics.median(later[name]) / edge,
            "evaluations_per_event": evaluated[name],
            "brokers_per_event": sum(arrived) / len(events),
            "to_the_end": arrived[-1] / len(events),
            "filter_bytes": filter_bytes,
            "told": sum(len(network.router(a).told(b)) for a, b in network.links),
            "fill_s": began[name],
        }


def _evaluations(network: Network) -> int:
    return sum(network.router(node).evaluations for node in network.nodes)


EXPERIMENTS = {"line": (line, 1_000, 10_000)}
