"""Events with few of the attributes, and selectors that distinguish missing ones.

>>> workload = SparseWorkload(subscriptions=1000)
>>> next(workload.selectors())
'i0 BETWEEN 238 AND 438 AND d2 = 52.9 AND d6 = 47.2'
>>> workload.events(100)
EventBatch(100 events, 20 attributes)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
    places,
)

# Attributes i0 to i9 are whole numbers below 1000, d0 to d9 tenths below 100.
INTEGERS = tuple(f"i{i}" for i in range(10))
DOUBLES = tuple(f"d{i}" for i in range(10))
NAMES = INTEGERS + DOUBLES
VALUES = 1000
WIDTH = 200


class NullForm(NamedTuple):
    """A form of selectors.

    Attributes:
        share: The fraction of selectors with this form.
        text: The selector: p, q, r and s stand for tests of different attributes, P, Q, R and S
            for the names of these attributes.
    """

    share: float
    text: str


FORMS = (
    NullForm(0.25, "{p} AND {q}"),
    NullForm(0.15, "{p} AND {q} AND {r}"),
    NullForm(0.05, "{p} AND {q} AND {r} AND {s}"),
    NullForm(0.10, "{p} AND {Q} IS NULL AND {R} IS NULL"),
    NullForm(0.10, "{P} IS NOT NULL AND {q}"),
    NullForm(0.05, "{P} IS NOT NULL AND {Q} IS NOT NULL AND NOT {r}"),
    NullForm(0.10, "NOT ({p} OR {q}) AND {r}"),
    NullForm(0.10, "({p} OR {q}) AND {r}"),
    NullForm(0.05, "({p} XOR {q}) AND {R} IS NOT NULL"),
    NullForm(0.05, "AT LEAST 2 OF ({p}, {q}, {r}, {s})"),
)


@dataclass(frozen=True, kw_only=True)
class SparseWorkload:
    """Selectors of the forms above over ten INT and ten DBL attributes.

    Attributes:
        subscriptions: Number of subscriptions.
        density: The fraction of events that have an attribute, for each attribute independently.
        equalities: The fraction of tests that are equalities; the others are ranges.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    density: float = 0.15
    equalities: float = 0.6
    seed: int = 2026

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(0 <= self.density <= 1, "density", "0 to 1")
        check(0 <= self.equalities <= 1, "equalities", "0 to 1")

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` subscriptions from `start` on as text, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_selectors, start, count)

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` events of random values, from `start` on."""
        values, present = events_in_blocks(self.seed, count, self._drawn_events, start=start)
        whole, tenths = values.T[: len(INTEGERS)], values.T[len(INTEGERS) :] / 10
        return batch_of(NAMES, [*whole, *tenths], present)

    def _drawn_selectors(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        forms = places([form.share for form in FORMS], rng.random(count))
        attributes = distinct_numbers(rng, count, len(NAMES), 4)
        is_range = rng.random(attributes.shape) >= self.equalities
        constants = rng.integers(VALUES - WIDTH, size=attributes.shape)
        tests = (is_range * len(NAMES) + attributes) * (VALUES - WIDTH) + constants
        for form, (a, b, c, d), (p, q, r, s) in zip(
            forms.tolist(), attributes.tolist(), tests.tolist(), strict=True
        ):
            text = self._tests
            yield FORMS[form].text.format(
                p=text[p], q=text[q], r=text[r], s=text[s],
                P=NAMES[a], Q=NAMES[b], R=NAMES[c], S=NAMES[d],
            )  # fmt: skip

    def _drawn_events(self, rng: np.random.Generator, count: int) -> Arrays:
        size = (count, len(NAMES))
        return rng.integers(VALUES, size=size), rng.random(size) < self.density

    @cached_property
    def _tests(self) -> list[str]:
        """All tests: the equalities of each attribute, then the ranges of each attribute."""
        constants = range(VALUES - WIDTH)
        equalities = [f"{name} = {_literal(name, c)}" for name in NAMES for c in constants]
        ranges = [
            f"{name} BETWEEN {_literal(name, c)} AND {_literal(name, c + WIDTH)}"
            for name in NAMES
            for c in constants
        ]
        return equalities + ranges


def _literal(name: str, value: int) -> str:
    return str(value) if name in INTEGERS else str(value / 10)
