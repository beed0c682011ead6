"""Half-lines of one direction: `x < c` and `x <= c`, or `x > c` and `x >= c`, in order.

Of any two, one covers the other, so they form a chain of the poset. The half-lines that a value
satisfies are one end of the chain, found by bisection instead of by following links.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from itertools import accumulate, islice

import numpy as np
import numpy.typing as npt

from tamis.bloom.poset_predicate import StoredPredicate
from tamis.predicates.shapes import Interval
from tamis.values import Scalar

# Whether the constant is NaN (NaN is above all other numbers); the constant; and False for the
# half-line that comes first in the chain of the two that end (or begin) at the constant.
Key = tuple[bool, Scalar, bool]
Bits = npt.NDArray[np.int32]


class Chain:
    """A chain of half-lines.

    Attributes:
        keys: The keys, ascending.
    """

    def __init__(self, upper: bool) -> None:
        """Create an empty chain; `upper` half-lines are bounded from above."""
        self._upper = upper
        self.keys: list[Key] = []
        self._stored: dict[Key, list[StoredPredicate]] = {}
        self._layout: tuple[Bits, list[int]] | None = None

    def __len__(self) -> int:
        """Return the number of distinct half-lines."""
        return len(self.keys)

    def add(self, interval: Interval, stored: StoredPredicate) -> None:
        """Add a half-line."""
        key = self._key(interval)
        if key not in self._stored:
            insort(self.keys, key)
            self._stored[key] = []
        self._stored[key].append(stored)
        self._layout = None

    def remove(self, interval: Interval, stored: StoredPredicate) -> None:
        """Remove a half-line."""
        key = self._key(interval)
        members = self._stored[key]
        members.remove(stored)
        self._layout = None
        if not members:
            del self._stored[key]
            del self.keys[bisect_left(self.keys, key)]

    def end(self, value: Scalar) -> int:
        """Return how many of the half-lines, from the widest on, contain a value."""
        least, value = _order_key(value)
        if self._upper:
            return len(self.keys) - bisect_left(self.keys, (least, value, True))
        return bisect_right(self.keys, (least, value, False))

    def widest_predicates(self, count: int) -> list[StoredPredicate]:
        """Return the predicates of the `count` widest half-lines."""
        keys = reversed(self.keys) if self._upper else self.keys
        return [stored for key in islice(keys, count) for stored in self._stored[key]]

    def bits(self, count: int) -> Bits:
        """Return the bits of the `count` widest: the filter of the narrowest, with its covers.

        The bits of all half-lines are in one array, from the widest on. So the result is a prefix
        of it, and the filters of a chain take no more room than the bits of its half-lines.
        """
        if self._layout is None:
            keys = reversed(self.keys) if self._upper else self.keys
            groups = [self._stored[key] for key in keys]
            bits = [place for group in groups for stored in group for place in stored.places]
            sizes = (sum(len(stored.places) for stored in group) for group in groups)
            self._layout = np.array(bits, np.int32), [0, *accumulate(sizes)]
        laid_out, ends = self._layout
        return laid_out[: ends[count]]

    def _key(self, interval: Interval) -> Key:
        # x < 5 is within x <= 5 and comes before it; x >= 5 comes before x > 5, which it covers.
        if self._upper:
            assert interval.high is not None
            return *_order_key(interval.high), interval.high_closed
        assert interval.low is not None
        return *_order_key(interval.low), not interval.low_closed


def _order_key(value: Scalar) -> tuple[bool, Scalar]:
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)
