"""The counting algorithm: a list of subscriptions per predicate, and a counter per subscription.

A subscription matches when as many of its predicates are satisfied as it has. Lists stand in one
array, each with room for more; one that outgrows its room moves to the end.
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

# A cell is how many predicates a subscription has, above how many of them have been counted: both
# are in one place, so that a step of counting touches one cache line.
SIZE_SHIFT = 16
MOST_PREDICATES = (1 << SIZE_SHIFT) - 1
_SIZE = np.uint32(SIZE_SHIFT)
_COUNTED = np.uint32(MOST_PREDICATES)
_UNCOUNTED = np.uint32(MOST_PREDICATES << SIZE_SHIFT)
_ONE = np.uint32(1)


class PredicateLists(NamedTuple):
    """By predicate, the subscriptions that have it.

    Attributes:
        begins: Where the list of a predicate stands in `entries`.
        lengths: How long it is.
        rooms: How long it may become where it stands.
        entries: All lists.
        end: One number: where nothing stands from.
    """

    begins: Places
    lengths: Ints
    rooms: Ints
    entries: Ints
    end: Places


@kernel
def append(lists: PredicateLists, predicates: Ints, first: int, code: int) -> int:
    """Add a subscription to the lists of its predicates, from the one in place `first` on.

    Returns:
        How many predicates are done; if not all, there must be more room for the next one.
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
    """Take a subscription out of the lists of its predicates."""
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
    """Move all lists into another array, one after the other, each with some room."""
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
    """The subscriptions that each event satisfies, given the predicates that it does.

    White-hot. The counters are zero when it begins and when it ends.

    Returns:
        The subscriptions, and where those of each event end.
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
        # All in order, if many are to be set back: else one by one, where they are.
        if 4 * touched > len(cells):
            for code in range(len(cells)):
                cells[code] &= _UNCOUNTED
        else:
            for i in range(offsets[event], offsets[event + 1]):
                begin = lists.begins[satisfied[i]]
                for code in lists.entries[begin : begin + lists.lengths[satisfied[i]]]:
                    cells[code] &= _UNCOUNTED
    return out[:size], ends
