"""The sbstree (DEBS 2008, §4.5): a tree of the places of sparse bit sets, one per node."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tamis.bloom.filter import Bloom, filters_of
from tamis.bloom.filter_tree import FilterTree, Offsets
from tamis.kernels.bloom.sbstree import (
    KeptBits,
    sbstree_find,
    sbstree_insert,
    sbstree_narrow,
    sbstree_publish,
)
from tamis.kernels.bloom.trie import Ints

_NO_BITS = KeptBits(np.zeros(0, np.uint64), 0)


class SbsTree(FilterTree):
    """A branch is the bits of a filter, ascending.

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

    def narrow_filters(
        self, filters: Sequence[Bloom], without: Hashable = None, most: int = 512
    ) -> list[Bloom]:
        """Return, per event's filter, the union of the stored filters that it contains.

        If that would visit very many nodes, it would take long and save little; the result is then
        the event's own filter.

        >>> from tamis.bloom.hashing import Shape
        >>> shape = Shape(64, 1)
        >>> tree = SbsTree(shape)
        >>> tree.insert(Bloom.at(shape, [1, 2]), "north")
        >>> tree.insert(Bloom.at(shape, [2, 3]), "south")
        >>> tree.narrow_filters([Bloom.at(shape, [1, 2, 3, 5]), Bloom.at(shape, [2, 3, 5])])
        [[k:1, m:64]{1,2,3}, [k:1, m:64]{2,3}]

        Args:
            filters: The filters of events.
            without: An address whose filters are ignored.
            most: The maximum number of nodes to visit per event.

        Raises:
            InputError: A filter has another shape.
        """
        code = self._addresses.find(without)
        begins, bits = sbstree_narrow(
            self._trie,
            *self._flatten_filters(filters),
            np.zeros(self.shape.words, np.uint64),
            self._addresses.capacity,
            -1 if code is None else code,
            most,
        )
        return filters_of(self.shape, begins, bits)

    def _publish(self, *arguments: Any) -> tuple[Offsets, Ints, int]:
        all_arguments = (*arguments, _NO_BITS)
        return sbstree_publish(self._trie, *all_arguments)
