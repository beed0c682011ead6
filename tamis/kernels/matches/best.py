"""Select the best matches of each event by rank: the lowest is the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Places = NDArray[np.int64]


@kernel
def keep_best(event: Places, code: Places, rank: Places, ends: Places, out: Places) -> None:
    """Write the best ranks of each event, the best first; `ends` says how many, at least one.

    While reading, the ranks kept for an event are a heap with the worst on top. Most pairs are not
    better than that, and cost one comparison.
    """
    sizes = np.zeros(len(ends), np.int64)
    for i in range(len(event)):
        this = event[i]
        begin = ends[this - 1] if this > 0 else 0
        room = ends[this] - begin
        new = rank[code[i]]
        if sizes[this] < room:
            out[begin + sizes[this]] = new
            sizes[this] += 1
            if sizes[this] == room:
                heap = out[begin : begin + room]
                for place in range(room // 2 - 1, -1, -1):
                    _sink(heap, place, room, heap[place])
        elif new < out[begin]:
            _sink(out[begin : begin + room], 0, room, new)
    _sort_heaps(ends, out)


@kernel
def _sort_heaps(ends: Places, out: Places) -> None:
    begin = 0
    for end in ends:
        heap = out[begin:end]
        for size in range(end - begin - 1, 0, -1):
            last = heap[size]
            heap[size] = heap[0]
            _sink(heap, 0, size, last)
        begin = end


@kernel
def _sink(heap: Places, place: int, size: int, value: int) -> None:
    """Insert a value at a place of a heap, or below it if its children are greater."""
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@kernel
def merge_best(
    left_ends: Places,
    left: Places,
    right_ends: Places,
    right: Places,
    rank: Places,
    ends: Places,
    out: Places,
) -> None:
    """Merge two lists of codes per event, each sorted by rank, into the best codes."""
    i = j = begin = 0
    for event in range(len(ends)):
        for at in range(begin, ends[event]):
            of_left = i < left_ends[event]
            if of_left and j < right_ends[event]:
                of_left = rank[left[i]] < rank[right[j]]
            if of_left:
                out[at] = left[i]
                i += 1
            else:
                out[at] = right[j]
                j += 1
        i, j, begin = left_ends[event], right_ends[event], ends[event]
