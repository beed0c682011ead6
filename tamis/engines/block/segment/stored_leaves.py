"""Stored predicates that phase 1 decides; they are parsed on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np

from tamis.engines.block.layout.axes import pack_texts
from tamis.engines.block.layout.rules import Leaf
from tamis.kernels.block.words import Bytes, Longs
from tamis.language.expr import Selector

Read = Callable[[str], Selector]


class StoredLeaves(Sequence[Leaf]):
    """Predicates stored as texts. Parsing is lazy: a hundred thousand of them take seconds."""

    def __init__(self, bounds: Longs, texts: Bytes, read: Read) -> None:
        """Take the texts end to end, where each begins, and the parser."""
        self._bounds, self._texts, self._read = bounds, texts, read

    @cached_property
    def _leaves(self) -> list[Leaf]:
        data, bounds = self._texts.tobytes(), self._bounds.tolist()
        texts = [data[low:high] for low, high in pairwise(bounds)]
        return [self._read(text.decode()) for text in texts]  # type: ignore[misc]

    def __len__(self) -> int:
        """Return the number of predicates."""
        return len(self._bounds) - 1

    def __iter__(self) -> Iterator[Leaf]:
        """Iterate over the predicates."""
        return iter(self._leaves)

    @overload
    def __getitem__(self, at: int) -> Leaf: ...

    @overload
    def __getitem__(self, at: slice) -> list[Leaf]: ...

    def __getitem__(self, at: int | slice) -> Leaf | list[Leaf]:
        """Return one predicate, or those of a slice."""
        return self._leaves[at]

    def packed_texts(self) -> tuple[Longs, Bytes]:
        """Return where each text begins, and the texts."""
        return self._bounds, self._texts


def packed_leaves(leaves: Sequence[Leaf]) -> tuple[Longs, Bytes]:
    """Return predicates as texts: where each begins, and the texts end to end."""
    if isinstance(leaves, StoredLeaves):
        return leaves.packed_texts()
    bounds, texts = pack_texts([str(leaf).encode() for leaf in leaves])
    return np.asarray(bounds), texts
