"""Match a single event at low latency: rank its values, then match it, in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block import axis_kinds
from tamis.kernels.block.holds import OTHER, Sets, leaf_holds, propagate
from tamis.kernels.block.masks import WideSelectors
from tamis.kernels.block.match import CoveredSelectors, RowScratch, match_rows
from tamis.kernels.block.match_io import EventSlice, PairBuffer, PredicateResults, RecordState
from tamis.kernels.block.ranks import (
    BOOL,
    DOUBLE,
    INT,
    TEXT,
    Doubles,
    Rows,
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

# By kind of value (INT, DOUBLE, TEXT, BOOL), the kind of its axis. Timestamps, which are on INSTANT
# axes, come as columns only.
_AXIS_KIND = (axis_kinds.NUMBER, axis_kinds.NUMBER, axis_kinds.TEXT, axis_kinds.TRUTH)


class AxisConstants(NamedTuple):
    """The constants of all axes of a segment.

    Attributes:
        ints: The numbers as seen from integers.
        doubles: The numbers as seen from doubles.
        text_begin: By axis of texts, its first constant.
        text_count: By axis of texts, how many constants it has.
        text_bounds: By constant text, where it begins in `texts`; one more at the end.
        texts: The constant texts in UTF-8, end to end.
    """

    ints: Scales
    doubles: Scales
    text_begin: Longs
    text_count: Longs
    text_bounds: Longs
    texts: Bytes


class EventIndex(NamedTuple):
    """The parts of a segment that a single event is matched with.

    Attributes:
        constants: The constants of the axes.
        covered: The selectors that have a cover.
        wide: The other selectors, which batches match in blocks.
        flat_first: The first leaf of every conjunction in `wide`.
    """

    constants: AxisConstants
    covered: CoveredSelectors
    wide: WideSelectors
    flat_first: Words


@kernel
def match_event(
    numbers: Longs,
    doubles: Doubles,
    text_bounds: Longs,
    texts: Bytes,
    lookup: Longs,
    index: EventIndex,
    alive: Bytes,
    scratch: RowScratch,
) -> tuple[Longs, int]:
    """Match one event.

    One call does everything, and the values are separate arrays, because each array in a named
    tuple adds 0.3 µs to a call from Python: `index` and `scratch` have about 55 of them.

    Args:
        numbers: Three rows, by value: its term, its kind (INT, DOUBLE …), and the value as an
            integer; for a text, its number among the texts.
        doubles: By value, the value as a double.
        text_bounds: By text, where it begins in `texts`; one more at the end.
        texts: The texts in UTF-8, end to end.
        lookup: By term and kind of axis, the axis, or -1.
        index: The segment.
        alive: By record, 0 if it has been removed.
        scratch: The arrays of this thread.

    Returns:
        The records that match, with room behind them, and how many there are.
    """
    axes = np.empty(2 * numbers.shape[1], np.int32)
    ranks = np.empty(2 * numbers.shape[1], np.int32)
    offsets = np.zeros(2, np.int64)
    offsets[1] = _rank_values(
        numbers, doubles, text_bounds, texts, lookup, index.constants, axes, ranks
    )
    rows = Rows(offsets, ranks, axes, False)
    record_out, found = np.empty(64, np.int64), 0
    if len(index.covered.narrow.record) > 0 or len(index.covered.general.record) > 0:
        none = np.empty(0, np.int32)
        events = EventSlice(rows, PredicateResults(np.zeros(2, np.int64), none, none), 0, 1)
        _, record_out, found = match_rows(
            events,
            index.covered,
            RecordState(alive, none),
            scratch,
            PairBuffer(np.empty(64, np.int64), record_out),
        )
    if len(index.flat_first) > 0 or len(index.wide.tree_record) > 0:
        record_out, found = _match_wide(
            rows,
            index.wide,
            index.flat_first,
            index.covered.sets,
            alive,
            scratch,
            record_out,
            found,
        )
    return record_out, found


@kernel
def _rank_values(
    numbers: Longs,
    doubles: Doubles,
    text_bounds: Longs,
    texts: Bytes,
    lookup: Longs,
    constants: AxisConstants,
    axes: Ints,
    ranks: Ints,
) -> int:
    """Rank the values of an event; return how many axes and ranks there are.

    `axes` and `ranks` have room for two per value: its own axis, and that of its presence.
    """
    slots, kinds, ints = numbers[0], numbers[1], numbers[2]
    int_scales, double_scales = constants.ints, constants.doubles
    text_begin, text_count = constants.text_begin, constants.text_count
    constant_bounds, constant_texts = constants.text_bounds, constants.texts
    filled = 0
    one = np.empty(1, np.int32)
    bits = doubles.view(np.int64)
    for i in range(len(slots)):
        at = slots[i] * axis_kinds.KINDS
        if at >= len(lookup):
            continue
        axis = lookup[at + axis_kinds.PRESENCE]
        if axis >= 0:
            axes[filled], ranks[filled] = axis, 1
            filled += 1
        kind = kinds[i]
        axis = lookup[at + _AXIS_KIND[kind]]
        if axis < 0:
            continue
        rank = -1
        if kind == INT or kind == BOOL:
            rank = rank_of(int_scales, axis, ints[i])
        elif kind == DOUBLE:
            rank = rank_of(double_scales, axis, ordered_double(bits[i]))
        elif kind == TEXT:
            rank_texts(
                text_bounds[ints[i] : ints[i] + 2],
                texts,
                text_begin[axis],
                text_count[axis],
                constant_bounds,
                constant_texts,
                one,
            )
            rank = one[0]
        axes[filled], ranks[filled] = axis, rank
        filled += 1
    return filled


@kernel
def _match_wide(
    rows: Rows,
    wide: WideSelectors,
    flat_first: Words,
    sets: Sets,
    alive: Bytes,
    scratch: RowScratch,
    record_out: Longs,
    found: int,
) -> tuple[Longs, int]:
    """Match one event against the selectors that batches match in blocks.

    Args:
        rows: The row of the event, not dense.
        wide: The selectors.
        flat_first: The first leaf of every conjunction.
        sets: The sets of ranks that they refer to.
        alive: By record, 0 if it has been removed.
        scratch: The arrays of this thread.
        record_out: The records found so far, with room for more.
        found: How many they are.

    Returns:
        The records, and how many they are now.
    """
    axes, ranks, filled = rows.axes, rows.ranks, rows.offsets[1]
    row, defaults, true = scratch.row, scratch.defaults, scratch.true
    words = wide.leaves.words
    flat, flat_offsets, flat_record = wide.flat, wide.flat_offsets, wide.flat_record
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    for i in range(filled):
        row[axes[i]] = ranks[i]
    # First collect the candidates whose first leaf holds or may hold, without branches that depend
    # on the data.
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
    tree, tree_offsets, tree_record = wide.tree, wide.tree_offsets, wide.tree_record
    if len(tree_record) > 0:
        truth = np.empty(len(words), np.uint8)
        for leaf in range(len(words)):
            truth[leaf] = leaf_holds(words[leaf], row, true, -1, set_axis, set_offsets, set_ranks)
        stack = np.empty((wide.depth + 1, 5), np.int64)
        for s in range(len(tree_record)):
            if _tree_holds(tree, tree_offsets[s], truth, stack):
                if alive[tree_record[s]]:
                    if found == len(record_out):
                        record_out = grow_array(record_out)
                    record_out[found] = tree_record[s]
                    found += 1
    for i in range(filled):
        row[axes[i]] = defaults[axes[i]]
    return record_out, found


@kernel
def _tree_holds(tree: Ints, at: int, truth: Bytes, stack: Longs) -> bool:
    """Return whether a selector holds, given which leaves do; as `holds`, but over rows."""
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
