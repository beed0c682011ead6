"""One event by itself: its ranks, and the selectors that are otherwise looked at in blocks."""

from __future__ import annotations

import numpy as np

from tamis.kernels.block.holds import OTHER, Sets, leaf_holds, propagate
from tamis.kernels.block.masks import WideSelectors
from tamis.kernels.block.ranks import (
    BOOL,
    DOUBLE,
    INT,
    TEXT,
    Doubles,
    Scales,
    ordered_double,
    rank_of,
    rank_texts,
)
from tamis.kernels.block.words import (
    AXES,
    Bytes,
    Ints,
    Longs,
    Words,
    axis_of,
    contains,
    high_of,
    low_of,
)
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array


@kernel
def rank_event(
    slots: Longs,
    kinds: Longs,
    ints: Longs,
    doubles: Doubles,
    text_bounds: Longs,
    texts: Bytes,
    lookup: Longs,
    kinds_of_axes: int,
    axis_kind: Longs,
    presence: int,
    int_scales: Scales,
    double_scales: Scales,
    begin: Longs,
    count: Longs,
    bounds: Longs,
    constants: Bytes,
    axes: Ints,
    ranks: Ints,
) -> int:
    """The axes and ranks of an event's values; how many there are.

    Args:
        slots: By value, its term.
        kinds: What it is: INT, DOUBLE …
        ints: The value as an integer; of a text, its number.
        doubles: The value as a double.
        text_bounds: By text, where it begins.
        texts: The texts, in UTF-8.
        lookup: By term and kind, the axis, or -1.
        kinds_of_axes: How many kinds of axes there are.
        axis_kind: By kind of value, the kind of its axis.
        presence: The kind of axis that every value is on.
        int_scales: The constants as seen from integers.
        double_scales: The constants as seen from doubles.
        begin: By axis, its first constant.
        count: By axis, how many constants it has.
        bounds: By constant text, where it begins.
        constants: The constant texts.
        axes: The axes that are found.
        ranks: The ranks that are found.
    """
    filled = 0
    one = np.empty(1, np.int32)
    bits = doubles.view(np.int64)
    for i in range(len(slots)):
        at = slots[i] * kinds_of_axes
        if at >= len(lookup):
            continue
        axis = lookup[at + presence]
        if axis >= 0:
            axes[filled], ranks[filled] = axis, 1
            filled += 1
        kind = kinds[i]
        axis = lookup[at + axis_kind[kind]]
        if axis < 0:
            continue
        rank = -1
        if kind == INT or kind == BOOL:
            rank = rank_of(int_scales, axis, ints[i])
        elif kind == DOUBLE:
            rank = rank_of(double_scales, axis, ordered_double(bits[i]))
        elif kind == TEXT:
            text = text_bounds[ints[i] : ints[i] + 2]
            rank_texts(text, texts, begin[axis], count[axis], bounds, constants, one)
            rank = one[0]
        axes[filled], ranks[filled] = axis, rank
        filled += 1
    return filled


@kernel
def match_wide_event(
    wide: WideSelectors,
    flat_first: Words,
    axes: Ints,
    ranks: Ints,
    filled: int,
    row: Ints,
    defaults: Ints,
    true: Longs,
    sets: Sets,
    alive: Bytes,
    record_out: Longs,
    found: int,
) -> tuple[Longs, int]:
    """The records of the selectors over rows that an event matches, after those found so far.

    `flat_first` has the first leaf of every conjunction.
    """
    words = wide.leaves.words
    flat, flat_offsets, flat_record = wide.flat, wide.flat_offsets, wide.flat_record
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    for i in range(filled):
        row[axes[i]] = ranks[i]
    # First those whose first leaf holds, or may: no branch depends on what is found.
    likely = np.empty(len(flat_first), np.int32)
    count = 0
    for s in range(len(flat_first)):
        word = flat_first[s]
        rank = row[word >> np.uint64(48)]
        low, high = low_of(word), high_of(word)
        likely[count] = s
        count += ((rank >= low) & (rank < high)) | (low > high) | (word >= np.uint64(OTHER))
    for i in range(count):
        s = likely[i]
        matches = True
        for k in range(flat_offsets[s], flat_offsets[s + 1]):
            word = words[flat[k]]
            if axis_of(word) < AXES:
                matches = contains(word, row[word >> np.uint64(48)])
            else:
                matches = leaf_holds(word, row, true, -1, set_axis, set_offsets, set_ranks)
            if not matches:
                break
        if matches and alive[flat_record[s]]:
            if found == len(record_out):
                record_out = grow_array(record_out)
            record_out[found] = flat_record[s]
            found += 1
    if len(wide.tree_record) > 0:
        truth = np.empty(len(words), np.uint8)
        for leaf in range(len(words)):
            truth[leaf] = leaf_holds(words[leaf], row, true, -1, set_axis, set_offsets, set_ranks)
        stack = np.empty((wide.depth + 1, 5), np.int64)
        for s in range(len(wide.tree_record)):
            if _tree_holds(wide.tree, wide.tree_offsets[s], truth, stack):
                if alive[wide.tree_record[s]]:
                    if found == len(record_out):
                        record_out = grow_array(record_out)
                    record_out[found] = wide.tree_record[s]
                    found += 1
    for i in range(filled):
        row[axes[i]] = defaults[axes[i]]
    return record_out, found


@kernel
def _tree_holds(tree: Ints, at: int, truth: Bytes, stack: Longs) -> bool:
    """Whether a selector holds, given which leaves do; as `holds` does it over words."""
    depth = 0
    while True:
        number = tree[at]
        if number < 0:
            stack[depth, 0] = -1 - number
            stack[depth, 1] = at + tree[at + 2]
            stack[depth, 2] = tree[at + 1]
            stack[depth, 3] = 0
            stack[depth, 4] = -1
            depth += 1
            at += 3
            continue
        depth, at, value = propagate(stack, depth, at + 1, truth[number] == 1)
        if depth == 0:
            return value
