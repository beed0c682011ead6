"""Sets of bits: sort places, and convert between sparse (places) and dense (words)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel

Words = NDArray[np.uint64]
Offsets = NDArray[np.int64]
Places = NDArray[Any]  # non-negative integers of any width


@kernel
def words_of(places: Places, words: Words) -> None:
    """Set the bits at some places: bit b is bit b & 63 of word b >> 6."""
    for place in places:
        bit = np.int64(place)
        words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@kernel
def places_of(words: Words, out: Places) -> int:
    """Write the places of the set bits, ascending; return how many. `out` has room for all."""
    count = 0
    for i in range(len(words)):
        word = words[i]
        while word:
            out[count] = (i << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            count += 1
    return count


@kernel
def count_bits(words: Words) -> int:
    """Return the number of set bits."""
    count = 0
    for word in words:
        count += popcount(word)
    return count


@kernel
def sorted_places(places: Places, words: Words, out: Places) -> int:
    """Sort places and remove duplicates; return how many are left.

    It takes linear time: each place is set in `words`, which has room for all bits and is zero
    before and after.
    """
    low: Any = len(words)
    high: Any = -1
    for place in places:
        bit = np.int64(place)
        word = bit >> 6
        words[word] |= np.uint64(1) << np.uint64(bit & 63)
        low, high = min(low, word), max(high, word)
    count = 0
    for i in range(low, high + 1):
        word = words[i]
        words[i] = 0
        while word:
            out[count] = (i << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            count += 1
    return count


@kernel
def sorted_group_places(places: Places, ends: Offsets, words: Words, out: Places) -> Offsets:
    """Sort the places of each group, as `sorted_places`; return where each group begins in `out`.

    Group g is from ends[g] up to ends[g + 1]; `out` has room for all places.
    """
    begins = np.zeros(len(ends), np.int64)
    for group in range(len(ends) - 1):
        begin = begins[group]
        count = sorted_places(places[ends[group] : ends[group + 1]], words, out[begin:])
        begins[group + 1] = begin + count
    return begins


@kernel
def is_subset(one: Places, other: Places) -> bool:
    """Return whether all of `one` are in `other`; both are ascending."""
    place = 0
    for bit in one:
        while place < len(other) and other[place] < bit:
            place += 1
        if place == len(other) or other[place] != bit:
            return False
    return True
