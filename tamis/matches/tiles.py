"""Tiles: matches as masks, a bit per event.

Where rules match a large part of all events, a pair takes a hundred times the space of a bit, and
writing pairs is most of the work. So an engine may return masks, and `Matches` computes what it can
from them, without creating pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.matches.code_names import Ints

# Rows are sorted by counting up to this many combinations of block and rank per row.
_ROOM = 4


class Tiles(NamedTuple):
    """Rows of bits: bit e of word w of a row is the event first + 64 w + e.

    Attributes:
        first: By row, the event of its first bit, a multiple of 64.
        code: By row, the subscription.
        masks: By row, the words.
    """

    first: Ints
    code: Ints
    masks: npt.NDArray[np.uint64]

    def sizes(self) -> Ints:
        """Return the number of matches of each row."""
        sizes: Ints = np.bitwise_count(self.masks).sum(axis=1, dtype=np.int64)
        return sizes

    def code_counts(self, codes: int) -> Ints:
        """Return the number of events that each code matched."""
        # The weights are floats, which are exact below 2 ** 53.
        return np.bincount(self.code, self.sizes(), codes).astype(np.int64)

    def event_counts(self, events: int) -> Ints:
        """Return the number of subscriptions that each event matched."""
        from tamis.kernels.matches.tiles import count_events

        counts = np.zeros(word_count(events) * 64, np.int64)
        count_events(self.first, self.masks, counts)
        return counts[:events]

    def codes_of(self, event: int) -> Ints:
        """Return the codes that one event matched."""
        word = (event >> 6) - (self.first >> 6)
        near = np.flatnonzero((0 <= word) & (word < self.masks.shape[1]))
        bits = self.masks[near, word[near]] & np.uint64(1 << (event & 63))
        matched: Ints = self.code[near[bits != 0]]
        return matched

    def rows_by_rank(self, rank: Ints) -> Ints:
        """Return the rows by rank, grouped by block of events if the blocks do not overlap."""
        from tamis.kernels.matches.tiles import sorted_rows

        width = max(1, 64 * self.masks.shape[1])
        if (self.first % width).any():
            width = 1 << 62  # blocks may overlap, so all rows form one group
        blocks = int(self.first.max(initial=0)) // width + 1
        if blocks * len(rank) > _ROOM * len(self.code):
            return np.lexsort((rank[self.code], self.first // width))
        return sorted_rows(self.first, self.code, rank, width, blocks)


def word_count(events: int) -> int:
    """Return the number of words that hold a bit for each event."""
    return -(-events // 64)
