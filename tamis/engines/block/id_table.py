"""The codes of subscriptions by id, in a flat table: a million Python strings take 100 MB."""

from __future__ import annotations

import numpy as np
import xxhash

from tamis.kernels.block.ids import GONE, find, move, put, refill
from tamis.kernels.block.words import Longs
from tamis.matches import Id

_FIRST = 1024


def tag_of(id: Id) -> int:
    """Return a 32-bit hash of an id that is the same in every process."""
    if isinstance(id, str):
        return xxhash.xxh3_64_intdigest(id.encode()) & 0xFFFFFFFF
    return xxhash.xxh3_64_intdigest(id.to_bytes(8, "little", signed=True)) & 0xFFFFFFFF


class IdTable:
    """Codes by tag; several ids may share a tag."""

    def __init__(self) -> None:
        """Create an empty table."""
        self._slots = np.zeros(_FIRST, np.uint64)
        self._taken = 0  # slots in use, including those of removed ids

    def next(self, tag: int, after: int = -1) -> tuple[int, int]:
        """Return the next slot of a tag after a slot, and its code; (-1, -1) if there is none."""
        at = find(self._slots, tag, after)
        return (at, (int(self._slots[at]) & GONE) - 1) if at >= 0 else (-1, -1)

    def put(self, tags: Longs, codes: Longs) -> None:
        """Add tags with codes."""
        if 3 * (self._taken + len(tags)) > 2 * len(self._slots):
            self._grow(len(tags))
        put(self._slots, tags, codes)
        self._taken += len(tags)

    def drop(self, at: int) -> None:
        """Remove the code in a slot."""
        self._slots[at] |= np.uint64(GONE)

    def move(self, tags: Longs, old: Longs, new: Longs) -> None:
        """Change the codes of tags."""
        move(self._slots, tags, old, new)

    def clear(self) -> None:
        """Remove all entries."""
        self._slots, self._taken = np.zeros(_FIRST, np.uint64), 0

    @property
    def bytes(self) -> int:
        """The size of the table in bytes."""
        return int(self._slots.nbytes)

    def _grow(self, more: int) -> None:
        code = self._slots & np.uint64(GONE)
        held = int(np.count_nonzero((code != 0) & (code != GONE)))
        size = _FIRST
        while 2 * size < 3 * (held + more):
            size *= 2
        slots = np.zeros(size, np.uint64)
        refill(self._slots, slots)
        self._slots, self._taken = slots, held
