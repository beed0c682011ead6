"""Growable arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

A = TypeVar("A", bound=NDArray[Any])


@kernel
def grow_array(array: A) -> A:
    """Return a copy with twice the room."""
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger  # type: ignore[return-value]
