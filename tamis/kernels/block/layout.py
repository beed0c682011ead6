"""Lay out selectors under their covers, or as trees over rows, as `choose` decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.covers import (
    Shares,
    bucket_of,
    cheapest_cover,
    is_exact,
    length_at,
    level_of,
    weigh,
)
from tamis.kernels.block.match import Buckets
from tamis.kernels.block.words import (
    AND,
    AT_LEAST,
    AXES,
    CONSTANT,
    PREDICATE,
    TRUE,
    Ints,
    Longs,
    Words,
    axis_of,
    high_of,
    low_of,
)
from tamis.kernels.decorator import kernel


class CoverEntries(NamedTuple):
    """Entries of selectors under their covers.

    Attributes:
        bucket: The bucket of an entry.
        program: The selector, by its place among those laid out.
        gate: A leaf that must hold besides; see `GeneralSelectors`.
    """

    bucket: Longs
    program: Ints
    gate: Words


@kernel
def sort_into_buckets(bucket: Longs, offsets: Ints, order: Longs) -> None:
    """Sort items by bucket: fill in where the items of each bucket begin, and their order."""
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
    """Fill in the leaves of conjunctions, without the one that each is indexed under."""
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
    buckets: Buckets,
    level_bucket: Longs,
    entries: CoverEntries,
) -> None:
    """Fill in the entries of selectors under their covers.

    Args:
        code: All selectors.
        offsets: Where each begins in `code`.
        selectors: The selectors to lay out.
        shares: How many events satisfy each leaf.
        buckets: The buckets.
        level_bucket: By axis and level, the bucket of its first piece.
        entries: Room for exactly as many entries as `choose` has counted.
    """
    point_at, predicate_at = buckets.point_at, buckets.predicate_at
    bucket, program, gate = entries.bucket, entries.program, entries.gate
    longest = 0
    for i in range(len(selectors)):
        longest = max(longest, offsets[selectors[i] + 1] - offsets[selectors[i]])
    cost = np.empty(longest, np.float64)
    cover = np.empty(longest, np.int64)
    pending = np.empty(longest + 1, np.int64)
    filled = 0
    for i in range(len(selectors)):
        mine = code[offsets[selectors[i]] : offsets[selectors[i] + 1]]
        weigh(mine, cost, 0, len(mine), shares)
        for c in range(cheapest_cover(mine, cost, cover, pending)):
            word = mine[cover[c]]
            axis = axis_of(word)
            if axis < AXES and not is_exact(word):
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
                bucket[filled] = bucket_of(word, point_at, predicate_at)
                program[filled], gate[filled] = i, other
                filled += 1


@kernel
def _gate(code: Words, chosen: int) -> np.uint64:
    """Return another leaf that must hold: an operand of the outermost AND; TRUE if it has none."""
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
    """Write selectors as trees over rows; see `WideSelectors`.

    Args:
        code: The selectors.
        row_of: By word of `code`, the row of a leaf.
        offsets: Where each selector begins in `code`.
        selectors: The selectors to write.
        tree_offsets: Where each tree begins in `tree`.
        tree: The trees; if empty, only `tree_offsets` are filled in.

    Returns:
        The depth of the deepest selector, and the largest length of a k-of-n.
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
