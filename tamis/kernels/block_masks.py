"""A block of events at a time, one bit each: for selectors that no value narrows down.

Sort the events of the block by their rank on an axis. `prefix[i]` is the set of the first i of
them, so a leaf is the difference of two prefixes: a *row*. From then on a selector is a few words
of AND and OR per row, whatever its tests were about.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.block_match import Sets, grown
from tamis.kernels.block_ranks import Rows
from tamis.kernels.block_words import (
    AND,
    AT_LEAST,
    AXES,
    CONSTANT,
    OR,
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

# What is known of a row without looking at it.
EMPTY = 0
MIXED = 1
FULL = 2

# Planes of a frame: two rails, what waits for its other rail, and from there on the counter.
HELD = 2
COUNTER = 3


class Wide(NamedTuple):
    """Selectors over rows.

    Attributes:
        leaves: The distinct leaves, by axis: one row each.
        axes: The axes that they are on, in the same order.
        axis_leaves: By these, where their leaves begin.
        grade_at: By these, where their grades begin in `grades`.
        grades: By rank, how many ends of leaves are at it or below. Only these matter for a block,
            and they are few where constants are many.
        ends: By axis, how many ends there are.
        flat_offsets, flat: Conjunctions, as numbers of rows.
        flat_record: Their records.
        tree_offsets, tree: Other selectors in prefix order: a row, or -1 - operator followed by k
            and the length.
        tree_record: Their records.
        planes: How many planes a frame needs.
        depth: How many frames.
    """

    leaves: Words
    axes: Ints
    axis_leaves: Longs
    grade_at: Longs
    grades: Ints
    ends: Longs
    flat_offsets: Longs
    flat: Ints
    flat_record: Ints
    tree_offsets: Longs
    tree: Ints
    tree_record: Ints
    planes: int
    depth: int


class Block(NamedTuple):
    """What a thread writes on.

    Attributes:
        rows: By leaf, its events.
        known: By leaf, EMPTY, MIXED or FULL.
        order: Its events, sorted.
        begins: By grade, the number of events below it.
        cursors: By grade, where its next event goes.
        prefixes: The sets of the first i events of `order`.
        frames: By depth and plane, a mask.
        columns: By axis, where a column of ranks for it is kept; -1 if it is not wanted.
        column_ranks: These columns.
    """

    rows: Words
    known: Bytes
    order: Ints
    begins: Ints
    cursors: Ints
    prefixes: Words
    frames: Words
    columns: Ints
    column_ranks: Ints


class Found(NamedTuple):
    """The answer of one or more blocks; arrays with room, and how much of it is taken.

    Attributes:
        event, record: Pairs, for masks with few bits.
        pairs: How many.
        tile_first, tile_record, tile_masks: Masks: the event of bit 0, the record, the bits.
        tiles: How many.
    """

    event: Ints
    record: Ints
    pairs: int
    tile_first: Longs
    tile_record: Ints
    tile_masks: Words
    tiles: int


@kernel
def fill_columns(
    rows: Rows, begin: int, end: int, defaults: Ints, wide_axes: Ints, block: Block
) -> None:
    """The ranks of the block's events by axis, for the axes that are wanted."""
    columns, ranks = block.columns, block.column_ranks
    size = ranks.shape[1]
    for k in range(len(wide_axes)):
        default = defaults[wide_axes[k]]
        for i in range(size):
            ranks[k, i] = default
    for event in range(begin, end):
        first, last = rows.offsets[event], rows.offsets[event + 1]
        shift = first if rows.dense else 0
        for p in range(first, last):
            k = columns[rows.axes[p - shift]]
            if k >= 0 and rows.ranks[p] >= 0:
                ranks[k, event - begin] = rows.ranks[p]


@kernel
def _sort(
    ranks: Ints,
    size: int,
    grades: Ints,
    grade_at: int,
    ends: int,
    begins: Ints,
    cursors: Ints,
    order: Ints,
) -> int:
    """Sort the events by grade, which takes the place of the rank; how many have one."""
    for g in range(ends + 2):
        begins[g] = 0
    valid = 0
    for i in range(size):
        if ranks[i] >= 0:
            ranks[i] = grades[grade_at + ranks[i]]
            begins[ranks[i] + 1] += 1
            valid += 1
    for g in range(ends + 1):
        begins[g + 1] += begins[g]
        cursors[g] = begins[g]
    for i in range(size):
        if ranks[i] >= 0:
            order[cursors[ranks[i]]] = i
            cursors[ranks[i]] += 1
    return valid


@kernel
def _fill_prefixes(order: Ints, valid: int, prefixes: Words) -> None:
    """The sets of the first 0, 1, 2, … events.

    Eight words at a time, in registers: to read back a row into which a single word has just been
    written makes the processor wait.
    """
    one, none = np.uint64(1), np.uint64(0)
    for first in range(0, prefixes.shape[1], 8):
        a = b = c = d = e = f = g = h = none
        for i in range(valid + 1):
            prefixes[i, first] = a
            prefixes[i, first + 1] = b
            prefixes[i, first + 2] = c
            prefixes[i, first + 3] = d
            prefixes[i, first + 4] = e
            prefixes[i, first + 5] = f
            prefixes[i, first + 6] = g
            prefixes[i, first + 7] = h
            word = (order[i] >> 6) - first
            bit = one << np.uint64(order[i] & 63)
            a |= bit if word == 0 else none
            b |= bit if word == 1 else none
            c |= bit if word == 2 else none
            d |= bit if word == 3 else none
            e |= bit if word == 4 else none
            f |= bit if word == 5 else none
            g |= bit if word == 6 else none
            h |= bit if word == 7 else none


@kernel
def _before(rank: int, grades: Ints, grade_at: int, begins: Ints) -> int:
    """How many events of the block are below a rank at which some leaf ends."""
    if rank == 0:
        return 0
    return begins[grades[grade_at + rank - 1] + 1]


@kernel
def _spread(row: Words, prefixes: Words, low: int, high: int) -> None:
    first, last = prefixes[low], prefixes[high]
    for w in range(len(row)):
        row[w] = first[w] ^ last[w]


@kernel
def fill_rows(wide: Wide, sets: Sets, block: Block, size: int) -> None:
    """The rows of all leaves on an axis."""
    leaves, grades = wide.leaves, wide.grades
    rows, known, prefixes, begins = block.rows, block.known, block.prefixes, block.begins
    words = rows.shape[1]
    for k in range(len(wide.axes)):
        grade_at = wide.grade_at[k]
        valid = _sort(
            block.column_ranks[k],
            size,
            grades,
            grade_at,
            wide.ends[k],
            begins,
            block.cursors,
            block.order,
        )
        first, last = wide.axis_leaves[k], wide.axis_leaves[k + 1]
        if valid == 0:
            for leaf in range(first, last):
                known[leaf] = EMPTY
            continue
        _fill_prefixes(block.order, valid, prefixes)
        for leaf in range(first, last):
            word = leaves[leaf]
            row = rows[leaf]
            count = 0
            if axis_of(word) < AXES:
                low = _before(low_of(word), grades, grade_at, begins)
                high = _before(high_of(word), grades, grade_at, begins)
                if low_of(word) < high_of(word):
                    count = high - low
                    if count > 0:
                        _spread(row, prefixes, low, high)
                else:
                    count = valid - (low - high)
                    if count > 0:
                        _spread(row, prefixes, high, low)
                        everyone = prefixes[valid]
                        for w in range(words):
                            row[w] ^= everyone[w]
            else:
                count = _fill_set(word, sets, row, prefixes, grades, grade_at, begins, valid)
            known[leaf] = EMPTY if count == 0 else (FULL if count == size else MIXED)


@kernel
def _fill_set(
    word: np.uint64,
    sets: Sets,
    row: Words,
    prefixes: Words,
    grades: Ints,
    grade_at: int,
    begins: Ints,
    valid: int,
) -> int:
    """The row of a set of ranks; how many events are in it."""
    number = low_of(word)
    count = 0
    words = len(row)
    for w in range(words):
        row[w] = np.uint64(0)
    for i in range(sets.offsets[number], sets.offsets[number + 1]):
        low = _before(sets.ranks[i], grades, grade_at, begins)
        high = _before(sets.ranks[i] + 1, grades, grade_at, begins)
        if low < high:
            count += high - low
            for w in range(words):
                row[w] ^= prefixes[low, w] ^ prefixes[high, w]
    if high_of(word) == 1:
        for w in range(words):
            row[w] ^= prefixes[valid, w]
        count = valid - count
    return count


@kernel
def fill_other_rows(
    wide: Wide,
    block: Block,
    begin: int,
    end: int,
    satisfied_offsets: Longs,
    satisfied: Ints,
    local: Ints,
    predicate_row: Ints,
) -> None:
    """The rows of constants, and of predicates that phase 1 decides."""
    rows, known = block.rows, block.known
    size = end - begin
    words = rows.shape[1]
    for leaf in range(wide.axis_leaves[len(wide.axes)], len(wide.leaves)):
        word = wide.leaves[leaf]
        full = axis_of(word) == CONSTANT and low_of(word) == 1
        known[leaf] = FULL if full else EMPTY
        for w in range(words):
            rows[leaf, w] = np.uint64(0)
        if full:
            for i in range(size):
                rows[leaf, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    for event in range(begin, end):
        i = event - begin
        for p in range(satisfied_offsets[event], satisfied_offsets[event + 1]):
            predicate = local[satisfied[p]]
            if predicate >= 0 and predicate_row[predicate] >= 0:
                leaf = predicate_row[predicate]
                rows[leaf, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
                known[leaf] = MIXED


# -- selectors ------------------------------------------------------------------------------------


@kernel
def _popcounts(mask: Words) -> int:
    count = 0
    for w in range(len(mask)):
        count += popcount(mask[w])
    return count


@kernel
def _emit_pairs(
    mask: Words, first: int, record: int, event: Ints, records: Ints, pairs: int
) -> int:
    """Add the bits of a mask to the pairs; how many there are then."""
    for w in range(len(mask)):
        word = mask[w]
        while word != np.uint64(0):
            event[pairs] = first + 64 * w + trailing_zeros(word)
            records[pairs] = record
            pairs += 1
            word &= word - np.uint64(1)
    return pairs


@kernel
def _larger(masks: Words) -> Words:
    larger = np.empty((2 * masks.shape[0], masks.shape[1]), np.uint64)
    larger[: masks.shape[0]] = masks
    return larger


@kernel
def match_flat(
    wide: Wide, block: Block, first: int, alive: Bytes, visits: Ints, few: int, found: Found
) -> Found:
    """Conjunctions: stop as soon as no event is left."""
    rows, known, offsets, flat, record = (
        block.rows,
        block.known,
        wide.flat_offsets,
        wide.flat,
        wide.flat_record,
    )
    event, records, pairs = found.event, found.record, found.pairs
    tile_first, tile_record = found.tile_first, found.tile_record
    tile_masks, tiles = found.tile_masks, found.tiles
    words = rows.shape[1]
    mask = np.empty(words, np.uint64)
    counting = len(visits) > 0
    for s in range(len(record)):
        begin, end = offsets[s], offsets[s + 1]
        any_left = True
        for k in range(begin, end):
            any_left &= known[flat[k]] != EMPTY
        if not any_left or not alive[record[s]]:
            continue
        if counting:
            visits[record[s]] += 1
        for w in range(words):
            mask[w] = rows[flat[begin], w]
        for k in range(begin + 1, end):
            row = flat[k]
            left = np.uint64(0)
            for w in range(words):
                mask[w] &= rows[row, w]
                left |= mask[w]
            if left == np.uint64(0):
                any_left = False
                break
        if any_left:
            count = _popcounts(mask)
            if count <= few:
                while pairs + count > len(event):
                    event, records = grown(event), grown(records)
                pairs = _emit_pairs(mask, first, record[s], event, records, pairs)
            else:
                if tiles == len(tile_record):
                    tile_first, tile_record = grown(tile_first), grown(tile_record)
                    tile_masks = _larger(tile_masks)
                tile_first[tiles] = first
                tile_record[tiles] = record[s]
                for w in range(words):
                    tile_masks[tiles, w] = mask[w]
                tiles += 1
    return Found(event, records, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def match_trees(
    wide: Wide,
    block: Block,
    everyone: Words,
    first: int,
    alive: Bytes,
    visits: Ints,
    few: int,
    found: Found,
) -> Found:
    """Any selectors, with a stack of masks; what cannot change an operator's mask is skipped."""
    rows, known, frames = block.rows, block.known, block.frames
    offsets, tree, record = wide.tree_offsets, wide.tree, wide.tree_record
    event, records, pairs = found.event, found.record, found.pairs
    tile_first, tile_record = found.tile_first, found.tile_record
    tile_masks, tiles = found.tile_masks, found.tiles
    words = rows.shape[1]
    stack = np.empty((wide.depth + 1, 4), np.int64)
    counting = len(visits) > 0
    for s in range(len(record)):
        if not alive[record[s]]:
            continue
        if counting:
            visits[record[s]] += 1
        mask, state = _tree_mask(tree, offsets[s], rows, known, frames, stack, everyone)
        if state == EMPTY:
            continue
        count = _popcounts(mask)
        if count == 0:
            continue
        if count <= few:
            while pairs + count > len(event):
                event, records = grown(event), grown(records)
            pairs = _emit_pairs(mask, first, record[s], event, records, pairs)
        else:
            if tiles == len(tile_record):
                tile_first, tile_record = grown(tile_first), grown(tile_record)
                tile_masks = _larger(tile_masks)
            tile_first[tiles] = first
            tile_record[tiles] = record[s]
            for w in range(words):
                tile_masks[tiles, w] = mask[w]
            tiles += 1
    return Found(event, records, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def _tree_mask(
    tree: Ints,
    at: int,
    rows: Words,
    known: Bytes,
    frames: Words,
    stack: Longs,
    everyone: Words,
) -> tuple[Words, int]:
    """The events that satisfy a selector, and what is known of them."""
    depth = 0
    while True:
        number = tree[at]
        if number < 0:
            operator, k = -1 - number, tree[at + 1]
            stack[depth, 0] = operator
            stack[depth, 1] = at + tree[at + 2]
            stack[depth, 2] = k
            stack[depth, 3] = 0
            if operator > OR - AND:
                _open(frames[depth], everyone, operator)
            depth += 1
            at += 3
            continue
        mask = rows[number]
        state = np.int64(known[number])
        at += 1
        while depth > 0:
            frame, operator, stop = frames[depth - 1], stack[depth - 1, 0], stack[depth - 1, 1]
            seen = stack[depth - 1, 3]
            stack[depth - 1, 3] = seen + 1
            top = frame[0]
            if operator == 0:  # AND
                if state == EMPTY:
                    at = stop
                    depth -= 1
                    continue
                state = _and(top, mask, seen)
                if state != EMPTY and at < stop:
                    break
            elif operator == OR - AND:
                if state == FULL:
                    at = stop
                    depth -= 1
                    continue
                state = _or(top, mask, state, seen, everyone)
                if state != FULL and at < stop:
                    break
            elif operator == AT_LEAST - AND:
                _count(frame, mask, state)
                if at < stop:
                    break
                state = _reached(frame, stack[depth - 1, 2])
            else:
                if seen & 1 == 0:
                    _hold(frame[HELD], mask, state)
                    break
                _toggle(frame, mask, state)
                if at < stop:
                    break
                if operator != XOR - AND:
                    top = frame[1]
                state = _state(top, everyone)
            mask = top
            at = stop
            depth -= 1
        if depth == 0:
            return mask, state


@kernel
def _state(mask: Words, everyone: Words) -> int:
    some, missing = np.uint64(0), np.uint64(0)
    for w in range(len(mask)):
        some |= mask[w]
        missing |= mask[w] ^ everyone[w]
    if some == np.uint64(0):
        return EMPTY
    return FULL if missing == np.uint64(0) else MIXED


@kernel
def _and(top: Words, mask: Words, seen: int) -> int:
    """AND a mask that is not empty into the top; whether anything is left."""
    if seen == 0:
        for w in range(len(top)):
            top[w] = mask[w]
        return MIXED
    left = np.uint64(0)
    for w in range(len(top)):
        top[w] &= mask[w]
        left |= top[w]
    return EMPTY if left == np.uint64(0) else MIXED


@kernel
def _or(top: Words, mask: Words, state: int, seen: int, everyone: Words) -> int:
    """OR a mask that is not full into the top; what the top is then."""
    if seen == 0:
        if state == EMPTY:
            for w in range(len(top)):
                top[w] = np.uint64(0)
            return EMPTY
        for w in range(len(top)):
            top[w] = mask[w]
        return MIXED
    if state != EMPTY:
        for w in range(len(top)):
            top[w] |= mask[w]
    missing, some = np.uint64(0), np.uint64(0)
    for w in range(len(top)):
        missing |= top[w] ^ everyone[w]
        some |= top[w]
    if missing == np.uint64(0):
        return FULL
    return EMPTY if some == np.uint64(0) else MIXED


@kernel
def _open(frame: Words, everyone: Words, operator: int) -> None:
    """Prepare a counter, or the rails of a parity: so far false, of every event."""
    for w in range(frame.shape[1]):
        frame[0, w] = np.uint64(0)
        frame[1, w] = everyone[w]
    if operator == AT_LEAST - AND:
        for plane in range(COUNTER, frame.shape[0]):
            for w in range(frame.shape[1]):
                frame[plane, w] = np.uint64(0)


@kernel
def _hold(held: Words, mask: Words, state: int) -> None:
    for w in range(len(held)):
        held[w] = mask[w] if state != EMPTY else np.uint64(0)


@kernel
def _toggle(frame: Words, false: Words, state: int) -> None:
    """Take another operand into a parity, given where it is true (held) and where it is false."""
    for w in range(frame.shape[1]):
        odd, even, true = frame[0, w], frame[1, w], frame[HELD, w]
        other = false[w] if state != EMPTY else np.uint64(0)
        frame[0, w] = (odd & other) | (even & true)
        frame[1, w] = (odd & true) | (even & other)


@kernel
def _count(frame: Words, mask: Words, state: int) -> None:
    """Add a mask to the counters: one per event, each bit in a plane of its own."""
    if state == EMPTY:
        return
    for w in range(frame.shape[1]):
        carry = mask[w]
        plane = COUNTER
        while carry != np.uint64(0) and plane < frame.shape[0]:
            following = frame[plane, w] & carry
            frame[plane, w] ^= carry
            carry = following
            plane += 1


@kernel
def _reached(frame: Words, k: int) -> int:
    """Where the counters are at least k: from the highest plane down, greater or equal so far."""
    some = np.uint64(0)
    for w in range(frame.shape[1]):
        greater, equal = np.uint64(0), ~np.uint64(0)
        for plane in range(frame.shape[0] - 1, COUNTER - 1, -1):
            bits = frame[plane, w]
            if (k >> (plane - COUNTER)) & 1:
                equal &= bits
            else:
                greater |= equal & bits
                equal &= ~bits
        frame[0, w] = greater | equal
        some |= frame[0, w]
    return EMPTY if some == np.uint64(0) else MIXED


@kernel
def match_blocks(
    rows: Rows,
    begin: int,
    end: int,
    satisfied_offsets: Longs,
    satisfied: Ints,
    local: Ints,
    wide: Wide,
    sets: Sets,
    alive: Bytes,
    defaults: Ints,
    predicate_row: Ints,
    block: Block,
    visits: Ints,
    few: int,
    found: Found,
) -> Found:
    """What the events from `begin` up to `end` match, some at a time; see `match_rows`.

    A mask of at most `few` bits is given as pairs.
    """
    words = block.rows.shape[1]
    size = 64 * words
    everyone = np.empty(words, np.uint64)
    for first in range(begin, end, size):
        count = min(size, end - first)
        for w in range(words):
            inside = min(max(count - 64 * w, 0), 64)
            everyone[w] = ~np.uint64(0)
            if inside == 0:
                everyone[w] = np.uint64(0)
            elif inside < 64:
                everyone[w] = (np.uint64(1) << np.uint64(inside)) - np.uint64(1)
        fill_columns(rows, first, first + count, defaults, wide.axes, block)
        fill_rows(wide, sets, block, count)
        fill_other_rows(
            wide,
            block,
            first,
            first + count,
            satisfied_offsets,
            satisfied,
            local,
            predicate_row,
        )
        if len(wide.flat_record) > 0:
            found = match_flat(wide, block, first, alive, visits, few, found)
        if len(wide.tree_record) > 0:
            found = match_trees(wide, block, everyone, first, alive, visits, few, found)
    return found
