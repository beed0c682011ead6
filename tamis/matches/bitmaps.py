"""Answers as Roaring bitmaps, by way of their serialised form.

A bitmap of 22,000 events takes 900 µs from an array of numbers, and 1 µs from bytes that a kernel
has written.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tamis.errors import InputError
from tamis.matches.code_names import Ints
from tamis.matches.pairs import Pairs
from tamis.matches.tiles import Tiles

if TYPE_CHECKING:
    from pyroaring import BitMap

_UNITS = 1 << 19  # of 16 bits, to write to: a megabyte stays in the cache
_MOST = 1 << 32  # events that a bitmap has room for


def bitmaps(
    events: int, pairs: Pairs, tiles: Tiles, counts: tuple[Ints, Ints], size: int
) -> list[BitMap]:
    """The events of each code of the counts.

    Args:
        events: How many there are.
        pairs: Some of what matched.
        tiles: The rest.
        counts: The codes that matched, and how many events each.
        size: All codes are below.

    Raises:
        InputError: There are too many events for a bitmap.
    """
    from pyroaring import BitMap

    if events > _MOST:
        raise InputError(f"a bitmap has room for 2 ** 32 events, and there are {events}")
    codes, totals = counts
    parts = iter(_partial_bitmaps(events, pairs, tiles, codes[totals < events], size))
    # All events are one run, of a few bytes.
    return [BitMap(range(events)) if n == events else next(parts) for n in totals.tolist()]


def _partial_bitmaps(
    events: int, pairs: Pairs, tiles: Tiles, codes: Ints, size: int
) -> list[BitMap]:
    from pyroaring import BitMap

    from tamis.kernels.counting_sort import group_by_key
    from tamis.kernels.matches.bitmaps import BITS, HEAD, WORDS, MatchesByCode, write_bitmaps

    rows, row_begins = group_by_key(tiles.code, size)
    order, event_begins = group_by_key(pairs.code, size)
    found = MatchesByCode(
        rows, row_begins, tiles.first, tiles.masks, pairs.event[order], event_begins
    )
    containers = -(-events // (64 * WORDS))
    scratch = np.zeros(containers * WORDS, np.uint64)
    out = np.empty(max(_UNITS, HEAD + containers * (HEAD + BITS)), np.uint16)
    ends = np.empty(len(codes), np.int64)
    made: list[BitMap] = []
    while len(made) < len(codes):
        done = write_bitmaps(found, codes, len(made), scratch, out, ends)
        bounds = [0, *ends[len(made) : done].tolist()]
        made += [BitMap.deserialize(out[low:high].tobytes()) for low, high in pairwise(bounds)]
    return made
