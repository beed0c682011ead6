"""Match selectors without a cover on a block of events at a time, one bit per event.

Once every leaf is a row of bits, evaluating a selector takes a few vector operations (AND, OR),
whatever its tests are. Operands that cannot change the mask of an operator are skipped.

The code that grows the buffers is in both `match_flat` and `match_trees`, because a function that
takes and returns a `MatchBuffer` counts references to its five arrays, atomically, for every mask:
conjunctions took 440 ns per event that way, and take 260.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.bits import trailing_zeros
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.match_io import EventSlice, RecordState
from tamis.kernels.block.rows import (
    EMPTY,
    Block,
    Leaves,
    fill_columns,
    fill_everyone,
    fill_other_rows,
    fill_rows,
)
from tamis.kernels.block.trees import MaskStack, tree_mask
from tamis.kernels.block.words import Ints, Longs, Words
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array
from tamis.kernels.vectors import WORDS, and_into, copy_into, count_ones


class WideSelectors(NamedTuple):
    """Selectors without a cover, whose leaves are rows of a block.

    Attributes:
        leaves: The leaves of the rows.
        flat_offsets, flat: Conjunctions, as numbers of rows.
        flat_record: The records of the conjunctions.
        tree_offsets, tree: Other selectors in prefix order: a row, or -1 - (operator - AND)
            followed by k and the length.
        tree_record: The records of the other selectors.
        planes: The number of masks in a frame.
        depth: The number of frames.
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


class MatchBuffer(NamedTuple):
    """The matches of one or more blocks: arrays with room, and how much of it is used.

    Attributes:
        event, record: Pairs, for masks with few bits.
        pairs: The number of pairs.
        tile_first, tile_record: The event of bit 0 of a mask, and its record.
        tile_masks: The masks, end to end.
        tiles: The number of masks.
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
    """Append the bits of a mask to the pairs; return the new number of pairs."""
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
    wide: WideSelectors,
    block: Block,
    first: int,
    records: RecordState,
    totals: Longs,
    found: MatchBuffer,
) -> MatchBuffer:
    """Match conjunctions; stop at the first operand that leaves no event."""
    rows, known, width = block.rows, block.known, block.width
    offsets, flat, record = wide.flat_offsets, wide.flat, wide.flat_record
    alive, visits = records.alive, records.visits
    event, record_out, pairs = found.event, found.record, found.pairs
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
        elif count <= width:
            if pairs + count > len(event):
                event, record_out = grow_array(event), grow_array(record_out)
            pairs = _emit_pairs(mask, 0, width, first, record[s], event, record_out, pairs)
        else:
            if tiles == len(tile_record):
                tile_first, tile_record = grow_array(tile_first), grow_array(tile_record)
                tile_masks = _grow_masks(tile_masks)
            tile_first[tiles] = first
            tile_record[tiles] = record[s]
            copy_into(tile_masks, tiles * width, mask, 0, n)
            tiles += 1
    return MatchBuffer(event, record_out, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def _grow_masks(masks: Words) -> Words:
    larger = np.empty(2 * len(masks), np.uint64)
    larger[: len(masks)] = masks
    return larger


@kernel
def match_trees(
    wide: WideSelectors,
    block: Block,
    first: int,
    records: RecordState,
    totals: Longs,
    found: MatchBuffer,
) -> MatchBuffer:
    """Match selectors of any form, with a stack of masks."""
    rows, known, frames, everyone = block.rows, block.known, block.frames, block.everyone
    offsets, tree, record, width = wide.tree_offsets, wide.tree, wide.tree_record, block.width
    alive, visits = records.alive, records.visits
    event, record_out, pairs = found.event, found.record, found.pairs
    tile_first, tile_record = found.tile_first, found.tile_record
    tile_masks, tiles = found.tile_masks, found.tiles
    n = width // WORDS
    masks = MaskStack(frames, wide.planes * width, np.empty((wide.depth + 1, 4), np.int64))
    counting = len(visits) > 0
    for s in range(len(record)):
        if not alive[record[s]]:
            continue
        if counting:
            visits[record[s]] += 1
        at, state, in_frame = tree_mask(tree, offsets[s], rows, known, masks, width, everyone)
        if state == EMPTY:
            continue
        if not in_frame:  # a single leaf
            copy_into(frames, 0, rows, at, n)
            at = 0
        count = count_ones(frames, at, n)
        if len(totals) > 0:
            totals[record[s]] += count
        elif count <= width:
            if pairs + count > len(event):
                event, record_out = grow_array(event), grow_array(record_out)
            pairs = _emit_pairs(frames, at, width, first, record[s], event, record_out, pairs)
        else:
            if tiles == len(tile_record):
                tile_first, tile_record = grow_array(tile_first), grow_array(tile_record)
                tile_masks = _grow_masks(tile_masks)
            tile_first[tiles] = first
            tile_record[tiles] = record[s]
            copy_into(tile_masks, tiles * width, frames, at, n)
            tiles += 1
    return MatchBuffer(event, record_out, pairs, tile_first, tile_record, tile_masks, tiles)


@kernel
def match_blocks(
    events: EventSlice,
    wide: WideSelectors,
    sets: Sets,
    records: RecordState,
    defaults: Ints,
    block: Block,
    totals: Longs,
    found: MatchBuffer,
) -> MatchBuffer:
    """Match the events of a slice, a block at a time, against the selectors without a cover.

    Args:
        events: The events.
        wide: The selectors.
        sets: The sets of ranks that they refer to.
        records: Which records are alive, and how often each was checked.
        defaults: By axis, the rank of an event without a value.
        block: The arrays of this thread.
        totals: By record, the number of events that match, incremented here; then no matches are
            returned. Empty to return the matches.
        found: The matches so far.

    Returns:
        The matches so far and those of the slice. A mask with no more bits than it has words is
        returned as pairs, which take less room.
    """
    rows, begin, end = events.rows, events.begin, events.end
    satisfied_offsets, satisfied = events.predicates.offsets, events.predicates.satisfied
    local = events.predicates.local
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
            found = match_flat(wide, block, first, records, totals, found)
        if len(wide.tree_record) > 0:
            found = match_trees(wide, block, first, records, totals, found)
    return found
