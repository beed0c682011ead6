"""A Bloom filter over keys: never wrong when it says no."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tamis.routing.keys import Keys

BITS_PER_KEY = 16
HASHES = 4  # with sixteen bits per key about one in 400 is let through for nothing


class Bloom:
    """A set of keys that may let others through.

    Attributes:
        bits: One byte each, as they are looked up one by one; a power of two of them.
    """

    def __init__(self, bits: npt.NDArray[np.bool_]) -> None:
        """Take the bits as they are."""
        self.bits = bits

    @classmethod
    def of(cls, keys: Keys) -> Bloom:
        """The filter of some keys."""
        size = 1 << max(6, (BITS_PER_KEY * max(len(keys), 1) - 1).bit_length())
        bloom = cls(np.zeros(size, np.bool_))
        bloom._put(keys)
        return bloom

    def plus(self, keys: Keys) -> Bloom:
        """The filter of these keys too: a larger one if it has none yet, else of the same size."""
        if not self.bits.any():
            return Bloom.of(keys)
        bloom = Bloom(self.bits.copy())
        bloom._put(keys)
        return bloom

    def _put(self, keys: Keys) -> None:
        for place in self._places(np.asarray(keys, np.uint64)):
            self.bits[place] = True

    def __contains__(self, key: int) -> bool:
        """Whether a key may be in it."""
        return bool(self.may_have(np.array([key], np.uint64))[0])

    def may_have(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """By key, whether it may be in it."""
        found = np.ones(len(keys), np.bool_)
        for place in self._places(keys):
            found &= self.bits[place]
        return found

    def _places(self, keys: Keys) -> list[npt.NDArray[np.uint64]]:
        # Two halves of the key make as many hashes as are wanted.
        low, high = keys & np.uint64(0xFFFFFFFF), (keys >> np.uint64(32)) | np.uint64(1)
        mask = np.uint64(len(self.bits) - 1)
        return [(low + np.uint64(i) * high) & mask for i in range(HASHES)]
