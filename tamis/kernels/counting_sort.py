"""Counting sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Places = NDArray[np.int64]


@kernel
def group_by_key(keys: Places, size: int) -> tuple[Places, Places]:
    """Sort the positions of keys, which are below `size`, by key; the sort is stable.

    Returns:
        The positions, and by key where its positions begin; one more at the end.
    """
    begins = np.zeros(size + 1, np.int64)
    for key in keys:
        begins[key + 1] += 1
    for key in range(size):
        begins[key + 1] += begins[key]
    cursors = begins[:-1].copy()
    out = np.empty(len(keys), np.int64)
    for place in range(len(keys)):
        out[cursors[keys[place]]] = place
        cursors[keys[place]] += 1
    return out, begins
