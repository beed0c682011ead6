"""The bits of all predicates, in filters of one shape, laid out to be found by a bit."""

from __future__ import annotations

import numpy as np

from tamis.bloom.bit_sets import SparseBits
from tamis.bloom.filter_codec import encoded_size
from tamis.bloom.hashing import Keys, Shape
from tamis_lab.kernels.false_claims import FilterLayout
from tamis_lab.simulation.job.interests import starts


def layout_of(keys: Keys, shape: Shape) -> FilterLayout:
    """Lay out the bits of predicates with these keys."""
    places = np.stack(shape.places_of(keys), axis=1).astype(np.int32)
    first = places[:, 0]
    # What an empty filter takes: all but its bits, and one byte to say that there are none.
    empty = encoded_size(shape, SparseBits(shape, np.zeros(0, shape.dtype)))
    return FilterLayout(
        np.ascontiguousarray(places),
        starts(np.bincount(first, minlength=shape.m).tolist()),
        np.argsort(first, kind="stable").astype(np.int32),
        empty - 1,
        shape.m,
    )


def colliding_pairs(keys: Keys, shape: Shape) -> int:
    """How many pairs of predicates have all of their bits in common, so that no filter tells them.

    With double hashing and m a power of two these are about 2 (n / m)^2 of n, whatever k is: both
    hash functions need only be equal modulo m, or the one set of bits the other one backwards.
    """
    places = np.sort(layout_of(keys, shape).places, axis=1)
    _, counts = np.unique(places, axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())
