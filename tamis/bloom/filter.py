"""A Bloom filter: a set with false positives and without false negatives."""

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
    """An immutable Bloom filter.

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
        shape: The number of bits and of hash functions.
        bits: The bits, dense or sparse.
    """

    __slots__ = ("bits", "shape")

    def __init__(self, shape: Shape, bits: BitSet) -> None:
        """Wrap bits as they are; see `of` and `at`."""
        self.shape = shape
        self.bits = bits

    @classmethod
    def of(cls, shape: Shape, keys: Iterable[int]) -> Bloom:
        """Return the filter of some keys."""
        if isinstance(keys, np.ndarray):
            return cls(shape, bits_of(shape, np.concatenate(shape.places_of(keys))))
        return cls.at(shape, (place for key in keys for place in shape.places(key)))

    @classmethod
    def at(cls, shape: Shape, places: Iterable[int]) -> Bloom:
        """Return the filter with some bits set.

        Raises:
            InputError: A bit is out of range.
        """
        array = np.fromiter(places, np.int64)
        for wrong in array[(array < 0) | (array >= shape.m)].tolist():
            raise InputError(f"bit {wrong} is out of range: the filter has {shape.m:,} bits")
        return cls(shape, bits_of(shape, array))

    @property
    def places(self) -> npt.NDArray[np.unsignedinteger]:
        """The bits that are set, ascending."""
        return self.bits.places

    @property
    def fill(self) -> float:
        """The fill ratio: the fraction of bits that are set."""
        return len(self.bits) / self.shape.m

    def may_have(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Return, by key, whether the filter may contain it."""
        words = self.bits.words
        result = np.ones(len(keys), np.bool_)
        for places in self.shape.places_of(keys):
            result &= (words[places >> np.uint64(6)] >> (places & np.uint64(63)) & np.uint64(1)) > 0
        return result

    def __contains__(self, key: int) -> bool:
        """Return whether the filter may contain a key."""
        return all(place in self.bits for place in self.shape.places(key))

    def __or__(self, other: Bloom) -> Bloom:
        """Return the union of two filters.

        Raises:
            InputError: They have different shapes.
        """
        self._check(other)
        return Bloom(self.shape, union(self.bits, other.bits))

    def __le__(self, other: Bloom) -> bool:
        """Return whether the other has all bits of this one (Equation 6).

        Raises:
            InputError: They have different shapes.
        """
        self._check(other)
        return subset(self.bits, other.bits)

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same shape and bits, whether dense or sparse."""
        if not isinstance(other, Bloom):
            return NotImplemented
        return self.shape == other.shape and np.array_equal(self.places, other.places)

    def __hash__(self) -> int:
        """Return a hash that equal filters share."""
        return hash((self.shape, self.places.tobytes()))

    def __len__(self) -> int:
        """Return the number of bits that are set."""
        return len(self.bits)

    def __repr__(self) -> str:
        """Return the notation of the paper's figures, but with m as a plain number."""
        places = self.places.tolist()
        shown = ",".join(map(str, places[:12])) + (",…" if len(places) > 12 else "")
        return f"[k:{self.shape.k}, m:{self.shape.m}]{{{shown}}}"

    def to_bytes(self) -> bytes:
        """Return the wire format; see `filter_codec.py`."""
        return encode_filter(self.shape, self.bits)

    @classmethod
    def from_bytes(cls, data: bytes) -> Bloom:
        """Read a filter from the wire.

        Raises:
            InputError: It is not a filter, or has another version.
        """
        return cls(*decode_filter(data))

    @classmethod
    def from_many(cls, shape: Shape, filters: Sequence[bytes]) -> list[Bloom | None]:
        """Read several filters of one shape; None for invalid data and for other shapes."""
        bit_sets = decode_filters(shape, filters)
        return [None if bits is None else cls(shape, bits) for bits in bit_sets]

    def _check(self, other: Bloom) -> None:
        if self.shape != other.shape:
            raise InputError(f"the filters have different shapes: {self.shape} and {other.shape}")


def filters_of(
    shape: Shape, offsets: npt.NDArray[np.int64], places: npt.NDArray[np.integer]
) -> list[Bloom]:
    """Return the filters whose bits are concatenated, ascending within each.

    They are sparse however many bits they have: filters of events are processed by their places.
    """
    places = places.astype(shape.dtype)
    return [
        Bloom(shape, SparseBits(shape, places[begin:end]))
        for begin, end in pairwise(offsets.tolist())
    ]
