"""The counting algorithm: a list of subscriptions per predicate, and a counter per subscription.

A subscription matches when all its predicates have been counted. The lists are in one array, each
with room for more; a list that outgrows its room moves to the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

Ints = NDArray[np.int32]
Places = NDArray[np.int64]
Cells = NDArray[np.uint32]

# A cell holds the number of predicates of a subscription in its upper half, and how many of them
# have been counted in its lower half, so that a step of counting touches one cache line.
SIZE_SHIFT = 16
MOST_PREDICATES = (1 << SIZE_SHIFT) - 1
_SIZE = np.uint32(SIZE_SHIFT)
_COUNTED = np.uint32(MOST_PREDICATES)
_UNCOUNTED = np.uint32(MOST_PREDICATES << SIZE_SHIFT)
_ONE = np.uint32(1)


class PredicateLists(NamedTuple):
    """By predicate, the subscriptions that have it.

    Attributes:
        begins: By predicate, where its list begins in `entries`.
        lengths: By predicate, the length of its list.
        rooms: By predicate, how long its list may become in place.
        entries: All lists.
        end: One number: the end of the used part of `entries`.
    """

    begins: Places
    lengths: Ints
    rooms: Ints
    entries: Ints
    end: Places


@kernel
def append(lists: PredicateLists, predicates: Ints, first: int, code: int) -> int:
    """Add a subscription to the lists of its predicates, from the predicate at `first` on.

    Returns:
        How many predicates are done; if not all, `entries` must grow for the next one.
    """
    for i in range(first, len(predicates)):
        predicate = predicates[i]
        length = lists.lengths[predicate]
        if length == lists.rooms[predicate]:
            room = max(2, 2 * length)
            begin, end = lists.begins[predicate], lists.end[0]
            if end + room > len(lists.entries):
                return i
            for k in range(length):
                lists.entries[end + k] = lists.entries[begin + k]
            lists.begins[predicate] = end
            lists.rooms[predicate] = room
            lists.end[0] = end + room
        lists.entries[lists.begins[predicate] + length] = code
        lists.lengths[predicate] = length + 1
    return len(predicates)


@kernel
def drop(lists: PredicateLists, predicates: Ints, code: int) -> None:
    """Remove a subscription from the lists of its predicates."""
    for predicate in predicates:
        begin, last = lists.begins[predicate], lists.lengths[predicate] - 1
        at = begin
        while lists.entries[at] != code:
            at += 1
        lists.entries[at] = lists.entries[begin + last]
        lists.lengths[predicate] = last
        if last == 0:
            lists.rooms[predicate] = 0


@kernel
def pack_lists(lists: PredicateLists, entries: Ints) -> None:
    """Move all lists into another array, end to end, each with some room."""
    end = 0
    for predicate in range(len(lists.begins)):
        begin, length = lists.begins[predicate], lists.lengths[predicate]
        for k in range(length):
            entries[end + k] = lists.entries[begin + k]
        lists.begins[predicate] = end
        lists.rooms[predicate] = length + length // 2
        end += lists.rooms[predicate]
    lists.end[0] = end


@kernel
def count(
    lists: PredicateLists, cells: Cells, offsets: Places, satisfied: Ints
) -> tuple[Ints, Places]:
    """Find the subscriptions that each event satisfies, given the predicates that it satisfies.

    White-hot. The counters are zero at the beginning and at the end.

    Returns:
        The subscriptions, and by event where its subscriptions end.
    """
    ends = np.empty(len(offsets) - 1, np.int64)
    out = np.empty(1024, np.int32)
    size = 0
    for event in range(len(offsets) - 1):
        touched = 0
        for i in range(offsets[event], offsets[event + 1]):
            begin = lists.begins[satisfied[i]]
            entries = lists.entries[begin : begin + lists.lengths[satisfied[i]]]
            touched += len(entries)
            while size + len(entries) > len(out):
                out = grow_array(out)
            for code in entries:
                cell = cells[code] + _ONE
                cells[code] = cell
                if cell & _COUNTED == cell >> _SIZE:
                    out[size] = code
                    size += 1
        ends[event] = size
        # Reset all cells in order if many were touched, else only those.
        if 4 * touched > len(cells):
            for code in range(len(cells)):
                cells[code] &= _UNCOUNTED
        else:
            for i in range(offsets[event], offsets[event + 1]):
                begin = lists.begins[satisfied[i]]
                for code in lists.entries[begin : begin + lists.lengths[satisfied[i]]]:
                    cells[code] &= _UNCOUNTED
    return out[:size], ends
