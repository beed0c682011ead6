"""Choose a cover for every selector: the one that lets the fewest events through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.covers import (
    NO_COVER,
    Doubles,
    Shares,
    bucket_of,
    cheapest_cover,
    entries_of,
    is_exact,
    level_of,
    reorder,
    weigh,
)
from tamis.kernels.block.words import (
    AND,
    AXES,
    CONSTANT,
    Bytes,
    Longs,
    Words,
    axis_of,
    high_of,
    low_of,
)
from tamis.kernels.decorator import kernel

# How a selector is matched.
NARROW = 0  # a conjunction, indexed under one value
GENERAL = 1  # indexed under its cover
WIDE_FLAT = 2  # a conjunction, matched in blocks
WIDE_TREE = 3  # another selector, matched in blocks
NEVER = 4  # no event satisfies it


class Choice(NamedTuple):
    """The choices, by selector.

    Attributes:
        kind: NARROW, GENERAL …
        place: For NARROW, the place of the leaf that it is indexed under.
        bucket: For NARROW, the bucket of that leaf.
        cost: The share of events that checks the selector.
        entries: For GENERAL, the number of buckets that it is in.
    """

    kind: Bytes
    place: Longs
    bucket: Longs
    cost: Doubles
    entries: Longs


class CostLimits(NamedTuple):
    """The largest share of events that may check a selector under its cover.

    Attributes:
        narrow: For a conjunction under a single value.
        general: For any other selector.
    """

    narrow: float
    general: float


@kernel
def choose(
    code: Words,
    offsets: Longs,
    shares: Shares,
    point_at: Longs,
    predicate_at: int,
    below: CostLimits,
    choice: Choice,
    levels: Longs,
) -> None:
    """Choose how to match each selector, and sort its operands by cost.

    Args:
        code: The selectors; their operands are sorted in place.
        offsets: Where each selector begins in `code`.
        shares: The share of events that satisfies each leaf.
        point_at: By axis, the bucket of its first constant.
        predicate_at: The bucket of the first predicate that phase 1 decides.
        below: The costs up to which a selector is indexed.
        choice: Filled in.
        levels: Filled in: by axis, one bit for each level in use.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    cost = np.empty(longest, np.float64)
    spare = np.empty(longest, np.uint64)
    place = np.empty(longest + 1, np.int64)
    cover = np.empty(longest, np.int64)
    for s in range(len(offsets) - 1):
        mine = code[offsets[s] : offsets[s + 1]]
        size = len(mine)
        weigh(mine, cost, 0, size, shares)
        reorder(mine, cost, size, shares, spare, place)
        choice.cost[s] = cost[0]
        choice.entries[s] = 0
        if axis_of(mine[0]) == CONSTANT and low_of(mine[0]) == 0:
            choice.kind[s] = NEVER
            continue
        first, flat = 0, True
        if axis_of(mine[0]) == AND:
            first = 1
        for k in range(first, size):
            axis = axis_of(mine[k])
            if axis >= AXES and axis < CONSTANT:
                flat = False
        if not flat:
            # A sum in another order may differ in its last bit, and `lay_general` must find the
            # same cover.
            weigh(mine, cost, 0, size, shares)
            choice.cost[s] = cost[0]
        else:
            exact, least = -1, 2.0 * NO_COVER
            for k in range(first, size):
                if is_exact(mine[k]) and cost[k] < least:
                    exact, least = k, cost[k]
            if exact >= 0 and least <= below.narrow and least <= 4.0 * cost[0]:
                choice.kind[s] = NARROW
                choice.place[s] = exact
                choice.bucket[s] = bucket_of(mine[exact], point_at, predicate_at)
                choice.cost[s] = least
                continue
        if cost[0] <= below.general:
            choice.kind[s] = GENERAL
            count = cheapest_cover(mine, cost, cover, place)
            for i in range(count):
                word = mine[cover[i]]
                axis = axis_of(word)
                if axis < AXES and not is_exact(word):
                    levels[axis] |= 1 << level_of(low_of(word), high_of(word))
                choice.entries[s] += entries_of(word, shares)
        else:
            choice.kind[s] = WIDE_FLAT if flat else WIDE_TREE
