"""The sbstree (DEBS 2008, §4.5): a tree of the places of sparse bit sets, one to a node."""

from __future__ import annotations

from typing import Any

from tamis.bloom.tree import FilterTree, Offsets
from tamis.kernels.bloom_sbstree import sbstree_find, sbstree_insert, sbstree_publish
from tamis.kernels.bloom_trie import Ints


class SbsTree(FilterTree):
    """A branch is the bits of a filter, ascending.

    >>> from tamis.bloom.filter import Bloom
    >>> from tamis.bloom.hashing import Shape
    >>> shape = Shape(16384, 2)
    >>> tree = SbsTree(shape)
    >>> tree.insert(Bloom.at(shape, [6441, 10582]), "f3@dot.com")
    >>> tree.insert(Bloom.at(shape, [5102, 6441, 8636, 10582]), "f6@dot.com")
    >>> tree.publish(Bloom.at(shape, [6066, 6441, 8581, 10582]))
    {'f3@dot.com'}
    """

    def _insert(self, bits: Ints) -> int:
        return sbstree_insert(self._trie, bits)

    def _find(self, bits: Ints) -> int:
        return sbstree_find(self._trie, bits)

    def _publish(self, *asked: Any) -> tuple[Offsets, Ints, int]:
        return sbstree_publish(self._trie, *asked)
