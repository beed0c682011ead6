"""Rows of masks, walked by rank: what each event matched, in order, without a sort.

Of an event that has as many as it may have, the bit in `open_` is gone; so only what is kept costs
more than a look at its word. Events are rounded up to whole words in all arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel

Places = NDArray[np.int64]
Masks = NDArray[np.uint64]

_SPARSE = 12  # so many bits of a word are sooner found one by one
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
                # White-hot, and without a branch, so that LLVM makes vector instructions of it.
                some = counts[begin : begin + 64]
                for bit in range(64):
                    some[bit] += np.int64((word >> np.uint64(bit)) & _ONE)


@kernel
def sorted_rows(first: Places, code: Places, rank: Places, width: int, blocks: int) -> Places:
    """The rows by block of so many events, and within a block by the rank of their code.

    Engines go block by block, so it stays within a part of the counts at a time.
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
    """By event, how many it matched, counting to the limit at most."""
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
    """Write the codes of each event, the first rows first, up to where the event ends."""
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
