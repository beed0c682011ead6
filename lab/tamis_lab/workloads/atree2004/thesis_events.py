"""Events (§5.2.4): a random number of attributes, and values that control how many match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis_lab.workloads.atree2004.parts import ExpressionRows
from tamis_lab.workloads.atree2004.predicates import Numbers, PredicateTable
from tamis_lab.workloads.atree2004.trees import satisfying_values

_Whole = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


class Targets(NamedTuple):
    """How to make expressions true, one in each row: their predicates, and which must hold."""

    numbers: Numbers
    truths: _Flags

    @classmethod
    def of(cls, parts: ExpressionRows) -> Targets:
        """Return the targets for these expressions."""
        truths = np.ones(parts.numbers.shape, np.bool_)
        if parts.operators.size:
            for truth, shape, operators in zip(
                truths, parts.shapes.tolist(), parts.operators.tolist(), strict=True
            ):
                truth[:] = satisfying_values(len(truth), shape, operators)
        return cls(parts.numbers, truths)


@dataclass(frozen=True, slots=True)
class EventMaker:
    """How events are drawn.

    Attributes:
        table: The predicates to satisfy.
        targets: An event is made for one of each.
        fewest: The least number of attributes of an event.
    """

    table: PredicateTable
    targets: tuple[Targets, Targets]
    fewest: int

    def draw(
        self, rng: np.random.Generator, count: int, matching: float, scale: float
    ) -> tuple[_Whole, _Flags]:
        """Draw events; return values by attribute, and which attributes are present.

        The draws are the same for any `matching` and `scale`, so that these two change nothing
        else.
        """
        width = self.table.attributes
        made = rng.random(count) < matching
        chosen = [rng.integers(len(target.numbers), size=count)[made] for target in self.targets]
        share = rng.random(count)
        keys = rng.random((count, width))
        spread = rng.random((count, width))

        top = max(1, round(scale * self.table.values))
        values = 1 + (spread * top).astype(np.int64)
        rows = np.flatnonzero(made)[:, None]
        pairs = list(zip(self.targets, chosen, strict=True))
        numbers = np.hstack([target.numbers[which] for target, which in pairs])
        truths = np.hstack([target.truths[which] for target, which in pairs])
        attributes, constants = self.table.split(numbers)
        values[rows, attributes] = self._deciding_values(
            self.table.places(numbers),
            constants.astype(np.int64),
            truths,
            spread[rows, attributes],
            top,
        )

        fewest = np.where(made, max(self.fewest, numbers.shape[1]), self.fewest)
        lengths = fewest + (share * (width + 1 - fewest)).astype(np.int64)
        keys[rows, attributes] -= 1  # sorts them before all others
        last = np.take_along_axis(np.sort(keys, axis=1), lengths[:, None] - 1, axis=1)
        return values, keys <= last

    def _deciding_values(
        self,
        places: Numbers,
        constants: _Whole,
        truths: _Flags,
        spread: npt.NDArray[np.float64],
        top: int,
    ) -> _Whole:
        """Return values that make each predicate true or false, as required."""
        equal, bound_below, above = (
            np.array(kind)[places]
            for kind in zip(*(_KINDS[r] for r in self.table.relations), strict=True)
        )
        exactly = np.where(truths == above, constants, constants % self.table.values + 1)
        # All other relations are `>` with this bound, or its negation.
        bounds = constants - bound_below
        greater = truths == above
        low = np.where(greater, bounds + 1, np.minimum(bounds, 1))
        high = np.where(
            greater, np.maximum(bounds + 1, top), np.maximum(low, np.minimum(bounds, top))
        )
        within = low + (spread * (high + 1 - low)).astype(np.int64)
        return np.where(equal, exactly, within)


# By relation: whether it is about one value; whether its bound is one less than the constant; and
# whether it is `=` or `>` itself, or the negation.
_KINDS = {
    "=": (True, False, True),
    "<>": (True, False, False),
    ">": (False, False, True),
    "<=": (False, False, False),
    ">=": (False, True, True),
    "<": (False, True, False),
}
