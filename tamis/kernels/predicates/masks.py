"""Compute one bit per event for every predicate, from sorted events.

The events of a block are sorted by rank (or code). `prefixes[i]` is the set of the first i of them.
So the mask of an interval of ranks is the difference of two prefixes, and two equal positions mean
that no event of the block satisfies it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel
from tamis.kernels.predicates.emit import CodeTable, Ids, Ladder, Places

Masks = NDArray[np.uint64]


class Spans(NamedTuple):
    """Every interval of a ladder: `ids[i]` holds from rank `lows[i]` to `highs[i]`."""

    ids: Ids
    lows: Ids
    highs: Ids


class EventBlock(NamedTuple):
    """A block of events, sorted by rank or code.

    Attributes:
        begins: By rank, the number of events with a lower one; one more at the end.
        order: The events that have a rank, by rank.
        prefixes: The set of the first i events of `order`, by i: 0 … len(order).
        rows: By predicate id, the row of its mask, or -1 if its mask is not needed.
    """

    begins: Places
    order: Places
    prefixes: Masks
    rows: Ids


@kernel
def fill_prefixes(order: Places, prefixes: Masks) -> None:
    """Fill in the sets of the first 0, 1, 2, … events; `prefixes` must be zeros."""
    for i in range(len(order)):
        prefixes[i + 1] = prefixes[i]
        prefixes[i + 1, order[i] >> 6] |= np.uint64(1) << np.uint64(order[i] & 63)


@kernel
def mask_spans(spans: Spans, block: EventBlock, masks: Masks) -> None:
    """Add the events in each interval to the mask of its predicate."""
    for i in range(len(spans.ids)):
        row = block.rows[spans.ids[i]]
        if row >= 0:
            _add(block, block.begins[spans.lows[i]], block.begins[spans.highs[i] + 1], row, masks)


@kernel
def mask_others(ladder: Ladder, block: EventBlock, masks: Masks) -> None:
    """Add all events to the masks of tests that exclude constants, then remove the excluded."""
    for i in range(len(ladder.other_ids)):
        row = block.rows[ladder.other_ids[i]]
        if row >= 0:
            _add(block, 0, len(block.order), row, masks)
    for constant in range(len(ladder.other_offsets) - 1):
        begin, end = block.begins[2 * constant + 1], block.begins[2 * constant + 2]
        if begin == end:
            continue
        for i in range(ladder.other_offsets[constant], ladder.other_offsets[constant + 1]):
            row = block.rows[ladder.other_ids[ladder.other_places[i]]]
            if row >= 0:
                mask, first, last = masks[row], block.prefixes[begin], block.prefixes[end]
                for word in range(len(mask)):
                    mask[word] ^= first[word] ^ last[word]


@kernel
def mask_table(table: CodeTable, block: EventBlock, masks: Masks) -> None:
    """Add the events of each code to the masks of the predicates that it satisfies."""
    for code in range(len(table.offsets) - 1):
        begin, end = block.begins[code], block.begins[code + 1]
        if begin == end:
            continue
        for i in range(table.offsets[code], table.offsets[code + 1]):
            row = block.rows[table.ids[i]]
            if row >= 0:
                _add(block, begin, end, row, masks)


@kernel
def _add(block: EventBlock, begin: int, end: int, row: int, masks: Masks) -> None:
    if end - begin < masks.shape[1]:
        for i in range(begin, end):
            event = block.order[i]
            masks[row, event >> 6] |= np.uint64(1) << np.uint64(event & 63)
    else:
        for word in range(masks.shape[1]):
            masks[row, word] |= block.prefixes[end, word] ^ block.prefixes[begin, word]
