"""The two expressions that a subscription is made of, many at a time, as arrays.

Expressions of pool A are dealt, those of pool B drawn (§5.2.3). Pool B "is intentionally kept very
large", so that hardly any expression is taken twice: here it is without end, and never stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.errors import InputError
from tamis_lab.workloads.atree2004.predicates import Numbers
from tamis_lab.workloads.atree2004.trees import shapes
from tamis_lab.workloads.random_draws import distinct_numbers, places

Operators = npt.NDArray[np.int8]


class ExpressionRows(NamedTuple):
    """Expressions of equally many predicates, one in each row.

    Attributes:
        numbers: Their predicates.
        shapes: Their shapes by rank, as in `trees`.
        operators: Their operators in preorder, as places in `trees.JUNCTIONS`. Conjunctions have
            none here: nobody looks at the shape of a conjunction.
    """

    numbers: Numbers
    shapes: npt.NDArray[np.int64]
    operators: Operators

    def put(
        self, where: npt.NDArray[np.bool_], parts: ExpressionRows, rows: npt.NDArray[np.int64]
    ) -> None:
        """Put rows of other parts where it is said."""
        self.numbers[where] = parts.numbers[rows]
        self.shapes[where] = parts.shapes[rows]
        self.operators[where] = parts.operators[rows]


@dataclass(frozen=True, slots=True)
class ExpressionSide:
    """What the expressions on one side of the root have in common.

    Attributes:
        first: The first of its attributes.
        attributes: How many attributes it has to itself.
        predicates: How many predicates an expression has, each on another attribute.
        choices: The number of predicates of an attribute.
        frequencies: Of AND, OR and XOR; None for conjunctions, which are ordered by attribute.
    """

    first: int
    attributes: int
    predicates: int
    choices: int
    frequencies: tuple[float, ...] | None

    def draw(self, rng: np.random.Generator, count: int) -> ExpressionRows:
        """Expressions of pool B: any predicates at all."""
        attributes = self._attributes(rng, count)
        values = rng.integers(self.choices, size=attributes.shape, dtype=np.int32)
        return self._parts(rng, attributes, values)

    def deal(self, rng: np.random.Generator, count: int) -> ExpressionRows:
        """Expressions of pool A: each predicate of an attribute goes round before it comes again.

        So no two expressions have a predicate in common, as long as there are values enough.

        Raises:
            InputError: There are so few values that an expression came twice.
        """
        attributes = self._attributes(rng, count)
        decks = np.empty((self.attributes, count), np.int32)
        for deck in decks:
            for start in range(0, count, self.choices):
                cards = min(self.choices, count - start)
                deck[start : start + cards] = rng.choice(self.choices, cards, replace=False)
        parts = self._parts(rng, attributes, decks[attributes, np.arange(count)[:, None]])
        if len(np.unique(np.sort(parts.numbers, axis=1), axis=0)) < count:
            raise InputError("holds an expression twice; take fewer, or more values", "pool")
        return parts

    def _attributes(self, rng: np.random.Generator, count: int) -> npt.NDArray[np.intp]:
        attributes = distinct_numbers(rng, count, self.attributes, self.predicates)
        return np.sort(attributes, axis=1) if self.frequencies is None else attributes

    def _parts(
        self, rng: np.random.Generator, attributes: npt.NDArray[np.intp], values: Numbers
    ) -> ExpressionRows:
        count = len(values)
        numbers = (attributes.astype(np.int32) + np.int32(self.first)) * np.int32(self.choices)
        numbers += values
        if self.frequencies is None:
            return ExpressionRows(numbers, np.zeros(count, np.int64), np.empty((count, 0), np.int8))
        return ExpressionRows(
            numbers,
            rng.integers(shapes(self.predicates), size=count),
            drawn_operators(rng, self.frequencies, (count, self.predicates - 1)),
        )


def drawn_operators(
    rng: np.random.Generator, frequencies: tuple[float, ...], size: tuple[int, ...]
) -> Operators:
    """Operators by their frequencies, as places in `trees.JUNCTIONS`."""
    return places(frequencies, rng.random(size)).astype(np.int8)
