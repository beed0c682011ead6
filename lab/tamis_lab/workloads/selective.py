"""Selective conjunctions: integer attributes, equalities and ranges, few matches per event.

The workload that most published engines are measured with; it is from no particular paper.

>>> workload = SelectiveWorkload(subscriptions=1000, predicates=3)
>>> next(workload.selectors())
'a6 BETWEEN 318 AND 518 AND a14 BETWEEN 652 AND 852 AND a19 BETWEEN 224 AND 424'
>>> workload.events(100)
EventBatch(100 events, 20 attributes)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tamis.events.batch import EventBatch
from tamis_lab.workloads.random_draws import (
    Arrays,
    batch_of,
    check,
    check_counts,
    distinct_numbers,
    draw_in_blocks,
    events_in_blocks,
)


@dataclass(frozen=True, kw_only=True)
class SelectiveWorkload:
    """Conjunctions of tests on different attributes; events have all attributes.

    Attributes:
        subscriptions: Number of subscriptions.
        predicates: Number of tests in each; None for 3 to 7, equally often.
        attributes: Number of attributes: a0, a1, …
        values: Values lie from 0 to just below this.
        width: The width of a range; both ends are included.
        equalities: The fraction of tests that are equalities; the others are ranges.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    predicates: int | None = None
    attributes: int = 20
    values: int = 1000
    width: int = 200
    equalities: float = 0.6
    seed: int = 2025

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(1 <= self._lengths[0], "predicates", "1 or more")
        check(self._lengths[1] <= self.attributes, "attributes", "the number of tests or more")
        check(1 <= self.width < self.values, "width", "1 or more, and less than `values`")
        check(0 <= self.equalities <= 1, "equalities", "0 to 1")

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` subscriptions from `start` on as text, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_selectors, start, count)

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` events from `start` on: all attributes, every value equally likely."""
        (values,) = events_in_blocks(self.seed, count, self._drawn_events, start=start)
        names = [f"a{a}" for a in range(self.attributes)]
        return batch_of(names, values.T, np.ones(values.shape, np.bool_))

    @property
    def _lengths(self) -> tuple[int, int]:
        return (3, 7) if self.predicates is None else (self.predicates, self.predicates)

    @cached_property
    def _tests(self) -> list[str]:
        """All possible tests, so that a selector is a list of numbers: equalities, then ranges."""
        equalities = [f"a{a} = {c}" for a in range(self.attributes) for c in range(self.values)]
        ranges = [
            f"a{a} BETWEEN {c} AND {c + self.width}"
            for a in range(self.attributes)
            for c in range(self.values - self.width)
        ]
        return equalities + ranges

    def _drawn_selectors(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        fewest, most = self._lengths
        lengths = rng.integers(fewest, most, size=count, endpoint=True)
        attributes = distinct_numbers(rng, count, self.attributes, most)
        is_range = rng.random(attributes.shape) >= self.equalities
        choices = np.where(is_range, self.values - self.width, self.values)
        constants = (rng.random(attributes.shape) * choices).astype(np.int64)
        numbers = is_range * self.attributes * self.values + attributes * choices + constants
        text = self._tests.__getitem__
        for row, length in zip(numbers.tolist(), lengths.tolist(), strict=True):
            yield " AND ".join(map(text, row[:length]))

    def _drawn_events(self, rng: np.random.Generator, count: int) -> Arrays:
        return (rng.integers(self.values, size=(count, self.attributes)),)
