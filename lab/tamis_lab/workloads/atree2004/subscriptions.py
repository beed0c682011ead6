"""Subscriptions (§5.2.3), a block at a time: two expressions each, from pool A or B."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tamis_lab.workloads.atree2004.parts import (
    ExpressionRows,
    ExpressionSide,
    Operators,
    drawn_operators,
)
from tamis_lab.workloads.atree2004.predicates import Numbers

# The form of an expression, as in `trees`: its shape and its operators.
TreeForm = tuple[int, list[int]]


class SubscriptionBlock(NamedTuple):
    """Subscriptions as their two expressions and the operators at their roots."""

    left: ExpressionRows
    right: ExpressionRows
    roots: Operators

    def numbers(self) -> Numbers:
        """Return the predicates of each subscription, in a row."""
        return np.hstack((self.left.numbers, self.right.numbers))

    def rows(self) -> Iterator[tuple[list[int], TreeForm, TreeForm, int]]:
        """Yield the subscriptions: predicates, the forms of both expressions, root."""
        return zip(
            self.numbers().tolist(),
            *(
                zip(part.shapes.tolist(), part.operators.tolist(), strict=True)
                for part in (self.left, self.right)
            ),
            self.roots.tolist(),
            strict=True,
        )


class Mixture(NamedTuple):
    """How subscriptions are composed.

    Attributes:
        sides: How left and right expressions of pool B are drawn.
        pools: The left and right expressions of pool A.
        frequencies: Of AND, OR and XOR at the root.
        overlap: The fraction of subscriptions that are not unique.
        repeated: The fraction of those that have both expressions from pool A.
    """

    sides: tuple[ExpressionSide, ExpressionSide]
    pools: tuple[ExpressionRows, ExpressionRows]
    frequencies: tuple[float, ...]
    overlap: float
    repeated: float

    def draw(self, rng: np.random.Generator, count: int) -> SubscriptionBlock:
        """Draw subscriptions."""
        left_from_pool = rng.random(count) < self.overlap
        right_from_pool = left_from_pool & (rng.random(count) < self.repeated)
        parts = []
        for side, pool, from_pool in zip(
            self.sides, self.pools, (left_from_pool, right_from_pool), strict=True
        ):
            part = side.draw(rng, count)
            part.put(from_pool, pool, rng.integers(len(pool.numbers), size=count)[from_pool])
            parts.append(part)
        left, right = parts
        return SubscriptionBlock(left, right, drawn_operators(rng, self.frequencies, (count,)))
