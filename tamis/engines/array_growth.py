"""Growth of the arrays that engines keep by node, predicate or subscription."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Int = TypeVar("Int", np.int32, np.int64)


def extend_array(array: NDArray[Int], size: int, fill: int) -> NDArray[Int]:
    """Return a copy of an array with `size` rows; the new rows hold `fill`.

    >>> extend_array(np.array([1, 2]), 4, -1).tolist()
    [1, 2, -1, -1]
    """
    extended = np.full((size, *array.shape[1:]), fill, array.dtype)
    extended[: len(array)] = array
    return extended
