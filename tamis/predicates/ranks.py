"""From values to ranks among constants, exactly.

The rank of v is #{c < v} + #{c <= v}. In a type T, c < v if and only if floor_T(c) < v, and c <= v
if and only if ceil_T(c) <= v, where floor_T and ceil_T round c to a value of T. So 2^53 + 1 has a
place among doubles and 1.5 has one among integers, and two binary searches in int64 find the rank.
Doubles become int64 by an order-preserving map.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tamis.predicates.shapes import FAMILIES, Family
from tamis.predicates.term_values import TermColumn
from tamis.values import INT_MAX, INT_MIN, Scalar, Timestamp, Type

Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]

# A table with the ranks of all integers from the least to the greatest constant may have this many
# times the size of the constants: one lookup instead of a search.
_MAX_TABLE_FACTOR = 8


class Scale(NamedTuple):
    """The constants of one family as seen from one type of values.

    Attributes:
        floors: floor_T of the constants in the range of T.
        ceilings: ceil_T of them; the same array if all are values of T.
        below: The number of constants below the range of T.
        table: The rank by value - floors[0] + 1; None if the table would be too large.
    """

    floors: Ints
    ceilings: Ints
    below: int
    table: Ranks | None


class Constants:
    """The distinct constants of one family, sorted, and the ranks of values among them."""

    def __init__(self, family: Family, constants: Iterable[Scalar]) -> None:
        """Index constants, in any order and with duplicates; NaN must be one object."""
        # As dict keys, 1 equals 1.0, and 2**53 + 1 differs from 2.0**53.
        distinct = dict.fromkeys(constants)
        nan = [c for c in distinct if c != c]
        self.sorted: list[Scalar] = sorted(c for c in distinct if c == c) + nan
        self.index = {c: i for i, c in enumerate(self.sorted)}
        self._family = family
        self._scales: dict[Type, Scale] = {}

    def __len__(self) -> int:
        """Return the number of constants n; ranks are from 0 to 2n."""
        return len(self.sorted)

    def ranks(self, columns: list[TermColumn], size: int) -> Ranks:
        """Return the rank of each event's value; -1 where it has none in this family."""
        ranks: Ranks | None = None
        for column in columns:
            if FAMILIES.get(column.type) is self._family:
                found = self._column_ranks(column)
                if column.valid is None:
                    return found
                others = np.int32(-1) if ranks is None else ranks
                ranks = np.where(column.valid, found, others)
        return np.full(size, -1, np.int32) if ranks is None else ranks

    def text_ranks(self, values: list[str]) -> Ranks:
        """Return the ranks of texts."""
        constants = self.sorted
        ranks = [
            2 * i + 1 if i is not None else 2 * bisect_left(constants, v)
            for i, v in zip(map(self.index.get, values), values, strict=True)
        ]
        return np.array(ranks, np.int32)

    def _column_ranks(self, column: TermColumn) -> Ranks:
        if column.type is Type.STR:
            # NULL has code -1, which selects the last rank, -1.
            ranks_by_code = np.append(self.text_ranks(column.data.values), np.int32(-1))
            ranks: Ranks = ranks_by_code[column.data.codes]
            return ranks
        scale = self._scales.get(column.type)
        if scale is None:
            scale = self._scales[column.type] = _scale(self.sorted, column.type)
        keys = _order_of_doubles(column.data) if column.type is Type.DBL else column.data
        return _locate(scale, keys)


def _locate(scale: Scale, keys: Ints) -> Ranks:
    floors, ceilings = scale.floors, scale.ceilings
    if not len(floors):
        return np.full(len(keys), 2 * scale.below, np.int32)
    if scale.table is not None:
        # Values beyond the ends are clamped to the nearest gap: the table has one at each end.
        near = np.minimum(np.maximum(keys, floors[0] - 1), floors[-1] + 1)
        table_ranks: Ranks = scale.table[near - (floors[0] - 1)]
        return table_ranks
    under = np.searchsorted(floors, keys, "left")
    if floors is ceilings:
        upto = under + (ceilings[np.minimum(under, len(floors) - 1)] == keys)
    else:
        upto = np.searchsorted(ceilings, keys, "right")
    ranks: Ranks = (2 * scale.below + under + upto).astype(np.int32)
    return ranks


def _scale(constants: list[Scalar], kind: Type) -> Scale:
    if kind is Type.INT:
        numbers = cast("list[int | float]", constants)
        below = len([c for c in numbers if c < INT_MIN])
        inside = [c for c in numbers if INT_MIN <= c <= INT_MAX]  # which leaves out NaN
        floors = np.array([math.floor(c) for c in inside], np.int64)
        ceilings = np.array([math.ceil(c) for c in inside], np.int64)
    elif kind is Type.DBL:
        below = 0
        floors = _order_of_doubles(
            np.array([_round_to_double(c, -1) for c in constants], np.float64)
        )
        ceilings = _order_of_doubles(
            np.array([_round_to_double(c, 1) for c in constants], np.float64)
        )
    else:
        below = 0
        plain = [c.micros if isinstance(c, Timestamp) else c for c in constants]
        floors = ceilings = np.array(plain, np.int64)
    if np.array_equal(floors, ceilings):
        ceilings = floors
    return Scale(floors, ceilings, below, _table(floors, ceilings, below))


def _round_to_double(constant: Scalar, direction: int) -> float:
    """Return the nearest double not above (-1) or not below (+1) the constant."""
    assert isinstance(constant, int | float)
    near = float(constant)
    if math.isnan(near) or near == constant or (near > constant) == (direction > 0):
        return near
    return math.nextafter(near, direction * math.inf)


def _order_of_doubles(doubles: NDArray[np.float64]) -> Ints:
    """Map doubles to integers in the same order: -0.0 equals 0.0, NaN is the greatest."""
    clean = np.where(np.isnan(doubles), np.nan, doubles + 0.0)
    bits = clean.view(np.int64)
    # The bits of negative doubles are in descending order: invert them.
    return np.where(bits < 0, bits ^ np.int64(INT_MAX), bits)


def _table(floors: Ints, ceilings: Ints, below: int) -> Ranks | None:
    if floors is not ceilings or not len(floors):
        return None
    least, greatest = int(floors[0]), int(floors[-1])
    if (
        greatest - least > _MAX_TABLE_FACTOR * len(floors) + 64
        or least == INT_MIN
        or greatest == INT_MAX
    ):
        return None
    values = np.arange(least - 1, greatest + 2, dtype=np.int64)
    under = np.searchsorted(floors, values, "left")
    upto = np.searchsorted(floors, values, "right")
    ranks: Ranks = (2 * below + under + upto).astype(np.int32)
    return ranks
