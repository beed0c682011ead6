"""A small network in one process: the same functions as on Spark, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from tamis.bloom.hashing import Shape
from tamis.language.evaluate import Event
from tamis.matcher import Matcher
from tamis_lab.simulation.job.coverers import CovererFinder, coverer_arrays
from tamis_lab.simulation.job.demand import demand_of
from tamis_lab.simulation.job.event_walk import STRATEGIES, PublishedEvents, Walker
from tamis_lab.simulation.job.interests import (
    Interests,
    number_interests,
    split_selector,
    subscriptions_of,
)
from tamis_lab.simulation.job.link_tables import NetworkTables, network_tables, tables_of
from tamis_lab.simulation.topology import OverlayTree, line


class LocalSimulation(NamedTuple):
    """The result of a local simulation.

    Attributes:
        interests: The different interests.
        tables: The tables of each network, by name.
        walker: The counters.
    """

    interests: Interests
    tables: dict[str, NetworkTables]
    walker: Walker


def simulate_locally(
    trees: Mapping[str, OverlayTree],
    subscriptions: Sequence[tuple[int, str]],
    events: Sequence[tuple[int, Event]],
    shapes: Sequence[Shape],
    strategies: Sequence[str] = tuple(STRATEGIES),
) -> LocalSimulation:
    """Simulate networks with the same number of brokers.

    Args:
        trees: The networks, by name.
        subscriptions: Pairs of a broker and a selector, in order of subscription.
        events: Pairs of a broker and values.
        shapes: Filter shapes.
        strategies: Some of `STRATEGIES`.

    Raises:
        InputError: A broker does not exist.
        SelectorError: A selector is invalid.
    """
    parts = [split_selector(selector) for _, selector in subscriptions]
    interests = number_interests(parts)
    numbers = {text: number for number, text in enumerate(interests.texts)}
    wants = demand_of(
        interests,
        np.array([numbers[each.text] for each in parts], np.int64),
        np.array([broker for broker, _ in subscriptions], np.int64),
        np.ones(len(parts), np.int64),
        np.arange(len(parts), dtype=np.int64),
        next(iter(trees.values())).brokers,
    )
    count = len(interests.texts)
    coverers = coverer_arrays(CovererFinder(interests.texts).find(0, count))
    known = {
        name: network_tables(
            tables_of(wants, coverers, tree, 0, count), interests.parts, len(interests.predicates)
        )
        for name, tree in trees.items()
    }
    networks = {name: (tree, known[name]) for name, tree in trees.items()}
    walker = Walker(interests, wants, networks, shapes, strategies)
    if events:
        matcher = Matcher()
        ids, texts = subscriptions_of(interests)
        matcher.add_many(zip(ids.tolist(), texts, strict=True))
        values = [dict(event) for _, event in events]
        walker.send(
            PublishedEvents(
                np.array([broker for broker, _ in events], np.int32),
                np.array([len(msgspec.json.encode(event)) for event in values], np.int32),
                matcher.match_batch(values),
            )
        )
    return LocalSimulation(interests, known, walker)


def warm_up() -> None:
    """Compile all kernels, so that workers do not all do it at the same time."""
    subscriptions = [(0, "a = 1"), (1, "a = 1 AND b > 2"), (1, "b > 5")]
    simulate_locally({"line": line(2)}, subscriptions, [(0, {"a": 1, "b": 1})], [Shape(8, 2)])
