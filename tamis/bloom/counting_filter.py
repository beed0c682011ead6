"""A Bloom filter that supports removal: it counts how often each bit was set (DEBS 2008, §4.3)."""

from __future__ import annotations

import numpy as np

from tamis.bloom.bit_sets import compact_bits
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape


class CountingBloom:
    """Counters instead of bits: 32 bits each, so that none ever overflows.

    >>> from tamis.bloom.hashing import key_of
    >>> counting = CountingBloom(Shape(1024, 3))
    >>> key = key_of("x", "x > 5")
    >>> counting.add(key)
    >>> counting.add(key)
    >>> counting.remove(key)
    >>> key in counting
    True
    >>> counting.remove(key)
    >>> key in counting
    False

    Attributes:
        shape: The number of bits and of hash functions.
        counts: By bit, how often it was set.
    """

    def __init__(self, shape: Shape) -> None:
        """Create an empty filter."""
        self.shape = shape
        self.counts = np.zeros(shape.m, np.uint32)

    def add(self, key: int) -> None:
        """Add a key; a key may be added several times."""
        for place in self.shape.places(key):
            self.counts[place] += 1

    def remove(self, key: int) -> None:
        """Remove a key once.

        Raises:
            KeyError: It is not in the filter. False positives are not detected.
        """
        if key not in self:
            raise KeyError(key)
        for place in self.shape.places(key):
            self.counts[place] -= 1

    def __contains__(self, key: int) -> bool:
        """Return whether the filter may contain a key."""
        places = self.shape.places(key)
        return all(self.counts[place] >= places.count(place) for place in places)

    @property
    def bloom(self) -> Bloom:
        """The same as a plain filter: the bits that are set at least once."""
        places = np.flatnonzero(self.counts).astype(self.shape.dtype)
        return Bloom(self.shape, compact_bits(self.shape, places))

    @property
    def fill(self) -> float:
        """The fraction of bits that are set."""
        return int(np.count_nonzero(self.counts)) / self.shape.m
