"""The arrays of a ladder: built from intervals of ranks, and pruned.

`kernels/predicates/emit.py` describes the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.predicates.emit import CodeTable, Ladder, fill_ladder
from tamis.kernels.predicates.masks import Spans
from tamis.predicates.arithmetic import Bools

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


class Exclusions(NamedTuple):
    """Pairs of a constant and the place, in a list of ids, of a test that it fails."""

    constants: Ids
    places: Ids


def ladder_of(spans: Spans, others: Ids, excluded: Exclusions, constants: int) -> Ladder:
    """Build a ladder on a number of constants.

    Args:
        spans: Tests that hold for an interval of ranks.
        others: Tests that hold for every rank except those of some constants.
        excluded: Those constants, by increasing place in `others`.
        constants: The number of constants; the ranks are 0 … 2 * constants.
    """
    ids, lows, highs = spans
    top = 2 * constants
    ranks = np.arange(top + 1)
    is_point = (lows == highs) & (lows & 1 == 1)
    rises = ~is_point & (highs == top)
    falls = ~is_point & ~rises & (lows == 0)
    forks = ~(is_point | rises | falls)

    point_offsets, point_ids = _group_items(lows[is_point] >> 1, constants, ids[is_point])
    rise_ids, rise_lows = _sort_by_key(ids[rises], lows[rises])
    fall_ids, fall_highs = _sort_by_key(ids[falls], highs[falls])
    low, high = lows[forks] + 1, highs[forks] + 1
    nodes = fork(low.astype(np.int64), high.astype(np.int64))
    by_low, by_high = np.lexsort((low, nodes)), np.lexsort((-high, nodes))
    fork_ids = ids[forks]
    other_offsets, other_places = _group_items(excluded.constants, constants, excluded.places)
    return _with_sizes(
        Ladder(
            sizes=np.zeros(top + 2, np.int64),
            point_offsets=point_offsets,
            point_ids=point_ids,
            rise_counts=np.searchsorted(rise_lows, ranks, "right"),
            rise_ids=rise_ids,
            fall_starts=np.searchsorted(fall_highs, ranks, "left"),
            fall_ids=fall_ids,
            fork_offsets=_offsets(nodes, top + 2),
            low_keys=low[by_low],
            low_ids=fork_ids[by_low],
            high_keys=-high[by_high],
            high_ids=fork_ids[by_high],
            other_ids=others,
            other_offsets=other_offsets,
            other_places=other_places,
        )
    )


def prune_ladder(ladder: Ladder, is_gone: Bools) -> Ladder:
    """Return the ladder without some ids, given by a flag for every id.

    The remaining ids keep their order: nothing is sorted, and each place in a list moves down by
    the number of ids removed before it.
    """
    points, rises, falls, lows, highs, others = (
        ~is_gone[ids]
        for ids in (
            ladder.point_ids,
            ladder.rise_ids,
            ladder.fall_ids,
            ladder.low_ids,
            ladder.high_ids,
            ladder.other_ids,
        )
    )
    exclusions = others[ladder.other_places]
    return _with_sizes(
        Ladder(
            sizes=np.zeros_like(ladder.sizes),
            point_offsets=_counts_before(points)[ladder.point_offsets],
            point_ids=ladder.point_ids[points],
            rise_counts=_counts_before(rises)[ladder.rise_counts],
            rise_ids=ladder.rise_ids[rises],
            fall_starts=_counts_before(falls)[ladder.fall_starts],
            fall_ids=ladder.fall_ids[falls],
            fork_offsets=_counts_before(lows)[ladder.fork_offsets],
            low_keys=ladder.low_keys[lows],
            low_ids=ladder.low_ids[lows],
            high_keys=ladder.high_keys[highs],
            high_ids=ladder.high_ids[highs],
            other_ids=ladder.other_ids[others],
            other_offsets=_counts_before(exclusions)[ladder.other_offsets],
            other_places=_counts_before(others)[ladder.other_places[exclusions]].astype(np.int32),
        )
    )


def table_of_ranks(ladder: Ladder) -> CodeTable:
    """Return a table with the ladder's results for all ranks."""
    offsets = np.zeros(len(ladder.sizes), np.int64)
    np.cumsum(ladder.sizes[:-1], out=offsets[1:])
    ids = np.empty(offsets[-1], np.int32)
    ranks = np.arange(len(offsets) - 1, dtype=np.int32)
    fill_ladder(ladder, ranks, offsets[:-1].copy(), ids)
    return CodeTable(offsets, ids)


def fork(low: Places, high: Places) -> Places:
    """Return the number with the most trailing zeros from low to high, both at least 1.

    Its trailing zeros start at the highest bit in which low - 1 and high differ.
    """
    differ = (low - 1) ^ high
    # The exponent of a double is exactly the number of bits, for integers below 2^53.
    bits = np.frexp(differ.astype(np.float64))[1].astype(np.int64)
    step: Places = np.int64(1) << (bits - 1)
    return high & -step


def _with_sizes(ladder: Ladder) -> Ladder:
    """Count the tests that each rank satisfies; the last entry stays 0."""
    sizes = ladder.sizes[:-1]
    sizes += ladder.rise_counts + (len(ladder.fall_ids) - ladder.fall_starts)
    sizes += len(ladder.other_ids)
    sizes[1::2] += np.diff(ladder.point_offsets) - np.diff(ladder.other_offsets)
    # Places are ranks + 1; keys of ends are negative.
    begins = np.bincount(ladder.low_keys, minlength=len(sizes) + 2)
    ends = np.bincount(1 - ladder.high_keys, minlength=len(sizes) + 2)
    sizes += np.cumsum(begins - ends)[1 : len(sizes) + 1]
    return ladder


def _counts_before(stays: Bools) -> Places:
    """Return, by place, how many entries before it stay."""
    before = np.zeros(len(stays) + 1, np.int64)
    np.cumsum(stays, out=before[1:])
    return before


def _offsets(groups: NDArray[np.integer], count: int) -> Places:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(groups, minlength=count), out=offsets[1:])
    return offsets


def _group_items(groups: Ids, count: int, items: Ids) -> tuple[Places, Ids]:
    """Sort items by group, stably; return the offsets of the groups and the items."""
    return _offsets(groups, count), items[np.argsort(groups, kind="stable")]


def _sort_by_key(ids: Ids, keys: Ids) -> tuple[Ids, Ids]:
    order = np.argsort(keys, kind="stable")
    return ids[order], keys[order]
