"""Sets of bits: from places in any order to sorted ones, between sparse and dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel

Words = NDArray[np.uint64]
Offsets = NDArray[np.int64]
Places = NDArray[Any]  # whole numbers from 0 on, of any width


@kernel
def words_of(places: Places, words: Words) -> None:
    """Set the bits at some places: bit b is bit b & 63 of word b >> 6."""
    for place in places:
        bit = np.int64(place)
        words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@kernel
def places_of(words: Words, out: Places) -> int:
    """The places of the bits that are set, ascending; how many. `out` has room for all."""
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
    """How many bits are set."""
    count = 0
    for word in words:
        count += popcount(word)
    return count


@kernel
def sorted_places(places: Places, words: Words, out: Places) -> int:
    """Places in any order, with repeats, as ascending ones without; how many.

    Linear where sorting is not: each is set in `words`, which are zero before and after, and has
    room for all bits.
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
    """The same for groups of places, which lie one after the other: where each group begins.

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
    """Whether all of `one` are in `other`; both ascend."""
    place = 0
    for wanted in one:
        while place < len(other) and other[place] < wanted:
            place += 1
        if place == len(other) or other[place] != wanted:
            return False
    return True
