"""The same network twice: message by message, and by the simulation's sets."""

from typing import Any

import msgspec
import numpy as np
from tamis_lab.kernels import overlay_tables as tables_counted
from tamis_lab.kernels import strategy_counts as events_counted
from tamis_lab.simulation.job.event_walk import STRATEGIES
from tamis_lab.simulation.job.link_tables import predicates_by_broker
from tamis_lab.simulation.job.local_simulation import simulate_locally
from tamis_lab.simulation.network import Network
from tamis_lab.simulation.topology import OverlayTree

from tamis.bloom.hashing import Shape
from tamis.routing.router import HERE
from tamis.routing.strategies import router

Subscriptions = list[tuple[int, str]]  # in order: a broker, a selector
Events = list[tuple[int, dict[str, Any]]]


def by_messages(
    strategy: str, shape: Shape, tree: OverlayTree, subscriptions: Subscriptions, events: Events
) -> dict[str, Any]:
    """Count what the reference network does, message by message."""
    network = Network(lambda: router(strategy, shape))
    for broker in range(tree.brokers):
        network.add(str(broker))
    for broker in range(1, tree.brokers):
        network.link(str(broker), str(tree.parent[broker]))
    for number, (broker, selector) in enumerate(subscriptions):
        network.subscribe(str(broker), number, selector)
        network.settle()
    counted = np.zeros((events_counted.COUNTED, tree.brokers), np.int64)
    for broker, event in events:
        passage = network.publish(str(broker), event)
        network.settle()
        count_passage(counted, passage, tree)
    routers = [network.router(str(broker)) for broker in range(tree.brokers)]
    return {
        "events": counted,
        "evaluations": sum(each.evaluations for each in routers),
        "messages": link_counts(network.messages, tree),
        "told": link_counts(
            {
                (str(broker), neighbour): len(each.advertised_interests(neighbour))
                for broker, each in enumerate(routers)
                for neighbour in each.neighbours
            },
            tree,
        ),
        "local": [len(each.wanted_interests(HERE)) for each in routers],
        "predicates": [each.sizes().get("predicates") for each in routers],
    }


def count_passage(counted: Any, passage: Any, tree: OverlayTree) -> None:
    at = events_counted
    counted[at.EVENTS, 0] += 1
    counted[at.SENT, len(passage.crossed)] += 1
    counted[at.BYTES, 0] += len(msgspec.json.encode(passage.event)) * len(passage.crossed)
    counted[at.FILTER_BYTES, 0] += passage.filter_bytes * len(passage.crossed)
    for source, to in passage.crossed:
        is_up = tree.parent[int(source)] == int(to)
        wasted = (source, to) in passage.wasted_links
        if is_up:
            counted[at.UP, int(source)] += 1
            counted[at.WASTED_UP, int(source)] += wasted
        else:
            counted[at.DOWN, int(to)] += 1
            counted[at.WASTED_DOWN, int(to)] += wasted
    for broker, hop in passage.hops.items():
        got = len(passage.delivered.get(broker, ()))
        counted[at.ARRIVED, hop] += 1
        counted[at.DELIVERED, hop] += got
        counted[at.RECEIVED, int(broker)] += got
        if broker in passage.checked:
            counted[at.CHECKED, int(broker)] += 1
            counted[at.IN_VAIN, int(broker)] += not got


def link_counts(
    found: dict[tuple[str, str], int], tree: OverlayTree
) -> tuple[list[int], list[int]]:
    """Return counts by the lower end of a link: up, and down."""
    lower = range(1, tree.brokers)
    up = [found[str(broker), str(tree.parent[broker])] for broker in lower]
    return up, [found[str(tree.parent[broker]), str(broker)] for broker in lower]


def by_sets(
    strategies: list[str],
    shapes: list[Shape],
    tree: OverlayTree,
    subscriptions: Subscriptions,
    events: Events,
) -> dict[tuple[str, Shape], dict[str, Any]]:
    """Count the same with the simulation, without Spark."""
    interests, by_network, walker = simulate_locally(
        {"it": tree}, subscriptions, events, shapes, strategies
    )
    known = by_network["it"]
    at, counted = tables_counted, known.counted
    out = {}
    for shape in shapes:
        for strategy in strategies:
            if strategy == "flooding":
                told = messages = np.zeros((2, tree.brokers), np.int64)
            elif strategy == "edge":
                told = messages = counted[[at.PRESENT_UP, at.PRESENT_DOWN]]
            else:
                told = counted[[at.KEPT_UP, at.KEPT_DOWN]]
                messages = 2 * counted[[at.TOLD_UP, at.TOLD_DOWN]] - told
            predicates = {
                "covering": predicates_by_broker(known, tree.brokers).tolist(),
                "edge": [len(interests.predicates)] * tree.brokers,
            }.get(strategy, [None] * tree.brokers)
            found_here = walker.counted["it", shape][STRATEGIES[strategy]]
            evaluations = int(found_here[events_counted.EVALUATED].sum())
            out[strategy, shape] = {
                "events": counted_by_messages(found_here),
                "evaluations": evaluations,
                "messages": tuple(messages[:, 1:].tolist()),
                "told": tuple(told[:, 1:].tolist()),
                "local": counted[at.LOCAL].tolist(),
                "predicates": predicates,
            }
    return out


def counted_by_messages(counted: Any) -> Any:
    """Return the counters of `by_messages`: without the broker of each evaluation."""
    found = counted.copy()
    found[events_counted.EVALUATED] = 0
    return found
