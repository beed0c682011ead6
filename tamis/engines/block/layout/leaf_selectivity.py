"""The selectivity of a leaf, for reports: the share of events that satisfies or looks it up."""

from __future__ import annotations

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.report.leaf_text import parts_of
from tamis.kernels.block.covers import NO_COVER, Shares
from tamis.kernels.block.words import AXES, CONSTANT, PREDICATE


class LeafShares:
    """The shares of leaves, by their words.

    The kernel that chooses covers does not need the shares of leaves that cannot be in a bucket,
    such as `a <> 5`. Reports do.
    """

    def __init__(self, axes: Axes, shares: Shares) -> None:
        """Create it from the shares on some axes."""
        self._axes, self._shares = axes, shares

    def share(self, word: int) -> float:
        """Return the share of events that satisfies a leaf."""
        axis, low, high = parts_of(word)
        if axis < AXES:
            if low == 0 and self._shares.lacking[axis]:  # IS NULL
                return 1.0 - self._interval_share(axis, 1, 2)
            if low < high:
                return self._interval_share(axis, low, high)
            return self._axis_share(axis) - self._interval_share(axis, high, low)
        if axis == CONSTANT:
            return float(low)
        if axis == PREDICATE:
            share = float(self._shares.predicates[low])
            return 1.0 - share if high else share
        return self._set_share(low, high == 1)

    def bucket_share(self, word: int) -> float:
        """Return the share of events that finds a leaf in a bucket; NO_COVER if it has none."""
        axis, low, high = parts_of(word)
        if axis < AXES:
            nowhere = low > high or (low == 0 and bool(self._shares.lacking[axis]))
        elif axis == CONSTANT:
            nowhere = low == 1
        else:
            nowhere = high == 1
        return NO_COVER if nowhere else self.share(word)

    def _set_share(self, number: int, unwanted: bool) -> float:
        shares = self._shares
        axis = int(shares.set_axis[number])
        first, last = shares.set_offsets[number], shares.set_offsets[number + 1]
        ranks = shares.set_ranks[first:last].tolist()
        found = sum(self._interval_share(axis, rank, rank + 1) for rank in ranks)
        return self._axis_share(axis) - found if unwanted else found

    def _interval_share(self, axis: int, low: int, high: int) -> float:
        at, below = self._shares.at[axis], self._shares.below
        return max(0.0, float(below[at + high] - below[at + low]))

    def _axis_share(self, axis: int) -> float:
        return self._interval_share(axis, 0, 2 * int(self._axes.count[axis]) + 1)
