"""Where to hang every selector: the cheapest cover, by how many events each leaf lets through."""

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

# What becomes of a selector.
NARROW = 0
GENERAL = 1
WIDE_FLAT = 2
WIDE_TREE = 3
NEVER = 4


class Choice(NamedTuple):
    """What was chosen, by selector.

    Attributes:
        kind: NARROW, GENERAL …
        place: In a conjunction, which of its leaves it hangs under.
        bucket: The bucket of that leaf.
        cost: The part of the events that will look at it.
        entries: Under how many buckets it hangs.
    """

    kind: Bytes
    place: Longs
    bucket: Longs
    cost: Doubles
    entries: Longs


class CostLimits(NamedTuple):
    """The largest part of all events that may look at a selector under its cover.

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
    """Choose for every selector, and put its operands into order.

    Args:
        code: The selectors.
        offsets: Where each begins.
        shares: How many events satisfy a leaf.
        point_at: By axis, the bucket of its first constant.
        predicate_at: The bucket of the first predicate that phase 1 decides.
        below: The costs up to which a selector is indexed.
        choice: What is chosen.
        levels: By axis, one bit for each level in use.
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
            # A sum in another order may differ in its last bit: `lay_general` must find the same.
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
