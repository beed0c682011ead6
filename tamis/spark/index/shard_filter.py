"""The Bloom filter of a shard, sized by the number of its keys.

Filters bring Numba, which takes long to import: it is imported when the first filter is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tamis.bloom.hashing import Keys, Shape

if TYPE_CHECKING:
    from tamis.bloom.filter import Bloom

BITS_PER_KEY = 16
HASHES = 4  # with sixteen bits per key the false positive rate is about 1 in 400


def bloom_of(keys: Keys) -> Bloom:
    """Return the filter of keys; its size is a power of two. Dense, for lookups of many keys."""
    size = 1 << max(6, (BITS_PER_KEY * max(len(keys), 1) - 1).bit_length())
    shape = Shape(size, HASHES)
    return _set_keys(shape, np.zeros(shape.words, np.uint64), keys)


def extend_bloom(bloom: Bloom, keys: Keys) -> Bloom:
    """Return the filter with more keys: of a new size if it was empty, otherwise of the same."""
    if not bloom.bits.words.any():
        return bloom_of(keys)
    return _set_keys(bloom.shape, bloom.bits.words.copy(), keys)


def _set_keys(shape: Shape, words: npt.NDArray[np.uint64], keys: Keys) -> Bloom:
    from tamis.bloom.bit_sets import DenseBits
    from tamis.bloom.filter import Bloom
    from tamis.kernels.bloom.places import words_of

    for places in shape.places_of(np.asarray(keys, np.uint64)):
        words_of(places, words)
    return Bloom(shape, DenseBits(shape, words))


def pack_bits(bloom: Bloom) -> npt.NDArray[np.uint8]:
    """Return the bits of a filter, eight to a byte, for a file."""
    bits = np.unpackbits(bloom.bits.words.view(np.uint8), bitorder="little")
    return np.packbits(bits[: bloom.shape.m])


def unpack_bits(data: npt.NDArray[np.uint8]) -> Bloom:
    """Return the filter from `pack_bits`; its size is a multiple of 64 bits."""
    from tamis.bloom.bit_sets import DenseBits
    from tamis.bloom.filter import Bloom

    shape = Shape(8 * len(data), HASHES)
    words = np.packbits(np.unpackbits(data), bitorder="little").view(np.uint64)
    return Bloom(shape, DenseBits(shape, words))
