"""The number line, divided at the ends of ranges: all numbers of a cell satisfy the same ranges."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable

from tamis.bloom.chain import Bits
from tamis.bloom.poset_predicate import StoredPredicate
from tamis.predicates.shapes import Family, Within
from tamis.values import Value

_MAX_CACHED = 1024  # maximum number of cells with cached bits


class Cells:
    """The cells at and between the ends of ranges, and the bits of the ranges of each cell."""

    def __init__(self, ranges: Iterable[StoredPredicate]) -> None:
        """Divide the number line at all ends of the ranges."""
        ends: set[int | float] = set()
        for stored in ranges:
            for test in stored.place.tests:
                if isinstance(test, Within) and test.family is Family.NUMBER:
                    for low, _, high, _ in test.intervals:
                        ends.update(end for end in (low, high) if end is not None)  # type: ignore[misc]
        # NaN cannot be sorted among the others, so with NaN as an end there are no cells.
        self._ends = None if any(end != end for end in ends) else sorted(ends)
        self._bits: dict[int, Bits] = {}

    def cell(self, value: Value) -> int | None:
        """Return the cell of a number, odd if it is an end; None for values without a cell.

        Python compares integers and floats exactly, so cells are exact too.
        """
        if self._ends is None or type(value) not in (int, float) or value != value:
            return None
        at = bisect_left(self._ends, value)  # type: ignore[type-var]
        is_end = at < len(self._ends) and self._ends[at] == value
        return 2 * at + is_end

    def bits(self, cell: int, find: Callable[[], Bits]) -> Bits:
        """Return the bits of a cell; `find` computes them if they are not cached."""
        bits = self._bits.get(cell)
        if bits is None:
            if len(self._bits) >= _MAX_CACHED:
                self._bits.clear()
            bits = self._bits[cell] = find()
        return bits
