"""The bftree (DEBS 2008, §4.4): a tree of filters that are split into h parts, one per node."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.bloom.filter_tree import FilterTree, Offsets
from tamis.bloom.hashing import Shape
from tamis.errors import InputError
from tamis.kernels.bloom.bftree import bftree_find, bftree_insert, bftree_publish
from tamis.kernels.bloom.trie import Ints


class BFTree(FilterTree):
    """A branch is the h parts of a filter; every leaf is at the same height, h.

    >>> from tamis.bloom.filter import Bloom
    >>> shape = Shape(16384, 2)
    >>> tree = BFTree(shape, h=4)
    >>> tree.insert(Bloom.at(shape, [6441, 10582]), "f3@dot.com")
    >>> tree.insert(Bloom.at(shape, [5102, 6441, 8636, 10582]), "f6@dot.com")
    >>> tree.publish(Bloom.at(shape, [6066, 6441, 8581, 10582]))
    {'f3@dot.com'}

    Attributes:
        h: How many parts a filter is split into; all but the last have the same number of bits.
    """

    def __init__(self, shape: Shape, h: int = 4) -> None:
        """Create a tree with only a root.

        Raises:
            InputError: h is out of range.
        """
        if isinstance(h, bool) or not isinstance(h, int) or not 1 <= h <= shape.m:
            raise InputError(f"h must be an integer from 1 to m ({shape.m:,}), not {h!r}")
        super().__init__(shape)
        self.h = h
        self._starts = np.minimum(np.arange(h + 1) * -(-shape.m // h), shape.m)

    def _insert(self, bits: Ints) -> int:
        return bftree_insert(self._trie, bits, self._bounds(bits))

    def _find(self, bits: Ints) -> int:
        return bftree_find(self._trie, bits, self._bounds(bits))

    def _publish(self, *arguments: Any) -> tuple[Offsets, Ints, int]:
        return bftree_publish(self._trie, *arguments)

    def _bounds(self, bits: Ints) -> Offsets:
        """Return the offsets at which the parts begin among the bits."""
        return np.searchsorted(bits, self._starts).astype(np.int64)

    def _make_room(self, bits: int) -> None:
        super()._make_room(bits + 2 * self.h)
