"""A block of events at a time, one bit each: for selectors that no value narrows down.

Once every leaf is a row of bits, a selector is a few vectors of AND and OR, whatever its tests were
about; and what cannot change an operator's mask is skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.bits import trailing_zeros
from tamis.kernels.block_holds import Sets
from tamis.kernels.block_ranks import Rows
from tamis.kernels.block_rows import (
    EMPTY,
    FULL,
    MIXED,
    Block,
    Leaves,
    fill_columns,
    fill_everyone,
    fill_other_rows,
    fill_rows,
)
from tamis.kernels.block_words import AND, AT_LEAST, OR, XOR, Bytes, Ints, Longs, Words
from tamis.kernels.decorator import kernel
from tamis.kernels.growing import grown
from tamis.kernels.vectors import WORDS, and_into, copy_into, count_ones, or_into

# Planes of a frame: two rails, what waits for its other rail, and from there on the counter.
HELD = 2
COUNTER = 3


class Wide(NamedTuple):
    """Selectors over rows.

    Attributes:
        leaves: What the rows are.
        flat_offsets, flat: Conjunctions, as numbers of rows.
        flat_record: Their records.
        tree_offsets, tree: Other selectors in prefix order: a row, or -1 - operator followed by k
            and the length.
        tree_record: Their records.
        planes: How many planes a frame needs.
        depth: How many frames.
    """

    leaves: Leaves
    flat_offsets: Longs
    flat: Ints
    flat_record: Ints
    tree_offsets: Longs
    tree: Ints
    tree_record: Ints
    planes: int
    depth: int


class Found(NamedTuple):
    """The answer of one or more blocks; arrays with room, and how much of it is taken.

    Attributes:
        event, record: Pairs, for masks with few bits.
        pairs: How many.
        tile_first, tile_record: The event of bit 0 of a mask, and its record.
        tile_masks: The masks, one after the other.
        tiles: How many.
    """

    event: Longs
    record: Longs
    pairs: int
    tile_first: Ints
    tile_record: Ints
    tile_masks: Words
    tiles: int


@kernel
def _emit_pairs(
    masks: Words,
    at: int,
    width: int,
    first: int,
    record: int,
    event: Longs,
    records: Longs,
    pairs: int,
) -> int:
    """Add the bits of a mask to the pairs; how many there are then."""
    for w in range(width):
        word = masks[at + w]
        while word != np.uint64(0):
            event[pairs] = first + 64 * w + trailing_zeros(word)
            records[pairs] = record
            pairs += 1
            word &= word - np.uint64(1)
    return pairs


@kernel
def match_flat(
    wide: Wide,
    block: Block,
    first: int,
    alive: Bytes,
    visits: Ints,
    few: int,
    totals: Longs,
    found: Found,
) -> Found:
    """Conjunctions: stop as soon as no event is left."""
    rows, known, width = block.rows, block.known, block.width
    offsets, flat, record = wide.flat_offsets, wide.flat, wide.flat_record
    event, records, pairs = found.event, found.record, found.pairs
    tile_first, tile_record = found.tile_first, found.tile_record
    tile_masks, tiles = found.tile_masks, found.tiles
    n = width // WORDS
    mask = np.empty(width, np.uint64)
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
        copy_into(mask, 0, rows, flat[begin] * width, n)
        for k in range(begin + 1, end):
            if and_into(mask, 0, rows, flat[k] * width, n) == np.uint64(0):
                any_left = False
                break
        if not any_left:
            continue
        count = count_ones(mask, 0, n)
        if len(totals) > 0:
            totals[record[s]] += count
        elif count <= few:
            if pairs + count > len(event):
                event, records = grown(event), grown(records)
            pairs = _emit_pairs(mask, 0, width, first, record[s], event, records, pairs)
        else:
            if tiles == len(tile_record):
                tile_first, tile_record = grown(tile_first), grown(tile_record)
                tile_masks = _larger(tile_masks)
            tile_first[tiles] = first
            tile_record[tiles] = record[s]
            copy_into(tile_masks, tiles * width, mask, 0, n)
            tiles += 1
    return Found(event, records, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def _larger(masks: Words) -> Words:
    larger = np.empty(2 * len(masks), np.uint64)
    larger[: len(masks)] = masks
    return larger


@kernel
def match_trees(
    wide: Wide,
    block: Block,
    first: int,
    alive: Bytes,
    visits: Ints,
    few: int,
    totals: Longs,
    found: Found,
) -> Found:
    """Any selectors, with a stack of masks."""
    rows, known, frames, everyone = block.rows, block.known, block.frames, block.everyone
    offsets, tree, record, width = wide.tree_offsets, wide.tree, wide.tree_record, block.width
    event, records, pairs = found.event, found.record, found.pairs
    tile_first, tile_record = found.tile_first, found.tile_record
    tile_masks, tiles = found.tile_masks, found.tiles
    n = width // WORDS
    stride = wide.planes * width
    stack = np.empty((wide.depth + 1, 4), np.int64)
    counting = len(visits) > 0
    for s in range(len(record)):
        if not alive[record[s]]:
            continue
        if counting:
            visits[record[s]] += 1
        at, state, in_frame = _tree_mask(
            tree, offsets[s], rows, known, frames, stride, width, stack, everyone
        )
        if state == EMPTY:
            continue
        if not in_frame:  # a single leaf
            copy_into(frames, 0, rows, at, n)
            at = 0
        count = count_ones(frames, at, n)
        if len(totals) > 0:
            totals[record[s]] += count
        elif count <= few:
            if pairs + count > len(event):
                event, records = grown(event), grown(records)
            pairs = _emit_pairs(frames, at, width, first, record[s], event, records, pairs)
        else:
            if tiles == len(tile_record):
                tile_first, tile_record = grown(tile_first), grown(tile_record)
                tile_masks = _larger(tile_masks)
            tile_first[tiles] = first
            tile_record[tiles] = record[s]
            copy_into(tile_masks, tiles * width, frames, at, n)
            tiles += 1
    return Found(event, records, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def _tree_mask(
    tree: Ints,
    at: int,
    rows: Words,
    known: Bytes,
    frames: Words,
    stride: int,
    width: int,
    stack: Longs,
    everyone: Words,
) -> tuple[int, int, bool]:
    """The events that satisfy a selector: where their mask is, what is known of it, and in what.

    An operator on the stack has four numbers: what it is, where it ends, k, and how many operands
    it has seen. Its masks are in the frame of its depth.
    """
    n = width // WORDS
    depth, place, state, in_frame = 0, 0, MIXED, False
    while True:
        number = tree[at]
        if number < 0:
            operator = -1 - number
            stack[depth, 0] = operator
            stack[depth, 1] = at + tree[at + 2]
            stack[depth, 2] = tree[at + 1]
            stack[depth, 3] = 0
            if operator > OR - AND:
                _open(frames, depth * stride, stride, width, everyone)
            depth += 1
            at += 3
            continue
        place, in_frame = number * width, False
        state = int(known[number])
        at += 1
        while depth > 0:
            operator, stop, seen = stack[depth - 1, 0], stack[depth - 1, 1], stack[depth - 1, 3]
            stack[depth - 1, 3] = seen + 1
            top = (depth - 1) * stride
            if operator == 0:  # AND
                if state == EMPTY:
                    at = stop
                    depth -= 1
                    continue
                if seen == 0:
                    _copy(frames, top, rows, place, in_frame, n)
                    state = MIXED
                else:
                    left = np.uint64(0)
                    if in_frame:
                        left = and_into(frames, top, frames, place, n)
                    else:
                        left = and_into(frames, top, rows, place, n)
                    state = EMPTY if left == np.uint64(0) else MIXED
                if state != EMPTY and at < stop:
                    break
            elif operator == OR - AND:
                if state == FULL:
                    at = stop
                    depth -= 1
                    continue
                if seen == 0:
                    if state == EMPTY:
                        _clear(frames, top, width)
                    else:
                        _copy(frames, top, rows, place, in_frame, n)
                elif state != EMPTY:
                    missing = np.uint64(0)
                    if in_frame:
                        missing = or_into(frames, top, frames, place, everyone, n)
                    else:
                        missing = or_into(frames, top, rows, place, everyone, n)
                    state = FULL if missing == np.uint64(0) else MIXED
                else:
                    state = MIXED
                if state != FULL and at < stop:
                    break
            else:
                held = top + HELD * width
                _take(frames, held, rows, place, in_frame, state, width)
                if operator == AT_LEAST - AND:
                    _count(frames, top, stride, width)
                    if at < stop:
                        break
                    _reach(frames, top, stride, width, stack[depth - 1, 2])
                else:
                    if seen & 1 == 0:
                        _copy(frames, top + COUNTER * width, rows, held, True, n)
                        break
                    _toggle(frames, top, width)
                    if at < stop:
                        break
                    if operator != XOR - AND:
                        top += width
                state = MIXED
            place, in_frame = top, True
            at = stop
            depth -= 1
        if depth == 0:
            return place, state, in_frame


@kernel
def _copy(frames: Words, top: int, rows: Words, place: int, in_frame: bool, n: int) -> None:
    if in_frame:
        copy_into(frames, top, frames, place, n)
    else:
        copy_into(frames, top, rows, place, n)


@kernel
def _clear(frames: Words, top: int, width: int) -> None:
    for w in range(top, top + width):
        frames[w] = np.uint64(0)


@kernel
def _take(
    frames: Words, held: int, rows: Words, place: int, in_frame: bool, state: int, width: int
) -> None:
    """An operand's mask, into the frame of its operator."""
    if state == EMPTY:
        _clear(frames, held, width)
    else:
        _copy(frames, held, rows, place, in_frame, width // WORDS)


@kernel
def _open(frames: Words, top: int, stride: int, width: int, everyone: Words) -> None:
    """Prepare a counter, or the rails of a parity: so far even, of every event."""
    _clear(frames, top, stride)
    copy_into(frames, top + width, everyone, 0, width // WORDS)


@kernel
def _toggle(frames: Words, top: int, width: int) -> None:
    """Take another operand into a parity, given where it is true and (held) where it is false."""
    for w in range(top, top + width):
        odd, even = frames[w], frames[w + width]
        false, true = frames[w + HELD * width], frames[w + COUNTER * width]
        frames[w] = (odd & false) | (even & true)
        frames[w + width] = (odd & true) | (even & false)


@kernel
def _count(frames: Words, top: int, stride: int, width: int) -> None:
    """Add what is held to the counters: one per event, each bit in a plane of its own."""
    for w in range(top, top + width):
        carry = frames[w + HELD * width]
        plane = w + COUNTER * width
        while carry != np.uint64(0) and plane < top + stride:
            following = frames[plane] & carry
            frames[plane] ^= carry
            carry = following
            plane += width


@kernel
def _reach(frames: Words, top: int, stride: int, width: int, k: int) -> None:
    """Where the counters are at least k: from the highest plane down, greater or equal so far."""
    planes = stride // width
    for w in range(top, top + width):
        greater, equal = np.uint64(0), ~np.uint64(0)
        for plane in range(planes - 1, COUNTER - 1, -1):
            bits = frames[w + plane * width]
            if (k >> (plane - COUNTER)) & 1:
                equal &= bits
            else:
                greater |= equal & bits
                equal &= ~bits
        frames[w] = greater | equal


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
    block: Block,
    visits: Ints,
    few: int,
    totals: Longs,
    found: Found,
) -> Found:
    """What the events from `begin` up to `end` match, some at a time; see `match_rows`.

    A mask of at most `few` bits is given as pairs. If there are `totals`, by record, nothing is
    given: the events are only counted.
    """
    size = 64 * block.width
    for first in range(begin, end, size):
        count = min(size, end - first)
        fill_everyone(block.everyone, count)
        fill_columns(rows, first, first + count, defaults, wide.leaves, block)
        fill_rows(wide.leaves, sets, block, count)
        fill_other_rows(
            wide.leaves, block, first, first + count, satisfied_offsets, satisfied, local
        )
        if len(wide.flat_record) > 0:
            found = match_flat(wide, block, first, alive, visits, few, totals, found)
        if len(wide.tree_record) > 0:
            found = match_trees(wide, block, first, alive, visits, few, totals, found)
    return found
