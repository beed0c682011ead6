"""The workload of the BDD paper, §8: its parameters, queries and messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import pyarrow as pa

from tamis.events.batch import EventBatch
from tamis_lab.workloads.bdd2001.atoms import DOUBLES, INTEGERS, NAMES, STRINGS
from tamis_lab.workloads.bdd2001.grammar import grammar
from tamis_lab.workloads.bdd2001.queries import drawn_queries
from tamis_lab.workloads.random_draws import (
    Arrays,
    check,
    check_counts,
    draw_in_blocks,
    events_in_blocks,
)

HIGHEST = 80
FORMS = ("trees", "grammar")
# "A set of twenty alternatives of varying length", which the paper does not list.
ALTERNATIVES = (
    "a b c aa ab ba bb cc zz aaa aab aba abb baa bab bba bbb xyz abab bbcaac".split()
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Queries over the 208 atoms, and messages that define some or all of the ten attributes.

    Attributes:
        subscriptions: Number of queries.
        density: The fraction of messages that define an attribute, for each attribute
            independently; 1.0 gives the paper's total messages.
        conjunctive: The fraction of joins that are AND; the others are OR.
        form: "trees" of any shape, or "grammar": the chains of `grammar.py`.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    density: float = 1.0
    conjunctive: float = 0.6
    form: str = "trees"
    seed: int = 2001

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(0 <= self.density <= 1, "density", "0 to 1")
        check(0 <= self.conjunctive <= 1, "conjunctive", "0 to 1")
        check(self.form in FORMS, "form", " or ".join(FORMS))

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` queries from `start` on as text, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_queries, start, count)

    def _drawn_queries(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        if self.form == "trees":
            return drawn_queries(rng, count, self.conjunctive)
        random = Random(int(rng.integers(1 << 62))).random
        rules = grammar(self.conjunctive)
        return (rules.derive("query", random) for _ in range(count))

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` messages of random values, from `start` on.

        Doubles are whole numbers too, so that `=` can hold.
        """
        numbers, texts, present = events_in_blocks(
            self.seed, count, self._drawn_events, start=start
        )
        alternatives = pa.array(ALTERNATIVES)
        missing = iter(~present.T)
        numeric = [pa.array(column, mask=next(missing)) for column in numbers.T]
        for place in range(len(INTEGERS), len(INTEGERS) + len(DOUBLES)):
            numeric[place] = numeric[place].cast(pa.float64())
        textual = [alternatives.take(pa.array(column, mask=next(missing))) for column in texts.T]
        return EventBatch.from_arrow(pa.RecordBatch.from_arrays(numeric + textual, list(NAMES)))

    def _drawn_events(self, rng: np.random.Generator, count: int) -> Arrays:
        numeric = len(INTEGERS) + len(DOUBLES)
        return (
            rng.integers(HIGHEST, size=(count, numeric), endpoint=True),
            rng.integers(len(ALTERNATIVES), size=(count, len(STRINGS))),
            rng.random((count, len(NAMES))) < self.density,
        )
