"""Which part of the events satisfies a leaf: what the choice of covers goes by.

Before any event has been seen the predicates themselves are all there is to go by: constants are
where values are, and a value is rarely equal to a given one. From then on a sample of events tells.
"""

from __future__ import annotations

import numpy as np

from tamis.engines.block.layout.axes import Axes
from tamis.kernels.block.axis_kinds import PRESENCE, TRUTH
from tamis.kernels.block.covers import Doubles, Shares
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.words import Longs

# The weight of a constant against that of the gap beside it, as long as no events are known.
_POINT = 0.02
# So many events the guess counts for, once events are known.
_GUESSED = 0.5
# What phase 1 decides, as long as no events are known.
_PREDICATE = 0.005


def shares_of(
    axes: Axes, sets: Sets, predicates: int, rows: Rows | None, satisfied: Longs | None
) -> Shares:
    """The shares of all leaves.

    Args:
        axes: The axes.
        sets: The sets of ranks.
        predicates: How many predicates phase 1 decides.
        rows: A sample of events, on these axes; None if there is none.
        satisfied: By predicate, how many of them satisfy it.
    """
    at = axes.rank_at
    weights: Doubles = _guess(axes)
    events = 0
    if rows is not None:
        events = len(rows.offsets) - 1
        ranks = rows.ranks[: rows.offsets[-1]]
        axis = np.tile(rows.axes, events) if rows.dense else rows.axes
        there = ranks >= 0
        seen = np.bincount(at[axis[there]] + ranks[there], minlength=len(weights))
        weights = np.asarray((weights * _GUESSED + seen) / (events + _GUESSED), np.float64)
    below: Doubles = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=below[1:])
    # By axis, so that rounding on one does not spill over to the next.
    below = below[:-1] - np.repeat(below[at[:-1]], np.diff(at))
    found: Doubles = np.full(predicates, _PREDICATE)
    if satisfied is not None and events:
        found = np.asarray((satisfied + _GUESSED * _PREDICATE) / (events + _GUESSED))
    return Shares(
        at[:-1],
        below,
        (axes.kind == PRESENCE).astype(np.uint8),
        found,
        sets.axis,
        sets.offsets,
        sets.ranks,
    )


def _guess(axes: Axes) -> Doubles:
    """The weight of each rank; those of an axis make 1, and the one at its end is 0."""
    at = axes.rank_at
    weights = np.ones(at[-1])
    place = np.arange(at[-1]) - np.repeat(at[:-1], np.diff(at))
    point = np.where(np.isin(axes.kind, (TRUTH, PRESENCE)), 1.0, _POINT)
    odd = place & 1 == 1
    weights[odd] = np.repeat(point, np.diff(at))[odd]
    weights[at[1:] - 1] = 0.0
    flags = np.isin(axes.kind, (TRUTH, PRESENCE))
    weights[np.repeat(flags, np.diff(at)) & ~odd] *= 0.5
    totals = np.add.reduceat(weights, at[:-1]) if len(axes) else weights
    return weights / np.repeat(totals, np.diff(at)) if len(axes) else weights
