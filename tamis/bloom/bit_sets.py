"""Sets of bits, dense and sparse (DEBS 2008, §4.5).

A dense set has one bit each, in words of 64: bit b is bit b & 63 of word b >> 6 (the paper has b >>
64). A sparse set has the places of the set bits, ascending, in 16 bits each where they fit, else
32. It is the smaller one as long as fewer than one in 16 bits is set, or one in 32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from tamis.bloom.hashing import Shape
from tamis.kernels.bloom.places import Places, Words, count_bits, is_subset, places_of, words_of


class SparseBits:
    """The places of the bits that are set.

    Attributes:
        shape: The shape of the filter.
        places: The places, ascending, without duplicates.
    """

    __slots__ = ("places", "shape")

    def __init__(self, shape: Shape, places: Places) -> None:
        """Wrap ascending places as they are."""
        self.shape = shape
        self.places = places

    @property
    def words(self) -> Words:
        """The same bits, dense."""
        words = np.zeros(self.shape.words, np.uint64)
        words_of(self.places, words)
        return words

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.places.nbytes

    def __len__(self) -> int:
        """Return the number of bits that are set."""
        return len(self.places)

    def __contains__(self, bit: int) -> bool:
        """Return whether a bit is set."""
        at = int(np.searchsorted(self.places, bit))
        return at < len(self.places) and int(self.places[at]) == bit


class DenseBits:
    """All bits, set or not.

    Attributes:
        shape: The shape of the filter.
        words: The bits in words of 64; those above the last bit are not set.
    """

    __slots__ = ("shape", "words")

    def __init__(self, shape: Shape, words: Words) -> None:
        """Wrap words as they are."""
        self.shape = shape
        self.words = words

    @property
    def places(self) -> Places:
        """The same bits, sparse."""
        out = np.empty(len(self), self.shape.dtype)
        places_of(self.words, out)
        return out

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return self.words.nbytes

    def __len__(self) -> int:
        """Return the number of bits that are set."""
        return count_bits(self.words)

    def __contains__(self, bit: int) -> bool:
        """Return whether a bit is set."""
        return bool(int(self.words[bit >> 6]) >> (bit & 63) & 1)


BitSet = SparseBits | DenseBits


def bits_of(shape: Shape, places: Iterable[int] | npt.NDArray[np.integer]) -> BitSet:
    """Return the smaller set for places below m, in any order, with or without duplicates."""
    array = places if isinstance(places, np.ndarray) else np.fromiter(places, np.int64)
    if 2 * len(array) <= shape.words:
        return compact_bits(shape, np.unique(array).astype(shape.dtype))
    # For many places, setting bits is faster than sorting.
    words = np.zeros(shape.words, np.uint64)
    words_of(array, words)
    dense = DenseBits(shape, words)
    itemsize = np.dtype(shape.dtype).itemsize
    return SparseBits(shape, dense.places) if itemsize * len(dense) <= dense.nbytes else dense


def compact_bits(shape: Shape, places: Places) -> BitSet:
    """Return the smaller set for ascending places."""
    sparse = SparseBits(shape, places)
    if sparse.nbytes <= 8 * shape.words:
        return sparse
    return DenseBits(shape, sparse.words)


def union(one: BitSet, other: BitSet) -> BitSet:
    """Return the bits of both."""
    if isinstance(one, SparseBits) and isinstance(other, SparseBits):
        return compact_bits(one.shape, np.union1d(one.places, other.places))
    both = DenseBits(one.shape, one.words | other.words)
    return both  # at least as many bits as the dense one of the two


def subset(one: BitSet, other: BitSet) -> bool:
    """Return whether all bits of one are set in the other (Equation 6)."""
    if isinstance(one, SparseBits) and isinstance(other, SparseBits):
        return is_subset(one.places, other.places)
    return not np.any(one.words & ~other.words)


def iterate_places(bits: BitSet) -> Iterator[int]:
    """Iterate over the places, ascending."""
    return iter(bits.places.tolist())
