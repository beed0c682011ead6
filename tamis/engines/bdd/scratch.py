"""Scratch memory that the kernels write to while matching, reused from one batch to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bdd.block import LINE


class DiagramScratch:
    """Arrays by node, allocated on first use and grown with the diagram."""

    def __init__(self) -> None:
        """Start without arrays."""
        self._bytes = np.zeros(0, np.uint8)
        self._lines = np.zeros((0, LINE), np.uint64)

    def bytes(self, nodes: int) -> NDArray[np.uint8]:
        """Return an array with a byte per node."""
        if len(self._bytes) < nodes:
            self._bytes = np.zeros(nodes + nodes // 4, np.uint8)
        return self._bytes

    def lines(self, nodes: int) -> NDArray[np.uint64]:
        """Return an array with a row of bits per node, a bit per event of a block."""
        if len(self._lines) < nodes:
            self._lines = np.zeros((nodes + nodes // 4, LINE), np.uint64)
        return self._lines
