"""Read rows of masks in the order of rank: the matches of each event are in order without a sort.

When an event has as many matches as it may have, its bit in `open_` is cleared. So only matches
that are kept cost more than reading their word. Events are rounded up to whole words in all arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel

Places = NDArray[np.int64]
Masks = NDArray[np.uint64]

_SPARSE = 12  # fewer bits of a word are counted faster one by one
_ONE = np.uint64(1)


@kernel
def count_events(first: Places, masks: Masks, counts: Places) -> None:
    """Add the bits of each event to its count."""
    for row in range(len(masks)):
        for w in range(masks.shape[1]):
            word = masks[row, w]
            if word == 0:
                continue
            begin = first[row] + 64 * w
            if popcount(word) < _SPARSE:
                while word != 0:
                    counts[begin + trailing_zeros(word)] += 1
                    word &= word - _ONE
            else:
                # White-hot, and branch-free, so that LLVM vectorises it.
                some = counts[begin : begin + 64]
                for bit in range(64):
                    some[bit] += np.int64((word >> np.uint64(bit)) & _ONE)


@kernel
def sorted_rows(first: Places, code: Places, rank: Places, width: int, blocks: int) -> Places:
    """Sort rows by block of `width` events, and within a block by the rank of their code.

    Reading block by block accesses only a part of the counts at a time.
    """
    begins = np.zeros(blocks * len(rank) + 1, np.int64)
    for row in range(len(first)):
        begins[first[row] // width * len(rank) + rank[code[row]] + 1] += 1
    for i in range(1, len(begins)):
        begins[i] += begins[i - 1]
    rows = np.empty(len(first), np.int64)
    for row in range(len(first)):
        key = first[row] // width * len(rank) + rank[code[row]]
        rows[begins[key]] = row
        begins[key] += 1
    return rows


@kernel
def count_best(rows: Places, first: Places, masks: Masks, limit: int, counts: Places) -> None:
    """Count the matches of each event, up to the limit."""
    open_ = np.full(len(counts) >> 6, ~np.uint64(0))
    for row in rows:
        begin = first[row] >> 6
        for w in range(min(masks.shape[1], len(open_) - begin)):
            if open_[begin + w] == 0:
                continue
            found = masks[row, w] & open_[begin + w]
            while found != 0:
                bit = trailing_zeros(found)
                found &= found - _ONE
                event = ((begin + w) << 6) + bit
                counts[event] += 1
                if counts[event] == limit:
                    open_[begin + w] ^= _ONE << np.uint64(bit)


@kernel
def fill_best(
    rows: Places, first: Places, code: Places, masks: Masks, ends: Places, out: Places
) -> None:
    """Write the codes of each event in the order of the rows, up to the end of the event."""
    cursors = np.empty(len(ends), np.int64)
    open_ = np.zeros(len(ends) >> 6, np.uint64)
    before = 0
    for event in range(len(ends)):
        cursors[event] = before
        if before < ends[event]:
            open_[event >> 6] |= _ONE << np.uint64(event & 63)
        before = ends[event]
    for row in rows:
        begin = first[row] >> 6
        for w in range(min(masks.shape[1], len(open_) - begin)):
            if open_[begin + w] == 0:
                continue
            found = masks[row, w] & open_[begin + w]
            while found != 0:
                bit = trailing_zeros(found)
                found &= found - _ONE
                event = ((begin + w) << 6) + bit
                out[cursors[event]] = code[row]
                cursors[event] += 1
                if cursors[event] == ends[event]:
                    open_[begin + w] ^= _ONE << np.uint64(bit)
