"""Selective conjunctions: integer attributes, equalities and ranges, few matches per event.

The shape that most published engines are measured by; it is of no paper in particular.

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
        subscriptions: How many there are.
        predicates: How many tests each has; None for 3 to 7, equally often.
        attributes: How many there are: a0, a1, …
        values: They lie below this, from 0.
        width: A range is from some value to the one so much greater, both within.
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
        """Refuse what cannot be made.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(1 <= self._lengths[0], "predicates", "1 or more")
        check(self._lengths[1] <= self.attributes, "attributes", "as many as tests, or more")
        check(1 <= self.width < self.values, "width", "1 or more, and less than `values`")
        check(0 <= self.equalities <= 1, "equalities", "0 to 1")

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """The subscriptions as texts: so many from the one at `start`, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_selectors, start, count)

    def events(self, count: int, start: int = 0) -> EventBatch:
        """So many events from the one at `start`: all attributes, every value equally likely."""
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
