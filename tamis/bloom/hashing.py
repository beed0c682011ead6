"""From a predicate to the bits of a filter: the same in every process, on every machine.

A key is 64 bits of xxHash over the attribute and the constraint. Its halves are the two hash
functions that all others are derived from (DEBS 2008, Equation 12). Messages between brokers depend
on it, so nothing here may change without a new version on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from tamis.errors import InputError

Keys = npt.NDArray[np.uint64]

MOST_BITS = 1 << 31
MOST_HASHES = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a filter.

    >>> Shape(16384, 2).places(key_of("x", "x > 5"))
    [3268, 8575]

    Attributes:
        m: The number of bits.
        k: The number of hash functions; each sets one bit for an element.
    """

    m: int
    k: int

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: m or k is out of range.
        """
        _check("m", self.m, MOST_BITS)
        _check("k", self.k, MOST_HASHES)

    def places(self, key: int) -> list[int]:
        """Return the bits of a key: g_i = h_1 + i * h_2; some of them may be the same."""
        first, step = key & 0xFFFFFFFF, (key >> 32) | 1
        return [(first + i * step) % self.m for i in range(self.k)]

    def places_of(self, keys: Keys) -> list[npt.NDArray[np.uint64]]:
        """Return the bits of many keys, by hash function."""
        first, step = keys & np.uint64(0xFFFFFFFF), (keys >> np.uint64(32)) | np.uint64(1)
        m = np.uint64(self.m)
        return [(first + np.uint64(i) * step) % m for i in range(self.k)]

    @property
    def words(self) -> int:
        """The number of 64-bit words for all bits."""
        return (self.m + 63) >> 6

    @property
    def dtype(self) -> npt.DTypeLike:
        """The smallest integer type that can number the bits."""
        return np.uint16 if self.m <= 1 << 16 else np.uint32


def key_of(attribute: str, constraint: str) -> int:
    """Return the key of an attribute and a constraint, given as canonical texts."""
    return xxhash.xxh3_64_intdigest(f"{attribute}\x00{constraint}".encode())


def _check(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InputError(f"{name} must be an integer from 1 to {most:,}, not {value!r}")
