"""The selectivity of leaves: the share of events that satisfies each. Covers are chosen by it.

Before any event has been seen, it is guessed from the constants: values are where constants are,
and a value is rarely equal to a given one. From then on, a sample of events gives the shares.
"""

from __future__ import annotations

import numpy as np

from tamis.engines.block.layout.axes import Axes
from tamis.kernels.block.axis_kinds import PRESENCE, TRUTH
from tamis.kernels.block.covers import Doubles, Shares
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.words import Longs

# The weight of a constant relative to the gap beside it, while no events are known.
_POINT = 0.02
# The number of events that the guess counts as, once events are known.
_GUESSED = 0.5
# The share of a predicate that phase 1 decides, while no events are known.
_PREDICATE = 0.005


def shares_of(
    axes: Axes, sets: Sets, predicates: int, rows: Rows | None, satisfied: Longs | None
) -> Shares:
    """Return the shares of all leaves.

    Args:
        axes: The axes.
        sets: The sets of ranks.
        predicates: The number of predicates that phase 1 decides.
        rows: A sample of events, ranked on these axes; None if there is none.
        satisfied: By predicate, how many events of the sample satisfy it.
    """
    at = axes.rank_at
    weights: Doubles = _guess(axes)
    events = 0
    if rows is not None:
        events = len(rows.offsets) - 1
        ranks = rows.ranks[: rows.offsets[-1]]
        axis = np.tile(rows.axes, events) if rows.dense else rows.axes
        present = ranks >= 0
        seen = np.bincount(at[axis[present]] + ranks[present], minlength=len(weights))
        weights = np.asarray((weights * _GUESSED + seen) / (events + _GUESSED), np.float64)
    below: Doubles = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=below[1:])
    # Relative to the start of each axis, so that rounding on one does not affect the next.
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
    """Guess the weight of each rank; those of an axis add up to 1, and the one at its end is 0."""
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
