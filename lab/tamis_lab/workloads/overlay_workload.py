"""Subscribers and publishers spread over a network of brokers.

Selectors come from the workload of the Bloom filter paper (`bloom2008`). Attribute names are
sorted, so that equal conditions have equal text. Each selector has a home broker. A subscriber
picks a selector by its *rank*, which follows a Pareto distribution: the first ones often, all
others rarely. Most subscribers rank selectors by the distance of their home, in broker numbers, so
that neighbouring brokers want the same selectors. The others all use one ranking, so that a few
selectors are popular everywhere. Events come from the same workload and are published at a random
broker.

>>> workload = OverlayWorkload(brokers=10, subscriptions=100)
>>> workload.subscriptions_table(1, 1).to_pylist()
[{'number': 1, 'broker': 6, 'selector': 'beitgleictgeem > 90'}]
>>> workload.events_table(1, start=1).to_pylist()
[{'broker': 9, 'event': '{"plaimkivex":17,"seislecha":72,"trosceslau":11}'}]
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import pyarrow as pa

from tamis_lab.workloads import bloom2008
from tamis_lab.workloads.bloom2008.workload import LISTED
from tamis_lab.workloads.random_draws import (
    Arrays,
    check,
    check_counts,
    draw_in_blocks,
    events_in_blocks,
    part_of,
)

SUBSCRIPTIONS = pa.schema(
    [("number", pa.int64()), ("broker", pa.int32()), ("selector", pa.string())]
)
EVENTS = pa.schema([("broker", pa.int32()), ("event", pa.string())])


# Default number of attribute names, for each selector whose home is at one broker.
_PER_BROKER, _FEWEST = 20, 20


@dataclass(frozen=True, kw_only=True)
class OverlayWorkload:
    """Subscriptions and events, each at a broker.

    Attributes:
        brokers: Number of brokers.
        subscriptions: Number of subscriptions in total.
        selectors: Number of different selectors; None for one for each ten subscriptions.
        names: Number of attribute names in use, all equally often; None for so many that an event
            concerns about one broker in ten.
        predicates: The least and the greatest number of predicates of a selector.
        local: The fraction of subscribers that prefer selectors with a home nearby.
        spread: Half of those pick a selector whose home is within this many brokers.
        seed: The same seed gives the same workload.
    """

    brokers: int
    subscriptions: int
    selectors: int | None = None
    names: int | None = None
    predicates: tuple[int, int] = (1, 4)
    local: float = 0.8
    spread: float = 1.0
    seed: int = 2008

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(self.brokers >= 1, "brokers", "1 or more")
        check(self.selectors is None or self.selectors >= 1, "selectors", "1 or more")
        check(0 <= self.local <= 1, "local", "0 to 1")
        check(self.spread > 0, "spread", "more than 0")
        _ = self._base_workload

    @property
    def selector_count(self) -> int:
        """Number of selectors to pick from; a few of them may be equal."""
        return self.selectors or max(1, self.subscriptions // 10)

    @property
    def names_in_use(self) -> int:
        """Number of attribute names."""
        wanted = self.names or _PER_BROKER * self.selector_count // self.brokers
        return min(LISTED, max(_FEWEST, wanted))

    def subscriptions_table(self, start: int = 0, count: int | None = None) -> pa.Table:
        """Return `count` subscriptions from `start` on, or all: `number`, `broker`, `selector`."""
        rows = list(
            draw_in_blocks(self.seed, self.subscriptions, self._draw_subscriptions, start, count)
        )
        start, end = part_of(self.subscriptions, start, count)
        texts = self._texts
        columns = [
            pa.array(range(start, end), pa.int64()),
            pa.array([broker for broker, _ in rows], pa.int32()),
            pa.array([texts[number] for _, number in rows], pa.string()),
        ]
        return pa.Table.from_arrays(columns, schema=SUBSCRIPTIONS)

    def events_table(self, count: int, start: int = 0) -> pa.Table:
        """Return `count` events from `start` on: `broker`, and `event` as JSON."""
        # From another seed: the place of publication is independent of the content.
        (brokers,) = events_in_blocks(self.seed + 1, count, self._draw_sources, start=start)
        encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
        texts = [encode(event) for event in self._base_workload.events_as_dicts(count, start)]
        arrays = [pa.array(brokers, pa.int32()), pa.array(texts, pa.string())]
        return pa.Table.from_arrays(arrays, schema=EVENTS)

    @cached_property
    def _base_workload(self) -> bloom2008.Workload:
        return bloom2008.Workload(
            subscriptions=self.selector_count,
            names=self.names_in_use,
            predicates=self.predicates,
            seed=self.seed,
        )

    @cached_property
    def _texts(self) -> list[str]:
        return [
            " AND ".join(sorted(text.split(" AND "))) for text in self._base_workload.selectors()
        ]

    def _draw_subscriptions(
        self, rng: np.random.Generator, count: int
    ) -> Iterator[tuple[int, int]]:
        broker = rng.integers(self.brokers, size=count)
        is_local = rng.random(count) < self.local
        # P(rank >= x) = scale / (scale + x), so that half of all ranks lie below the scale.
        scale = self.spread * self.selector_count / self.brokers
        share = 1 - rng.random(count)
        rank = np.minimum(scale / share - scale, 1e18).astype(np.int64)
        side = np.where(rng.random(count) < 0.5, rank, -1 - rank)
        home = (broker * self.selector_count + self.selector_count // 2) // self.brokers
        # Selectors that are popular everywhere are spread evenly, so that no broker is their home.
        stride = _stride(self.selector_count)
        number = (
            np.where(is_local, home + side, (rank % self.selector_count) * stride)
            % self.selector_count
        )
        return zip(broker.tolist(), number.tolist(), strict=True)

    def _draw_sources(self, rng: np.random.Generator, count: int) -> Arrays:
        return (rng.integers(self.brokers, size=count, dtype=np.int32),)


def _stride(count: int) -> int:
    """Return a number coprime to `count`, far from 0 and from `count`."""
    stride = max(1, int(count * 0.618))
    while gcd(stride, count) != 1:
        stride += 1
    return stride
