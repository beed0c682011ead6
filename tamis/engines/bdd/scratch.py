"""What the kernels write on while they match, kept from one batch to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bdd.block import LINE


class DiagramScratch:
    """Arrays by node, made when first needed and grown with the diagram."""

    def __init__(self) -> None:
        """Begin with none."""
        self._bytes = np.zeros(0, np.uint8)
        self._lines = np.zeros((0, LINE), np.uint64)

    def bytes(self, nodes: int) -> NDArray[np.uint8]:
        """A byte per node."""
        if len(self._bytes) < nodes:
            self._bytes = np.zeros(nodes + nodes // 4, np.uint8)
        return self._bytes

    def lines(self, nodes: int) -> NDArray[np.uint64]:
        """A row of bits per node, a bit per event of a block."""
        if len(self._lines) < nodes:
            self._lines = np.zeros((nodes + nodes // 4, LINE), np.uint64)
        return self._lines
