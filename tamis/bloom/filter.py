"""A Bloom filter: a set that may claim to have what it has not, and never the other way round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tamis.bloom.bit_sets import BitSet, SparseBits, bits_of, subset, union
from tamis.bloom.filter_codec import decode_filter, decode_filters, encode_filter
from tamis.bloom.hashing import Keys, Shape
from tamis.errors import InputError


class Bloom:
    """A Bloom filter, which does not change.

    >>> from tamis.bloom.hashing import key_of
    >>> shape = Shape(m=1024, k=3)
    >>> x, y = key_of("x", "x > 5"), key_of("y", "y = 0")
    >>> both = Bloom.of(shape, [x, y])
    >>> x in both, key_of("z", "z = 0") in both
    (True, False)
    >>> Bloom.of(shape, [x]) <= both, both == Bloom.of(shape, [x]) | Bloom.of(shape, [y])
    (True, True)
    >>> Bloom.from_bytes(both.to_bytes()) == both
    True

    Attributes:
        shape: How many bits and hash functions it has.
        bits: The bits, dense or sparse.
    """

    __slots__ = ("bits", "shape")

    def __init__(self, shape: Shape, bits: BitSet) -> None:
        """Take bits as they are; see `of` and `at`."""
        self.shape = shape
        self.bits = bits

    @classmethod
    def of(cls, shape: Shape, keys: Iterable[int]) -> Bloom:
        """The filter of some keys."""
        if isinstance(keys, np.ndarray):
            return cls(shape, bits_of(shape, np.concatenate(shape.places_of(keys))))
        return cls.at(shape, (place for key in keys for place in shape.places(key)))

    @classmethod
    def at(cls, shape: Shape, places: Iterable[int]) -> Bloom:
        """The filter with some bits set.

        Raises:
            InputError: A bit is out of range.
        """
        found = np.fromiter(places, np.int64)
        for wrong in found[(found < 0) | (found >= shape.m)].tolist():
            raise InputError(f"bit {wrong} of a filter with {shape.m:,} bits")
        return cls(shape, bits_of(shape, found))

    @property
    def places(self) -> npt.NDArray[np.unsignedinteger]:
        """The bits that are set, ascending."""
        return self.bits.places

    @property
    def fill(self) -> float:
        """The fill ratio: the fraction of bits that are set."""
        return len(self.bits) / self.shape.m

    def may_have(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """By key, whether it may be in it."""
        words = self.bits.words
        found = np.ones(len(keys), np.bool_)
        for places in self.shape.places_of(keys):
            found &= (words[places >> np.uint64(6)] >> (places & np.uint64(63)) & np.uint64(1)) > 0
        return found

    def __contains__(self, key: int) -> bool:
        """Whether a key may be in it."""
        return all(place in self.bits for place in self.shape.places(key))

    def __or__(self, other: Bloom) -> Bloom:
        """The filter of all that is in either.

        Raises:
            InputError: They are of different shapes.
        """
        self._check(other)
        return Bloom(self.shape, union(self.bits, other.bits))

    def __le__(self, other: Bloom) -> bool:
        """Whether the other has all bits of this one (Equation 6).

        Raises:
            InputError: They are of different shapes.
        """
        self._check(other)
        return subset(self.bits, other.bits)

    def __eq__(self, other: object) -> bool:
        """Whether they are of one shape and have the same bits set, stored in whatever way."""
        if not isinstance(other, Bloom):
            return NotImplemented
        return self.shape == other.shape and np.array_equal(self.places, other.places)

    def __hash__(self) -> int:
        """As equal ones have it."""
        return hash((self.shape, self.places.tobytes()))

    def __len__(self) -> int:
        """How many bits are set."""
        return len(self.bits)

    def __repr__(self) -> str:
        """As in the figures of the paper, but with m as it is."""
        places = self.places.tolist()
        shown = ",".join(map(str, places[:12])) + (",…" if len(places) > 12 else "")
        return f"[k:{self.shape.k}, m:{self.shape.m}]{{{shown}}}"

    def to_bytes(self) -> bytes:
        """As it goes over the wire; see `wire.py`."""
        return encode_filter(self.shape, self.bits)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bloom:
        """Read it from the wire.

        Raises:
            InputError: It is not a filter, or of another version.
        """
        return cls(*decode_filter(data))

    @classmethod
    def from_many(cls, shape: Shape, filters: Sequence[bytes]) -> list[Bloom | None]:
        """Read several of one shape; None for what is none, or of another shape."""
        found = decode_filters(shape, filters)
        return [None if bits is None else cls(shape, bits) for bits in found]

    def _check(self, other: Bloom) -> None:
        if self.shape != other.shape:
            raise InputError(f"filters of different shapes: {self.shape} and {other.shape}")


def filters_of(
    shape: Shape, offsets: npt.NDArray[np.int64], places: npt.NDArray[np.integer]
) -> list[Bloom]:
    """Filters whose bits lie one after the other, ascending within each.

    They are sparse however many bits they have: what is done with filters of events is done by
    their places.
    """
    places = places.astype(shape.dtype)
    return [
        Bloom(shape, SparseBits(shape, places[begin:end]))
        for begin, end in pairwise(offsets.tolist())
    ]
