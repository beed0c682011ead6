"""The bits of all predicates, in filters of one shape, indexed by bit."""

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
    # The size of an empty filter: everything but its bits, and one byte for their number.
    empty = encoded_size(shape, SparseBits(shape, np.zeros(0, shape.dtype)))
    return FilterLayout(
        np.ascontiguousarray(places),
        starts(np.bincount(first, minlength=shape.m).tolist()),
        np.argsort(first, kind="stable").astype(np.int32),
        empty - 1,
        shape.m,
    )


def colliding_pairs(keys: Keys, shape: Shape) -> int:
    """Count the pairs of predicates with all bits in common, which no filter distinguishes.

    With double hashing and m a power of two there are about 2 (n / m)^2 of them, whatever k is: it
    is enough that both hash functions are equal modulo m, or that one set of bits is the other in
    reverse order.
    """
    places = np.sort(layout_of(keys, shape).places, axis=1)
    _, counts = np.unique(places, axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())
