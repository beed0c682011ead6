"""A hash table from ids to codes, of one word per entry: a dict takes ten times the memory.

A slot is a tag (32 bits of the id's hash) and a code. The caller compares the ids themselves.
"""

from __future__ import annotations

import numpy as np

from tamis.kernels.block.words import Longs, Words
from tamis.kernels.decorator import kernel

EMPTY = 0
GONE = 0xFFFFFFFF  # instead of code + 1: the entry was removed
MOST = 0xFFFFFFFE


@kernel
def find(slots: Words, tag: int, begin: int) -> int:
    """Return the next slot of a tag after a slot (-1: its first slot); -1 if there is none."""
    mask = len(slots) - 1
    at = tag & mask if begin < 0 else (begin + 1) & mask
    while True:
        slot = slots[at]
        if slot == np.uint64(EMPTY):
            return -1
        if np.int64(slot >> np.uint64(32)) == tag and slot & np.uint64(GONE) != np.uint64(GONE):
            return at
        at = (at + 1) & mask


@kernel
def put(slots: Words, tags: Longs, codes: Longs) -> None:
    """Add tags with codes; the table must have room."""
    mask = len(slots) - 1
    for i in range(len(tags)):
        at = tags[i] & mask
        while slots[at] != np.uint64(EMPTY):
            at = (at + 1) & mask
        slots[at] = (np.uint64(tags[i]) << np.uint64(32)) | np.uint64(codes[i] + 1)


@kernel
def move(slots: Words, tags: Longs, old: Longs, new: Longs) -> None:
    """Change the codes of tags."""
    mask = len(slots) - 1
    for i in range(len(tags)):
        entry = (np.uint64(tags[i]) << np.uint64(32)) | np.uint64(old[i] + 1)
        at = tags[i] & mask
        while slots[at] != entry:
            at = (at + 1) & mask
        slots[at] = (np.uint64(tags[i]) << np.uint64(32)) | np.uint64(new[i] + 1)


@kernel
def refill(old: Words, slots: Words) -> None:
    """Copy the entries that were not removed into another table."""
    mask = len(slots) - 1
    for i in range(len(old)):
        slot = old[i]
        if slot != np.uint64(EMPTY) and slot & np.uint64(GONE) != np.uint64(GONE):
            at = np.int64(slot >> np.uint64(32)) & mask
            while slots[at] != np.uint64(EMPTY):
                at = (at + 1) & mask
            slots[at] = slot
