"""Where to hang every selector: the cheapest cover, by how many events each leaf lets through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.block_words import (
    AND,
    AT_LEAST,
    AXES,
    CONSTANT,
    OR,
    PREDICATE,
    TRUE,
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

# What becomes of a selector.
NARROW = 0
GENERAL = 1
WIDE_FLAT = 2
WIDE_TREE = 3
NEVER = 4

# The cost of what cannot be looked up: more than visiting it at every event.
NO_COVER = 2.0


class Shares(NamedTuple):
    """Which part of the events satisfies a leaf.

    Attributes:
        at: By axis, where its ranks begin in `below`.
        below: By rank, the part of the events that is on a lower rank; one more at the end.
        lacking: By axis, whether events without a value are on rank 0: they look into no bucket.
        predicates: By predicate that phase 1 decides.
        set_axis, set_offsets, set_ranks: Sets of ranks.
    """

    at: Longs
    below: Doubles
    lacking: Bytes
    predicates: Doubles
    set_axis: Ints
    set_offsets: Longs
    set_ranks: Ints


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


@kernel
def leaf_cost(word: np.uint64, shares: Shares) -> float:
    """The part of the events that will find a leaf in a bucket; NO_COVER if it can be in none."""
    axis, low, high = axis_of(word), low_of(word), high_of(word)
    if axis < AXES:
        if low > high or (low == 0 and shares.lacking[axis]):
            return NO_COVER
        at = shares.at[axis]
        return shares.below[at + high] - shares.below[at + low]
    if axis == CONSTANT:
        return 0.0 if low == 0 else NO_COVER
    if high == 1:  # a predicate, or a set of ranks, that must not hold
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
    """How many words an operand has."""
    axis = axis_of(code[at])
    return high_of(code[at]) if axis >= AXES and axis < CONSTANT else 1


@kernel
def _weigh(code: Words, cost: Doubles, begin: int, end: int, shares: Shares) -> None:
    """The cost of the cheapest cover of every operand, from the back: operands before operators."""
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
            cost[at] = _enough(code, cost, at)[1]
        else:
            cost[at] = min(_parity(code, cost, at)[1], NO_COVER)


@kernel
def _enough(code: Words, cost: Doubles, at: int) -> tuple[float, float]:
    """Of k of n: the n - k + 1 cheapest operands; the greatest cost among them, and their sum."""
    stop = at + high_of(code[at])
    found = np.empty(high_of(code[at]), np.float64)
    n = 0
    operand = at + 1
    while operand < stop:
        found[n] = cost[operand]
        n += 1
        operand += length_at(code, operand)
    found = np.sort(found[:n])
    enough = n - low_of(code[at]) + 1
    total = 0.0
    for i in range(enough):
        total += found[i]
    return found[enough - 1], min(total, NO_COVER)


@kernel
def _parity(code: Words, cost: Doubles, at: int) -> tuple[int, float]:
    """Of XOR: the operand that must be known (-1: one of all must be true), and the cost.

    Where a parity is certain every operand is known, so any one of them, with both its rails, is a
    cover; and an odd parity needs some operand to be true.
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
def _reorder(
    code: Words, cost: Doubles, end: int, shares: Shares, spare: Words, place: Longs
) -> None:
    """Put the operands of every AND and OR into the order of their cost: rare ones first.

    From the back, so that operands are in order before they are moved.
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
            # Insertion: there are few, and most are in order.
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
        _weigh(code, cost, at, stop, shares)


@kernel
def _is_exact(word: np.uint64) -> bool:
    """Whether all that stands in the leaf's bucket satisfies the leaf."""
    axis = axis_of(word)
    if axis < AXES:
        return low_of(word) & 1 == 1 and high_of(word) == low_of(word) + 1
    return axis == PREDICATE and high_of(word) == 0


@kernel
def _bucket(word: np.uint64, point_at: Longs, predicate_at: int) -> int:
    axis = axis_of(word)
    return (
        predicate_at + low_of(word) if axis == PREDICATE else point_at[axis] + (low_of(word) >> 1)
    )


@kernel
def level_of(low: int, high: int) -> int:
    """The level on which an interval is in one or two pieces."""
    shift = 0
    while ((high - 1) >> shift) - (low >> shift) > 1:
        shift += 1
    return shift


@kernel
def choose(
    code: Words,
    offsets: Longs,
    shares: Shares,
    point_at: Longs,
    predicate_at: int,
    narrow_below: float,
    general_below: float,
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
        narrow_below: A conjunction hangs under a value if fewer events have it.
        general_below: Another selector hangs under its cover if fewer events look at it.
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
        _weigh(mine, cost, 0, size, shares)
        _reorder(mine, cost, size, shares, spare, place)
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
            _weigh(mine, cost, 0, size, shares)
            choice.cost[s] = cost[0]
        else:
            exact, least = -1, 2.0 * NO_COVER
            for k in range(first, size):
                if _is_exact(mine[k]) and cost[k] < least:
                    exact, least = k, cost[k]
            if exact >= 0 and least <= narrow_below and least <= 4.0 * cost[0]:
                choice.kind[s] = NARROW
                choice.place[s] = exact
                choice.bucket[s] = _bucket(mine[exact], point_at, predicate_at)
                choice.cost[s] = least
                continue
        if cost[0] <= general_below:
            choice.kind[s] = GENERAL
            count = covered(mine, cost, cover, place)
            for i in range(count):
                word = mine[cover[i]]
                axis = axis_of(word)
                if axis < AXES and not _is_exact(word):
                    levels[axis] |= 1 << level_of(low_of(word), high_of(word))
                choice.entries[s] += entries_of(word, shares)
        else:
            choice.kind[s] = WIDE_FLAT if flat else WIDE_TREE


@kernel
def covered(code: Words, cost: Doubles, cover: Longs, pending: Longs) -> int:
    """The leaves of the cheapest cover, by place; how many there are."""
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
            limit = _enough(code, cost, at)[0]
            left = -low_of(code[at]) + 1
            while operand < stop:
                left += 1
                operand += length_at(code, operand)
            waiting = _pend(code, cost, at, limit, left, pending, waiting)
        else:
            chosen = _parity(code, cost, at)[0]
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
def _pend(
    code: Words, cost: Doubles, at: int, limit: float, left: int, pending: Longs, waiting: int
) -> int:
    """Take `left` operands of the cheapest: all below the limit, and some at it."""
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
    """Under how many buckets a leaf hangs."""
    axis = axis_of(word)
    if axis < AXES and not _is_exact(word):
        shift = level_of(low_of(word), high_of(word))
        return 1 + ((high_of(word) - 1) >> shift) - (low_of(word) >> shift)
    if axis >= AXES and axis != PREDICATE:
        return shares.set_offsets[low_of(word) + 1] - shares.set_offsets[low_of(word)]
    return 1


# -- laying out -----------------------------------------------------------------------------------


@kernel
def sort_into_buckets(bucket: Longs, offsets: Ints, order: Longs) -> None:
    """A counting sort: where the items of each bucket begin, and the items in order."""
    for i in range(len(bucket)):
        offsets[bucket[i] + 1] += 1
    for b in range(len(offsets) - 1):
        offsets[b + 1] += offsets[b]
    cursors = offsets[:-1].copy()
    for i in range(len(bucket)):
        order[cursors[bucket[i]]] = i
        cursors[bucket[i]] += 1


@kernel
def lay_narrow(
    code: Words,
    offsets: Longs,
    selectors: Longs,
    place: Longs,
    second: Words,
    rest_offsets: Longs,
    rest: Words,
) -> None:
    """The leaves of conjunctions but for the one that each hangs under."""
    filled = 0
    for i in range(len(selectors)):
        s = selectors[i]
        begin, end = offsets[s], offsets[s + 1]
        skipped = begin + place[s]
        if end - begin > 1:
            begin += 1  # the AND
        second[i] = np.uint64(TRUE)
        taken = 0
        for k in range(begin, end):
            if k == skipped:
                continue
            if taken == 0:
                second[i] = code[k]
            else:
                rest[filled] = code[k]
                filled += 1
            taken += 1
        rest_offsets[i + 1] = filled


@kernel
def lay_general(
    code: Words,
    offsets: Longs,
    selectors: Longs,
    shares: Shares,
    point_at: Longs,
    predicate_at: int,
    level_bucket: Longs,
    bucket: Longs,
    program: Ints,
    gate: Words,
) -> None:
    """The entries of selectors under their covers; `level_bucket` is by axis and level."""
    longest = 0
    for i in range(len(selectors)):
        longest = max(longest, offsets[selectors[i] + 1] - offsets[selectors[i]])
    cost = np.empty(longest, np.float64)
    cover = np.empty(longest, np.int64)
    pending = np.empty(longest + 1, np.int64)
    filled = 0
    for i in range(len(selectors)):
        mine = code[offsets[selectors[i]] : offsets[selectors[i] + 1]]
        _weigh(mine, cost, 0, len(mine), shares)
        for c in range(covered(mine, cost, cover, pending)):
            word = mine[cover[c]]
            axis = axis_of(word)
            if axis < AXES and not _is_exact(word):
                shift = level_of(low_of(word), high_of(word))
                first = level_bucket[25 * axis + shift]
                for piece in range(low_of(word) >> shift, ((high_of(word) - 1) >> shift) + 1):
                    bucket[filled], program[filled], gate[filled] = first + piece, i, word
                    filled += 1
                continue
            other = _gate(mine, cover[c])
            if axis >= AXES and axis != PREDICATE:
                number = low_of(word)
                first = point_at[shares.set_axis[number]]
                for k in range(shares.set_offsets[number], shares.set_offsets[number + 1]):
                    bucket[filled] = first + (shares.set_ranks[k] >> 1)
                    program[filled], gate[filled] = i, other
                    filled += 1
            else:
                bucket[filled] = _bucket(word, point_at, predicate_at)
                program[filled], gate[filled] = i, other
                filled += 1


@kernel
def _gate(code: Words, chosen: int) -> np.uint64:
    """A leaf that must hold besides the chosen one: one that stands right under the first AND."""
    if axis_of(code[0]) != AND:
        return np.uint64(TRUE)
    at = 1
    while at < len(code):
        axis = axis_of(code[at])
        if (axis < AXES or axis >= CONSTANT) and at != chosen:
            return code[at]
        at += length_at(code, at)
    return np.uint64(TRUE)


@kernel
def lay_trees(
    code: Words, row_of: Ints, offsets: Longs, selectors: Longs, tree_offsets: Longs, tree: Ints
) -> tuple[int, int]:
    """Selectors with rows for leaves (`row_of` is by word of `code`); the depth, and the largest n.

    With an empty `tree` only `tree_offsets` are filled.
    """
    filled, deepest, largest = 0, 0, 0
    ends = np.empty(1024, np.int64)
    for i in range(len(selectors)):
        begin, end = offsets[selectors[i]], offsets[selectors[i] + 1]
        depth = 0
        for k in range(begin, end):
            while depth > 0 and k >= ends[depth - 1]:
                depth -= 1
            axis = axis_of(code[k])
            if axis >= AXES and axis < CONSTANT:
                if depth == len(ends):
                    longer = np.empty(2 * depth, np.int64)
                    longer[:depth] = ends
                    ends = longer
                ends[depth] = k + high_of(code[k])
                depth += 1
                deepest = max(deepest, depth)
                if axis == AT_LEAST:
                    largest = max(largest, high_of(code[k]))
                if len(tree) > 0:
                    tree[filled] = -1 - (axis - AND)
                    tree[filled + 1] = low_of(code[k])
                    operators = 0
                    for j in range(k, k + high_of(code[k])):
                        inner = axis_of(code[j])
                        if inner >= AXES and inner < CONSTANT:
                            operators += 1
                    tree[filled + 2] = high_of(code[k]) + 2 * operators
                filled += 3
            else:
                if len(tree) > 0:
                    tree[filled] = row_of[k]
                filled += 1
        tree_offsets[i + 1] = filled
    return deepest, largest
