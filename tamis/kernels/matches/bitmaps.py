"""Write Roaring bitmaps: for each subscription, the events it matched.

The format is the portable one without runs (github.com/RoaringBitmap/RoaringFormatSpec): a cookie,
the number of containers, for each container its key and its size minus one, for each container its
offset, then the containers. A container covers 65,536 events: as a list of 16-bit numbers, or as a
bitmap if there are more than 4,096. All arrays are in units of 16 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel

Places = NDArray[np.int64]
Masks = NDArray[np.uint64]
Units = NDArray[np.uint16]

COOKIE = 12346
HEAD = 4  # units of the header, and units per container in the tables after it
WORDS = 1024  # of a container
BITS = 4096  # units of a container that is a bitmap, and the most numbers in a list
_ONE = np.uint64(1)


class MatchesByCode(NamedTuple):
    """Matches, by the code of the subscription.

    Attributes:
        rows, row_begins: The rows of `masks`, and by code where they begin; one more at the end.
        first, masks: By row, the first event and the bits.
        events, event_begins: Single events, and by code where they begin; one more at the end.
    """

    rows: Places
    row_begins: Places
    first: Places
    masks: Masks
    events: Places
    event_begins: Places


@kernel
def write_bitmaps(
    found: MatchesByCode, codes: Places, done: int, scratch: Masks, out: Units, ends: Places
) -> int:
    """Write the bitmaps of the codes from `done` on, as many as there is room for.

    Args:
        found: The matches.
        codes: The subscriptions that matched something.
        done: How many of them are done already.
        scratch: Zeros, for all events, in whole containers; zeros again at the end.
        out: The output.
        ends: By place in `codes`, where its bitmap ends in `out`.

    Returns:
        How many are done now.
    """
    sizes = np.zeros(len(scratch) // WORDS, np.int64)
    largest = HEAD + len(sizes) * (HEAD + BITS)
    at = 0
    while done < len(codes) and at + largest <= len(out):
        _collect(found, codes[done], scratch, sizes)
        at = _write(scratch, sizes, out, at)
        ends[done] = at
        done += 1
    return done


@kernel
def _collect(found: MatchesByCode, code: int, scratch: Masks, sizes: Places) -> None:
    """Set the events of a code in the scratch, and count those of each container."""
    for i in range(found.row_begins[code], found.row_begins[code + 1]):
        row = found.rows[i]
        begin = found.first[row] >> 6
        for w in range(found.masks.shape[1]):
            word = found.masks[row, w]
            if word != 0:
                scratch[begin + w] |= word
                sizes[(begin + w) // WORDS] += popcount(word)
    for i in range(found.event_begins[code], found.event_begins[code + 1]):
        event = found.events[i]
        scratch[event >> 6] |= _ONE << np.uint64(event & 63)
        sizes[event >> 16] += 1


@kernel
def _write(scratch: Masks, sizes: Places, out: Units, at: int) -> int:
    """Write a bitmap and clear the scratch; return where the bitmap ends."""
    begin, containers = at, 0
    for size in sizes:
        containers += size > 0
    at = _write_long(out, at, COOKIE)
    at = _write_long(out, at, containers)
    body = at + containers * HEAD
    where = at + containers * 2
    for key in range(len(sizes)):
        size = sizes[key]
        if size == 0:
            continue
        out[at] = key
        out[at + 1] = size - 1
        at += 2
        where = _write_long(out, where, 2 * (body - begin))
        words = scratch[key * WORDS : (key + 1) * WORDS]
        if size > BITS:
            body = _write_bits(words, out, body)
        else:
            body = _write_list(words, out, body)
        words[:] = 0
        sizes[key] = 0
    return body


@kernel
def _write_long(out: Units, at: int, number: int) -> int:
    out[at] = number & 0xFFFF
    out[at + 1] = number >> 16
    return at + 2


@kernel
def _write_bits(words: Masks, out: Units, at: int) -> int:
    units = out[at : at + BITS]
    for w in range(WORDS):
        for part in range(4):
            units[4 * w + part] = (words[w] >> np.uint64(16 * part)) & np.uint64(0xFFFF)
    return at + BITS


@kernel
def _write_list(words: Masks, out: Units, at: int) -> int:
    for w in range(WORDS):
        word = words[w]
        while word != 0:
            out[at] = 64 * w + trailing_zeros(word)
            at += 1
            word &= word - _ONE
    return at
