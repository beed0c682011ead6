"""The two expressions of a subscription, many at a time, as arrays.

Expressions of pool A are dealt, those of pool B are drawn (§5.2.3). Pool B "is intentionally kept
very large", so that hardly any expression is used twice: here it is infinite, and never stored.
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
    """Expressions with the same number of predicates, one in each row.

    Attributes:
        numbers: Their predicates.
        shapes: Their shapes by rank, as in `trees`.
        operators: Their operators in preorder, as places in `trees.JUNCTIONS`. Conjunctions have
            none, because the shape of a conjunction does not matter.
    """

    numbers: Numbers
    shapes: npt.NDArray[np.int64]
    operators: Operators

    def put(
        self, where: npt.NDArray[np.bool_], parts: ExpressionRows, rows: npt.NDArray[np.int64]
    ) -> None:
        """Replace the rows at `where` by rows of other parts."""
        self.numbers[where] = parts.numbers[rows]
        self.shapes[where] = parts.shapes[rows]
        self.operators[where] = parts.operators[rows]


@dataclass(frozen=True, slots=True)
class ExpressionSide:
    """What the expressions on one side of the root have in common.

    Attributes:
        first: The first attribute of this side.
        attributes: Number of attributes of this side.
        predicates: Number of predicates of an expression, each on another attribute.
        choices: Number of predicates of an attribute.
        frequencies: Of AND, OR and XOR; None for conjunctions, which are ordered by attribute.
    """

    first: int
    attributes: int
    predicates: int
    choices: int
    frequencies: tuple[float, ...] | None

    def draw(self, rng: np.random.Generator, count: int) -> ExpressionRows:
        """Draw expressions of pool B: any predicates."""
        attributes = self._attributes(rng, count)
        values = rng.integers(self.choices, size=attributes.shape, dtype=np.int32)
        return self._parts(rng, attributes, values)

    def deal(self, rng: np.random.Generator, count: int) -> ExpressionRows:
        """Deal expressions of pool A: an attribute uses all its predicates before repeating one.

        So no two expressions have a predicate in common, as long as there are enough values.

        Raises:
            InputError: There are so few values that an expression occurs twice.
        """
        attributes = self._attributes(rng, count)
        decks = np.empty((self.attributes, count), np.int32)
        for deck in decks:
            for start in range(0, count, self.choices):
                cards = min(self.choices, count - start)
                deck[start : start + cards] = rng.choice(self.choices, cards, replace=False)
        parts = self._parts(rng, attributes, decks[attributes, np.arange(count)[:, None]])
        if len(np.unique(np.sort(parts.numbers, axis=1), axis=0)) < count:
            raise InputError(
                "contains an expression twice; use a smaller pool or more values", "pool"
            )
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
    """Draw operators by their frequencies, as places in `trees.JUNCTIONS`."""
    return places(frequencies, rng.random(size)).astype(np.int8)
