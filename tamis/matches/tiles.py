"""Tiles: matches as masks, a bit per event.

Where rules match a good part of all events, a pair takes a hundred times the room of a bit, and
writing pairs is most of the work. So an engine may give masks, and what can be said of them is said
without making pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.matches.code_names import Ints

# So many combinations of block and rank per row may be counted, to sort rows without comparing.
_ROOM = 4


class Tiles(NamedTuple):
    """Rows of bits: bit e of word w of a row is the event first + 64 w + e.

    Attributes:
        first: By row, the event that its first bit stands for, a multiple of 64.
        code: By row, the subscription.
        masks: By row, the words.
    """

    first: Ints
    code: Ints
    masks: npt.NDArray[np.uint64]

    def sizes(self) -> Ints:
        """By row, how many events matched."""
        sizes: Ints = np.bitwise_count(self.masks).sum(axis=1, dtype=np.int64)
        return sizes

    def code_counts(self, codes: int) -> Ints:
        """By code, how many events matched."""
        # The weights are floats, and exact: no one counts to 2 ** 53.
        return np.bincount(self.code, self.sizes(), codes).astype(np.int64)

    def event_counts(self, events: int) -> Ints:
        """By event, how many subscriptions matched."""
        from tamis.kernels.matches.tiles import count_events

        counts = np.zeros(word_count(events) * 64, np.int64)
        count_events(self.first, self.masks, counts)
        return counts[:events]

    def codes_of(self, event: int) -> Ints:
        """The subscriptions that one event matched."""
        word = (event >> 6) - (self.first >> 6)
        near = np.flatnonzero((0 <= word) & (word < self.masks.shape[1]))
        bits = self.masks[near, word[near]] & np.uint64(1 << (event & 63))
        matched: Ints = self.code[near[bits != 0]]
        return matched

    def rows_by_rank(self, rank: Ints) -> Ints:
        """The rows of each event by rank, those of a block of events together if they can be."""
        from tamis.kernels.matches.tiles import sorted_rows

        width = max(1, 64 * self.masks.shape[1])
        if (self.first % width).any():
            width = 1 << 62  # they may overlap, and have to be walked side by side
        blocks = int(self.first.max(initial=0)) // width + 1
        if blocks * len(rank) > _ROOM * len(self.code):
            return np.lexsort((rank[self.code], self.first // width))
        return sorted_rows(self.first, self.code, rank, width, blocks)


def word_count(events: int) -> int:
    """How many words have a bit for each event."""
    return -(-events // 64)
