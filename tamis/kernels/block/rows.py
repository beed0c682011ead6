"""The rows of a block: for every leaf, the events of the block that satisfy it, one bit each.

The ranks at which leaves begin or end cut an axis into *grades*. `prefixes` has, for every i, the
set of the events in the first i grades. So the row of a leaf is the difference of two prefixes.
Grades without events in the block are left out; there are never more of them than events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.holds import Sets
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.words import (
    AXES,
    CONSTANT,
    Bytes,
    Ints,
    Longs,
    Words,
    axis_of,
    high_of,
    low_of,
)
from tamis.kernels.decorator import kernel
from tamis.kernels.vectors import WORDS, xor_into, xor_of

# What is known of a row without reading it.
EMPTY = 0
MIXED = 1
FULL = 2


class Leaves(NamedTuple):
    """The distinct leaves of selectors that are matched in blocks, one row each.

    Attributes:
        words: The leaves, sorted by axis.
        axes: The axes that they are on, in the same order.
        axis_leaves: By entry of `axes`, where its leaves begin; one more at the end, where the
            leaves begin that are on no axis.
        grade_at: By entry of `axes`, where its grades begin in `grades`.
        grades: By rank, how many ends of leaves are at it or below. Only these matter for a block,
            and they are few where constants are many.
        ends: By entry of `axes`, how many ends there are.
        predicate_row: By predicate that phase 1 decides, its row; -1 if it has none.
        other_row: By predicate that phase 1 decides, the row of its negation; -1 if it has none.
    """

    words: Words
    axes: Ints
    axis_leaves: Longs
    grade_at: Longs
    grades: Ints
    ends: Longs
    predicate_row: Ints
    other_row: Ints


class Block(NamedTuple):
    """The scratch arrays of a thread for a block.

    Attributes:
        width: The words of a row: a multiple of eight.
        rows: The rows, end to end.
        known: By leaf, EMPTY, MIXED or FULL.
        columns: By axis, its column in `ranks`; -1 if no leaf is on it.
        ranks: By column, the ranks of the events.
        begins: By grade, the number of events below it.
        places: By grade, the number of grades below it that have events.
        prefixes: For every i, the set of the events of the first i of these grades, end to end.
        frames: Masks for the operators that are being evaluated; see `MaskStack`.
        everyone: The set of all events of the block.
    """

    width: int
    rows: Words
    known: Bytes
    columns: Ints
    ranks: Ints
    begins: Ints
    places: Ints
    prefixes: Words
    frames: Words
    everyone: Words


@kernel
def fill_everyone(everyone: Words, size: int) -> None:
    """Set the mask to the first `size` events."""
    for w in range(len(everyone)):
        inside = min(max(size - 64 * w, 0), 64)
        everyone[w] = np.uint64(0)
        if inside == 64:
            everyone[w] = ~np.uint64(0)
        elif inside > 0:
            everyone[w] = (np.uint64(1) << np.uint64(inside)) - np.uint64(1)


@kernel
def fill_columns(
    rows: Rows, begin: int, end: int, defaults: Ints, leaves: Leaves, block: Block
) -> None:
    """Copy the ranks of the block's events into columns, for the axes that have leaves."""
    columns, ranks, axes = block.columns, block.ranks, leaves.axes
    offsets, row_ranks, owners, dense = rows.offsets, rows.ranks, rows.axes, rows.dense
    if dense:
        stride = len(owners)
        for k in range(len(axes)):
            for event in range(begin, end):
                ranks[k, event - begin] = row_ranks[event * stride + axes[k]]
        return
    for k in range(len(axes)):
        for i in range(end - begin):
            ranks[k, i] = defaults[axes[k]]
    for event in range(begin, end):
        for p in range(offsets[event], offsets[event + 1]):
            k = columns[owners[p]]
            if k >= 0:
                ranks[k, event - begin] = row_ranks[p]


@kernel
def _grade_events(
    ranks: Ints, column: int, size: int, grades: Ints, grade_at: int, ends: int, block: Block
) -> int:
    """Replace the ranks of the events by their grades; return how many events have one."""
    begins, places = block.begins, block.places
    for g in range(ends + 2):
        begins[g] = 0
    valid = 0
    for i in range(size):
        rank = ranks[column, i]
        if rank >= 0:
            grade = grades[grade_at + rank]
            ranks[column, i] = grade
            begins[grade + 1] += 1
            valid += 1
    places[0] = 0
    for g in range(1, ends + 2):
        places[g] = places[g - 1] + (begins[g] > 0)
        begins[g] += begins[g - 1]
    return valid


@kernel
def _fill_prefixes(ranks: Ints, column: int, size: int, count: int, block: Block) -> None:
    """Fill in the sets of the events of the first 0, 1, 2, … grades that have events."""
    prefixes, places, width = block.prefixes, block.places, block.width
    prefixes[: (count + 1) * width] = np.uint64(0)
    for i in range(size):
        grade = ranks[column, i]
        if grade >= 0:
            at = (places[grade] + 1) * width + (i >> 6)
            prefixes[at] |= np.uint64(1) << np.uint64(i & 63)
    for k in range(2, count + 1):
        xor_into(prefixes, k * width, prefixes, (k - 1) * width, width // WORDS)


@kernel
def _grade_of(rank: int, grades: Ints, grade_at: int) -> int:
    """Return the grade that begins at a rank at which some leaf begins or ends."""
    return 0 if rank == 0 else grades[grade_at + rank - 1] + 1


@kernel
def fill_rows(leaves: Leaves, sets: Sets, block: Block, size: int) -> None:
    """Fill in the rows of all leaves on an axis."""
    words, grades, width = leaves.words, leaves.grades, block.width
    rows, known, prefixes = block.rows, block.known, block.prefixes
    begins, places = block.begins, block.places
    n = width // WORDS
    for k in range(len(leaves.axes)):
        grade_at, ends = leaves.grade_at[k], leaves.ends[k]
        valid = _grade_events(block.ranks, k, size, grades, grade_at, ends, block)
        first, last = leaves.axis_leaves[k], leaves.axis_leaves[k + 1]
        if valid == 0:
            for leaf in range(first, last):
                known[leaf] = EMPTY
            continue
        everyone = places[ends + 1]
        _fill_prefixes(block.ranks, k, size, everyone, block)
        for leaf in range(first, last):
            word = words[leaf]
            count = 0
            if axis_of(word) < AXES:
                low = _grade_of(low_of(word), grades, grade_at)
                high = _grade_of(high_of(word), grades, grade_at)
                count = begins[high] - begins[low]
                if low_of(word) > high_of(word):
                    count += valid
                if count > 0:
                    this, that = places[low] * width, places[high] * width
                    xor_of(rows, leaf * width, prefixes, this, that, n)
                    if low_of(word) > high_of(word):
                        xor_into(rows, leaf * width, prefixes, everyone * width, n)
            else:
                count = _fill_set(word, leaf, sets, block, grades, grade_at, valid, everyone)
            known[leaf] = EMPTY if count == 0 else (FULL if count == size else MIXED)


@kernel
def _fill_set(
    word: np.uint64,
    leaf: int,
    sets: Sets,
    block: Block,
    grades: Ints,
    grade_at: int,
    valid: int,
    everyone: int,
) -> int:
    """Fill in the row of a set of ranks; return how many events are in it."""
    rows, prefixes, width = block.rows, block.prefixes, block.width
    begins, places = block.begins, block.places
    n, number = width // WORDS, low_of(word)
    count = 0
    for w in range(leaf * width, (leaf + 1) * width):
        rows[w] = np.uint64(0)
    for i in range(sets.offsets[number], sets.offsets[number + 1]):
        low = _grade_of(sets.ranks[i], grades, grade_at)
        high = _grade_of(sets.ranks[i] + 1, grades, grade_at)
        if begins[low] < begins[high]:
            count += begins[high] - begins[low]
            xor_into(rows, leaf * width, prefixes, places[low] * width, n)
            xor_into(rows, leaf * width, prefixes, places[high] * width, n)
    if high_of(word) == 1:
        xor_into(rows, leaf * width, prefixes, everyone * width, n)
        count = valid - count
    return count


@kernel
def fill_other_rows(
    leaves: Leaves,
    block: Block,
    begin: int,
    end: int,
    satisfied_offsets: Longs,
    satisfied: Ints,
    local: Ints,
) -> None:
    """Fill in the rows of constants, and of predicates that phase 1 decides."""
    rows, known, width = block.rows, block.known, block.width
    predicate_row, other_row = leaves.predicate_row, leaves.other_row
    for leaf in range(leaves.axis_leaves[len(leaves.axes)], len(leaves.words)):
        word = leaves.words[leaf]
        # Start as if no event satisfied a predicate.
        full = low_of(word) == 1 if axis_of(word) == CONSTANT else high_of(word) == 1
        known[leaf] = FULL if full else EMPTY
        for w in range(width):
            rows[leaf * width + w] = block.everyone[w] if full else np.uint64(0)
    for event in range(begin, end):
        i = event - begin
        for p in range(satisfied_offsets[event], satisfied_offsets[event + 1]):
            predicate = local[satisfied[p]]
            if predicate < 0:
                continue
            for leaf in (predicate_row[predicate], other_row[predicate]):
                if leaf >= 0:
                    rows[leaf * width + (i >> 6)] ^= np.uint64(1) << np.uint64(i & 63)
                    known[leaf] = MIXED
