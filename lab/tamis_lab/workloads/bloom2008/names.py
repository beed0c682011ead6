"""The choice of attribute names: all equally often, or a few very often (Pareto).

The paper gives its Pareto distribution as alpha = 1, beta = 3, without saying which is which. Here
alpha is the shape and beta the scale, P(X > x) = 3 / x: the skew is the one that the paper
describes. The n-th name is chosen if X - 3 lies between n and n + 1; X ends with the last name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CHOICES = ("uniform", "pareto")
_SCALE = 3

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NameChoice:
    """A random choice among names, by number."""

    count: int
    choice: str

    def draw(self, rng: np.random.Generator, size: int | tuple[int, int]) -> Numbers:
        """Draw names, with repetitions."""
        if self.choice == "uniform":
            return rng.integers(self.count, size=size)
        # 1 - random() is never 0; the least remaining share leads to the last name.
        least = _SCALE / (self.count + _SCALE)
        share = 1 - rng.random(size) * (1 - least)
        ranks = (_SCALE / share - _SCALE).astype(np.int64)
        return np.minimum(ranks, self.count - 1)

    def draw_distinct(self, rng: np.random.Generator, rows: int, taken: int) -> Numbers:
        """Draw rows of different names: a repeated name is drawn again."""
        found = self.draw(rng, (rows, taken))
        open_rows = np.arange(rows)
        while len(open_rows):
            again = _repeat_mask(found[open_rows])
            open_rows = open_rows[again.any(axis=1)]
            again = again[again.any(axis=1)]
            fresh = found[open_rows]
            fresh[again] = self.draw(rng, int(again.sum()))
            found[open_rows] = fresh
        return found


def _repeat_mask(rows: Numbers) -> npt.NDArray[np.bool_]:
    """Mark numbers that occur earlier in their row."""
    order = rows.argsort(axis=1, kind="stable")
    ascending = np.take_along_axis(rows, order, axis=1)
    same = np.zeros(rows.shape, np.bool_)
    same[:, 1:] = ascending[:, 1:] == ascending[:, :-1]
    met = np.empty_like(same)
    np.put_along_axis(met, order, same, axis=1)
    return met
