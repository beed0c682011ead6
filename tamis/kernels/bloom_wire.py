"""Ascending places as the differences between them, seven bits to a byte (LEB128)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Bytes = NDArray[np.uint8]
Places = NDArray[Any]


@kernel
def deltas_size(places: Places) -> int:
    """How many bytes `put_deltas` takes."""
    size = 0
    before: Any = -1
    for place in places:
        gap = np.int64(place) - before - 1
        before = np.int64(place)
        size += 1
        while gap >= 128:
            gap >>= 7
            size += 1
    return size


@kernel
def put_deltas(places: Places, out: Bytes) -> None:
    """Write, for each place, how many were left out since the one before."""
    at = 0
    before: Any = -1
    for place in places:
        gap = np.int64(place) - before - 1
        before = np.int64(place)
        while gap >= 128:
            out[at] = 128 | (gap & 127)
            gap >>= 7
            at += 1
        out[at] = gap
        at += 1


@kernel
def take_deltas(data: Bytes, limit: int, out: Places) -> int:
    """Read as many places as `out` has room for; all lie below `limit`.

    Returns:
        How many bytes that took, or -1 if the data are cut off, too high, or not the shortest way
        to write what they say.
    """
    at, before = 0, np.int64(-1)
    for i in range(len(out)):
        gap, shift = np.int64(0), 0
        while True:
            if at == len(data) or shift > 35:
                return -1
            byte = np.int64(data[at])
            at += 1
            gap |= (byte & 127) << shift
            if byte < 128:
                if byte == 0 and shift > 0:
                    return -1
                break
            shift += 7
        before += gap + 1
        if before >= limit:
            return -1
        out[i] = before
    return at
