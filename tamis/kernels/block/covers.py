"""Covers: leaves of which one must hold for a selector to hold, and their costs.

The cost of a cover is the share of events that will check the selector: the sum of the shares that
satisfy its leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.block.words import (
    AND,
    AT_LEAST,
    AXES,
    CONSTANT,
    OR,
    PREDICATE,
    XOR,
    Bytes,
    Ints,
    Longs,
    Words,
    axis_of,
    high_of,
    low_of,
)
from tamis.kernels.decorator import kernel

Doubles = NDArray[np.float64]

# The cost of an operand without a cover: more than a check for every event.
NO_COVER = 2.0


class Shares(NamedTuple):
    """The share of events that satisfies each leaf.

    Attributes:
        at: By axis, where its ranks begin in `below`.
        below: By rank, the share of events on a lower rank; one more at the end.
        lacking: By axis, whether events without a value are on rank 0; they search no bucket.
        predicates: By predicate that phase 1 decides, the share that satisfies it.
        set_axis, set_offsets, set_ranks: Sets of ranks.
    """

    at: Longs
    below: Doubles
    lacking: Bytes
    predicates: Doubles
    set_axis: Ints
    set_offsets: Longs
    set_ranks: Ints


@kernel
def leaf_cost(word: np.uint64, shares: Shares) -> float:
    """Return the share of events that finds a leaf in a bucket; NO_COVER if it has no bucket."""
    axis, low, high = axis_of(word), low_of(word), high_of(word)
    if axis < AXES:
        if low > high or (low == 0 and shares.lacking[axis]):
            return NO_COVER
        at = shares.at[axis]
        return shares.below[at + high] - shares.below[at + low]
    if axis == CONSTANT:
        return 0.0 if low == 0 else NO_COVER
    if high == 1:  # a negated predicate or set of ranks
        return NO_COVER
    if axis == PREDICATE:
        return shares.predicates[low]
    at = shares.at[shares.set_axis[low]]
    total = 0.0
    for i in range(shares.set_offsets[low], shares.set_offsets[low + 1]):
        rank = shares.set_ranks[i]
        total += shares.below[at + rank + 1] - shares.below[at + rank]
    return total


@kernel
def length_at(code: Words, at: int) -> int:
    """Return the number of words of an operand."""
    axis = axis_of(code[at])
    return high_of(code[at]) if axis >= AXES and axis < CONSTANT else 1


@kernel
def weigh(code: Words, cost: Doubles, begin: int, end: int, shares: Shares) -> None:
    """Compute the cost of the cheapest cover of every operand.

    From the back, so that operands come before their operators.
    """
    for at in range(end - 1, begin - 1, -1):
        word = code[at]
        axis = axis_of(word)
        if axis < AXES or axis >= CONSTANT:
            cost[at] = leaf_cost(word, shares)
            continue
        stop = at + high_of(word)
        operand = at + 1
        if axis == AND:
            best = NO_COVER
            while operand < stop:
                best = min(best, cost[operand])
                operand += length_at(code, operand)
            cost[at] = best
        elif axis == OR:
            total = 0.0
            while operand < stop:
                total += cost[operand]
                operand += length_at(code, operand)
            cost[at] = min(total, NO_COVER)
        elif axis == AT_LEAST:
            cost[at] = _at_least_cost(code, cost, at)[1]
        else:
            cost[at] = min(_xor_cost(code, cost, at)[1], NO_COVER)


@kernel
def _at_least_cost(code: Words, cost: Doubles, at: int) -> tuple[float, float]:
    """Return the greatest and the total cost of the n - k + 1 cheapest operands of k of n.

    If they are all false, fewer than k operands are true: they are a cover.
    """
    stop = at + high_of(code[at])
    costs = np.empty(high_of(code[at]), np.float64)
    n = 0
    operand = at + 1
    while operand < stop:
        costs[n] = cost[operand]
        n += 1
        operand += length_at(code, operand)
    costs = np.sort(costs[:n])
    enough = n - low_of(code[at]) + 1
    total = 0.0
    for i in range(enough):
        total += costs[i]
    return costs[enough - 1], min(total, NO_COVER)


@kernel
def _xor_cost(code: Words, cost: Doubles, at: int) -> tuple[int, float]:
    """Return the operand of a parity that is the cheapest cover, and its cost.

    Where a parity is certain, every operand is known. So any operand is a cover, with both of its
    rails (certainly true, certainly false). An odd parity also needs some operand to be true, so
    all the true rails are a cover; then the operand is -1.
    """
    stop = at + high_of(code[at])
    chosen, best, total = -1, 2.0 * NO_COVER, 0.0
    operand = at + 1
    while operand < stop:
        other = operand + length_at(code, operand)
        total += cost[operand]
        if cost[operand] + cost[other] < best:
            chosen, best = operand, cost[operand] + cost[other]
        operand = other + length_at(code, other)
    if axis_of(code[at]) == XOR and total <= best:
        return -1, total
    return chosen, best


@kernel
def reorder(
    code: Words, cost: Doubles, end: int, shares: Shares, spare: Words, place: Longs
) -> None:
    """Sort the operands of every AND and OR by cost, the rarest first.

    From the back, so that operands are sorted before they are moved.
    """
    for at in range(end - 1, -1, -1):
        axis = axis_of(code[at])
        if axis != AND and axis != OR:
            continue
        stop = at + high_of(code[at])
        n = 0
        operand = at + 1
        ordered = True
        while operand < stop:
            # Insertion sort: there are few operands, and most are in order.
            i = n
            while i > 0 and cost[place[i - 1]] > cost[operand]:
                place[i] = place[i - 1]
                i -= 1
                ordered = False
            place[i] = operand
            n += 1
            operand += length_at(code, operand)
        if ordered:
            continue
        filled = 0
        for i in range(n):
            for k in range(length_at(code, place[i])):
                spare[filled] = code[place[i] + k]
                filled += 1
        for k in range(filled):
            code[at + 1 + k] = spare[k]
        weigh(code, cost, at, stop, shares)


@kernel
def is_exact(word: np.uint64) -> bool:
    """Return whether every event that searches the leaf's bucket satisfies the leaf."""
    axis = axis_of(word)
    if axis < AXES:
        return low_of(word) & 1 == 1 and high_of(word) == low_of(word) + 1
    return axis == PREDICATE and high_of(word) == 0


@kernel
def bucket_of(word: np.uint64, point_at: Longs, predicate_at: int) -> int:
    """Return the bucket of an exact leaf: that of its value, or of its predicate."""
    axis = axis_of(word)
    return (
        predicate_at + low_of(word) if axis == PREDICATE else point_at[axis] + (low_of(word) >> 1)
    )


@kernel
def level_of(low: int, high: int) -> int:
    """Return the lowest level on which an interval is in at most two pieces."""
    shift = 0
    while ((high - 1) >> shift) - (low >> shift) > 1:
        shift += 1
    return shift


@kernel
def cheapest_cover(code: Words, cost: Doubles, cover: Longs, pending: Longs) -> int:
    """Fill in the places of the leaves of the cheapest cover; return how many there are."""
    count = 0
    pending[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        at = pending[waiting]
        axis = axis_of(code[at])
        if axis < AXES or axis >= CONSTANT:
            if axis != CONSTANT:
                cover[count] = at
                count += 1
            continue
        stop = at + high_of(code[at])
        operand = at + 1
        if axis == AND:
            best = operand
            while operand < stop:
                if cost[operand] < cost[best]:
                    best = operand
                operand += length_at(code, operand)
            pending[waiting] = best
            waiting += 1
        elif axis == OR:
            while operand < stop:
                pending[waiting] = operand
                waiting += 1
                operand += length_at(code, operand)
        elif axis == AT_LEAST:
            limit = _at_least_cost(code, cost, at)[0]
            left = -low_of(code[at]) + 1
            while operand < stop:
                left += 1
                operand += length_at(code, operand)
            waiting = _push_cheapest(code, cost, at, limit, left, pending, waiting)
        else:
            chosen = _xor_cost(code, cost, at)[0]
            while operand < stop:
                other = operand + length_at(code, operand)
                if chosen < 0 or chosen == operand:
                    pending[waiting] = operand
                    waiting += 1
                if chosen == operand:
                    pending[waiting] = other
                    waiting += 1
                operand = other + length_at(code, other)
    return count


@kernel
def _push_cheapest(
    code: Words, cost: Doubles, at: int, limit: float, left: int, pending: Longs, waiting: int
) -> int:
    """Push the `left` cheapest operands: all below the limit, and some at it."""
    stop = at + high_of(code[at])
    for below in (True, False):
        operand = at + 1
        while operand < stop:
            taken = cost[operand] < limit if below else cost[operand] == limit
            if taken and left > 0:
                pending[waiting] = operand
                waiting += 1
                left -= 1
            operand += length_at(code, operand)
    return waiting


@kernel
def entries_of(word: np.uint64, shares: Shares) -> int:
    """Return the number of buckets that a leaf of a cover is in."""
    axis = axis_of(word)
    if axis < AXES and not is_exact(word):
        shift = level_of(low_of(word), high_of(word))
        return 1 + ((high_of(word) - 1) >> shift) - (low_of(word) >> shift)
    if axis >= AXES and axis != PREDICATE:
        return shares.set_offsets[low_of(word) + 1] - shares.set_offsets[low_of(word)]
    return 1
