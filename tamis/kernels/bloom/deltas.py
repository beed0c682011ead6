"""Encode ascending places as the gaps between them, seven bits per byte (LEB128)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Places = NDArray[Any]


@kernel
def deltas_size(places: Places) -> int:
    """Return how many bytes `put_deltas` writes."""
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
    """Write, for each place, how many places are skipped since the one before."""
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
    """Read as many places as `out` has room for; all must be below `limit`.

    Returns:
        How many bytes were read, or -1 if the data are truncated, a place is too high, or a number
        is not encoded in the fewest bytes.
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


@kernel
def take_filters(
    data: Bytes, ends: Offsets, head: Bytes, limit: int, most: int, out: Places
) -> tuple[Offsets, NDArray[np.bool_]]:
    """Read sparse filters that are stored end to end.

    Args:
        data: The bytes of all filters.
        ends: Filter f is from ends[f] up to ends[f + 1].
        head: The bytes that each begins with.
        limit: All places must be below it.
        most: The most bytes of a sparse filter after the head.
        out: Room for a place per byte.

    Returns:
        By filter, where its places begin, and whether it is a valid sparse filter with this head;
        an invalid one has no places.
    """
    begins = np.zeros(len(ends), np.int64)
    is_good = np.zeros(len(ends) - 1, np.bool_)
    for i in range(len(ends) - 1):
        begins[i + 1] = begins[i]
        at, end = ends[i] + len(head), ends[i + 1]
        if at >= end or end - at > most:
            continue
        same = True
        for j in range(len(head)):
            same &= data[ends[i] + j] == head[j]
        if not same:
            continue
        count, shift = np.int64(0), 0
        while at < end and shift < 35:
            byte = np.int64(data[at])
            at += 1
            count |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        # The last byte read must end a number that is encoded in the fewest bytes.
        last = np.int64(data[at - 1])
        if last >= 128 or (last == 0 and shift > 7) or count > end - at:
            continue
        begin = begins[i]
        if take_deltas(data[at:end], limit, out[begin : begin + count]) == end - at:
            begins[i + 1] = begin + count
            is_good[i] = True
    return begins, is_good
