"""Write the predicates that each event satisfies: the fill pass of a CSR array.

There is no count pass: how many predicates a rank or a code satisfies is known in advance
(`Ladder.sizes`, `CodeTable.offsets`). So the caller computes the offsets with NumPy, and `cursors`
says where each event's next id goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


class Ladder(NamedTuple):
    """The tests of one attribute against m constants, in rank space.

    The rank of a value is 2i + 1 if it equals constant i, else 2i where i constants are below it:
    0 … 2m. Every test is then an interval of ranks, and is stored in the first of these structures
    that can represent it.

    Attributes:
        sizes: By rank, how many tests it satisfies; at the end 0, for the rank -1.
        point_offsets, point_ids: By constant, the tests for equality.
        rise_counts, rise_ids: Tests without an upper bound, by increasing lower bound; by rank r,
            how many of them begin at r or below.
        fall_starts, fall_ids: Tests without a lower bound, by increasing upper bound; by rank r,
            the first of them that ends at r or above.
        fork_offsets: By node, where its intervals begin in the next four arrays. A node is a rank +
            1. An interval belongs to the node inside it that is nearest to the root of the implicit
            binary tree over them: the one with the most trailing zeros (Kriegel, Pötke, Seidl:
            Managing Intervals Efficiently in Object-Relational Databases, VLDB 2000, §3.2).
        low_keys, low_ids: The intervals of a node, by increasing lower bound.
        high_keys, high_ids: The intervals of a node, by decreasing upper bound.
        other_ids: Tests that every value satisfies except for some constants.
        other_offsets, other_places: By constant, the places in `other_ids` that it excludes,
            increasing.
    """

    sizes: Places
    point_offsets: Places
    point_ids: Ids
    rise_counts: Places
    rise_ids: Ids
    fall_starts: Places
    fall_ids: Ids
    fork_offsets: Places
    low_keys: Ids
    low_ids: Ids
    high_keys: Ids
    high_ids: Ids
    other_ids: Ids
    other_offsets: Places
    other_places: Ids


class CodeTable(NamedTuple):
    """By code, the ids of the predicates that it satisfies."""

    offsets: Places
    ids: Ids


@kernel
def _copy(ids: Ids, begin: int, end: int, out: Ids, at: int) -> int:
    """Append `ids[begin:end]`; return where the next id goes.

    White-hot. LLVM vectorises a loop over two views. Assigning slices checks for overlap, and an
    index such as `at + i` is checked for being negative.
    """
    source, target = ids[begin:end], out[at : at + end - begin]
    for i in range(len(source)):
        target[i] = source[i]
    return at + end - begin


@kernel
def fill_table(table: CodeTable, codes: Ids, cursors: Places, out: Ids) -> None:
    """Append `table[codes[e]]` to every event e; a code below 0 satisfies nothing."""
    for event in range(len(codes)):
        code = codes[event]
        if code >= 0:
            begin, end = table.offsets[code], table.offsets[code + 1]
            cursors[event] = _copy(table.ids, begin, end, out, cursors[event])


@kernel
def fill_ladder(ladder: Ladder, ranks: Ids, cursors: Places, out: Ids) -> None:
    """Append the tests that `ranks[e]` satisfies to every event e; a rank below 0 has none."""
    for event in range(len(ranks)):
        rank = ranks[event]
        if rank < 0:
            continue
        at = _copy(ladder.rise_ids, 0, ladder.rise_counts[rank], out, cursors[event])
        at = _copy(ladder.fall_ids, ladder.fall_starts[rank], len(ladder.fall_ids), out, at)
        if len(ladder.low_ids) > 0:
            at = _fill_forks(ladder, rank, at, out)
        if rank & 1:
            begin, end = ladder.point_offsets[rank >> 1], ladder.point_offsets[(rank >> 1) + 1]
            at = _copy(ladder.point_ids, begin, end, out, at)
        if len(ladder.other_ids) > 0:
            at = _fill_others(ladder, rank, at, out)
        cursors[event] = at


@kernel
def _fill_forks(ladder: Ladder, rank: int, at: int, out: Ids) -> int:
    """Walk down to the rank's own node; at each node, the intervals with the rank come first."""
    place = rank + 1
    size = len(ladder.fork_offsets) - 1
    step = 1
    while step < size:
        step <<= 1
    while step > 0:
        # The ancestor of the place at this height: its higher bits, then a one, then zeros.
        node = (place & -(2 * step)) | step
        if node < size:
            begin, end = ladder.fork_offsets[node], ladder.fork_offsets[node + 1]
            if node == place:
                return _copy(ladder.low_ids, begin, end, out, at)
            if begin < end:
                if place < node:
                    end = _upper_bound(ladder.low_keys, begin, end, place)
                    at = _copy(ladder.low_ids, begin, end, out, at)
                else:
                    end = _upper_bound(ladder.high_keys, begin, end, -place)
                    at = _copy(ladder.high_ids, begin, end, out, at)
        step >>= 1
    return at


@kernel
def _upper_bound(keys: Ids, begin: int, end: int, key: int) -> int:
    """Return the first place with a greater key."""
    while begin < end:
        middle = (begin + end) >> 1
        if keys[middle] <= key:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _fill_others(ladder: Ladder, rank: int, at: int, out: Ids) -> int:
    done = 0
    if rank & 1:
        constant = rank >> 1
        for i in range(ladder.other_offsets[constant], ladder.other_offsets[constant + 1]):
            place = ladder.other_places[i]
            at = _copy(ladder.other_ids, done, place, out, at)
            done = place + 1
    return _copy(ladder.other_ids, done, len(ladder.other_ids), out, at)
