"""Count what subscriptions cost, for one event in 128, so that counting costs next to nothing.

They are halved from time to time, so that recent events weigh more.
"""

from __future__ import annotations

import numpy as np

from tamis.kernels.block.masks import MatchBuffer
from tamis.kernels.block.words import Ints

# One event in this many is counted.
_ONE_IN = 128
# A batch that is too large to be counted whole is counted in units of the largest block.
_CUT = 8192
# Counts are halved when this many events have been counted.
_FADING = 1 << 16

NOT_COUNTED: Ints = np.zeros(0, np.int32)


class CountSchedule:
    """Which events are counted: the first ones, and from then on one in 128.

    Attributes:
        events: How many events have been counted.
    """

    def __init__(self) -> None:
        """Create a schedule that counts the first block."""
        self.events = 0
        self._due = _ONE_IN * _CUT

    def take(self, events: int) -> int:
        """Return how many of the next `events` events to count, from the first on."""
        self._due += events
        quota = self._due // _ONE_IN
        taken = events if events <= quota else quota // _CUT * _CUT
        # A limit on what is due: without it, a large batch after many small ones would be counted
        # whole.
        self._due = min(self._due - _ONE_IN * taken, 2 * _ONE_IN * _CUT)
        self.events += taken
        return taken


class Tally:
    """The counters of a segment.

    Attributes:
        events: How many events have been counted.
        visits: By record, how often it was checked, per event or per block; kernels increment it.
        matched: By record, how many events matched it.
    """

    def __init__(self, records: int) -> None:
        """Create counters without arrays: most segments do not live long."""
        self._records = records
        self.events = 0
        self.visits = NOT_COUNTED
        self.matched = NOT_COUNTED

    def visit_counters(self) -> Ints:
        """Return `visits`; allocate the arrays if necessary."""
        if len(self.visits) != self._records:
            self.visits = np.zeros(self._records, np.int32)
            self.matched = np.zeros(self._records, np.int32)
        return self.visits

    def add(self, events: int, found: MatchBuffer) -> None:
        """Add the matches of `events` counted events."""
        self.visit_counters()
        # Only at the records found: there may be a million records, and one event.
        np.add.at(self.matched, found.record[: found.pairs], 1)
        if found.tiles:
            masks = found.tile_masks.reshape(len(found.tile_record), -1)[: found.tiles]
            sizes = np.bitwise_count(masks).sum(axis=1, dtype=np.int32)
            np.add.at(self.matched, found.tile_record[: found.tiles], sizes)
        self.events += events
        if self.events >= _FADING:
            self.events >>= 1
            self.visits >>= 1
            self.matched >>= 1
