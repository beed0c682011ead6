"""A small network at once, in one process: the same functions as on Spark, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from tamis.bloom.hashing import Shape
from tamis.language.evaluate import Event
from tamis.matcher import Matcher
from tamis_lab.simulation.job.coverers import Covering, joined
from tamis_lab.simulation.job.demand import wants_of
from tamis_lab.simulation.job.event_walk import STRATEGIES, Published, Walker
from tamis_lab.simulation.job.interests import Interests, apart, numbered, subscriptions_of
from tamis_lab.simulation.job.link_tables import Known, known_of, tables_of
from tamis_lab.simulation.topology import Tree, line


class AtOnce(NamedTuple):
    """What came of it.

    Attributes:
        interests: The different interests.
        known: By network, its tables.
        walker: The counters.
    """

    interests: Interests
    known: dict[str, Known]
    walker: Walker


def at_once(
    trees: Mapping[str, Tree],
    subscriptions: Sequence[tuple[int, str]],
    events: Sequence[tuple[int, Event]],
    shapes: Sequence[Shape],
    strategies: Sequence[str] = tuple(STRATEGIES),
) -> AtOnce:
    """Simulate networks of equally many brokers.

    Args:
        trees: By name, the brokers.
        subscriptions: A broker and a selector each, in the order in which they come.
        events: A broker and values each.
        shapes: Of filters.
        strategies: Some of `STRATEGIES`.

    Raises:
        InputError: There is no such broker.
        SelectorError: A selector is none.
    """
    parts = [apart(selector) for _, selector in subscriptions]
    interests = numbered(parts)
    numbers = {text: number for number, text in enumerate(interests.texts)}
    wants = wants_of(
        interests,
        np.array([numbers[each.text] for each in parts], np.int64),
        np.array([broker for broker, _ in subscriptions], np.int64),
        np.ones(len(parts), np.int64),
        np.arange(len(parts), dtype=np.int64),
        next(iter(trees.values())).brokers,
    )
    count = len(interests.texts)
    coverers = joined(Covering(interests.texts).of(0, count))
    known = {
        name: known_of(
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
            Published(
                np.array([broker for broker, _ in events], np.int32),
                np.array([len(msgspec.json.encode(event)) for event in values], np.int32),
                matcher.match_batch(values),
            )
        )
    return AtOnce(interests, known, walker)


def warm_up() -> None:
    """Have all kernels compiled, so that workers need not, all of them at once."""
    subscriptions = [(0, "a = 1"), (1, "a = 1 AND b > 2"), (1, "b > 5")]
    at_once({"line": line(2)}, subscriptions, [(0, {"a": 1, "b": 1})], [Shape(8, 2)])
