"""The workload of the Bloom filter paper, §6: its parameters, subscriptions and events.

Attribute names are words. We may not ship AGID, the paper's list of 112,505 words, so we generate
as many pseudo-words. The paper does not describe operators and values: here a predicate compares
with an integer, as in Siena's own workloads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tamis.events.batch import EventBatch
from tamis_lab.workloads.bloom2008.names import CHOICES, NameChoice
from tamis_lab.workloads.bloom2008.sparse_events import EventPairs
from tamis_lab.workloads.pronounceable import words
from tamis_lab.workloads.random_draws import (
    Arrays,
    check,
    check_counts,
    draw_in_blocks,
    events_in_blocks,
    places,
)

LISTED = 112_505
_BATCH = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Conjunctions over very many names, and events that have a few of them.

    Attributes:
        subscriptions: Number of subscriptions.
        names: How many of the listed words are in use; the paper has 1,000, 2,000 and 20,000.
        choice: "uniform" or "pareto": how names are chosen, for subscriptions and for events.
        predicates: The least and the greatest number of names of a subscription; the paper has
            (2, 5), and (1, 1) with 1,000 names.
        pairs: The least and the greatest number of pairs of an event.
        values: Values lie from 0 to just below this.
        equalities: The fraction of predicates that are equalities; of the others, half are `<` and
            half are `>`.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    names: int = 20_000
    choice: str = "uniform"
    predicates: tuple[int, int] = (2, 5)
    pairs: tuple[int, int] = (1, 10)
    values: int = 100
    equalities: float = 0.5
    seed: int = 2008

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(1 <= self.names <= LISTED, "names", f"1 to {LISTED:,}")
        check(self.choice in CHOICES, "choice", " or ".join(CHOICES))
        for name in ("predicates", "pairs"):
            fewest, most = getattr(self, name)
            check(1 <= fewest <= most <= self.names, name, "two ascending numbers, 1 to `names`")
        check(self.values >= 1, "values", "1 or more")
        check(0 <= self.equalities <= 1, "equalities", "0 to 1")

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` subscriptions from `start` on as text, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_selectors, start, count)

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` events from `start` on, in one batch.

        Raises:
            InputError: The columns would take too much memory; use `batches` for many events.
        """
        return self._pairs(count, start).as_batch(self.words)

    def batches(self, count: int) -> Iterator[EventBatch]:
        """Yield the same events in batches of about a thousand."""
        pairs = self._pairs(count)
        for start in range(0, count, _BATCH):
            part = (array[start : start + _BATCH] for array in pairs)
            yield EventPairs(*part).as_batch(self.words)

    def events_as_dicts(self, count: int, start: int = 0) -> Iterator[dict[str, object]]:
        """Yield the same events as dicts."""
        return self._pairs(count, start).as_dicts(self.words)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The names in use."""
        return words(LISTED, self.seed)[: self.names]

    @cached_property
    def _names(self) -> NameChoice:
        return NameChoice(self.names, self.choice)

    def _pairs(self, count: int, start: int = 0) -> EventPairs:
        return EventPairs(*events_in_blocks(self.seed, count, self._drawn_events, start=start))

    def _drawn_selectors(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        fewest, most = self.predicates
        lengths = rng.integers(fewest, most, size=count, endpoint=True)
        names = self._names.draw_distinct(rng, count, most)
        rest = (1 - self.equalities) / 2
        relations = places((self.equalities, rest, rest), rng.random(names.shape))
        tests = relations * self.values + rng.integers(self.values, size=names.shape)
        words, texts = self.words, [f" {op} {c}" for op in "=<>" for c in range(self.values)]
        for row, tested, length in zip(
            names.tolist(), tests.tolist(), lengths.tolist(), strict=True
        ):
            parts = zip(row[:length], tested, strict=False)
            yield " AND ".join([words[name] + texts[test] for name, test in parts])

    def _drawn_events(self, rng: np.random.Generator, count: int) -> Arrays:
        fewest, most = self.pairs
        names = self._names.draw_distinct(rng, count, most)
        values = rng.integers(self.values, size=names.shape)
        return names, values, rng.integers(fewest, most, size=count, endpoint=True)
