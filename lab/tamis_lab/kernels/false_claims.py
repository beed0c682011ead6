"""Which interests a Bloom filter claims for an event without reason.

An event's filter has the bits of all predicates that it satisfies. A predicate whose bits are all
set is *claimed*, whether or not it holds, and so is a conjunction of claimed ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.bits import trailing_zeros
from tamis.kernels.decorator import kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]


class Conjunctions(NamedTuple):
    """The conjunctions of all interests.

    Attributes:
        start: Where the predicates of each begin; one more than there are conjunctions.
        predicate: See there.
        interest: Whose it is.
        among: By predicate, where the conjunctions that have it begin.
        part: See there.
        always: Those without predicates.
        first: By interest, where its conjunctions begin; one more than there are interests.
    """

    start: Longs
    predicate: Ints
    interest: Ints
    among: Longs
    part: Ints
    always: Ints
    first: Longs


class FilterLayout(NamedTuple):
    """The bits of predicates.

    Attributes:
        places: By predicate, its bits, in any order, with repeats or not.
        bucket: By bit, where the predicates begin whose first place it is.
        filed: See there.
        head: How many bytes of a filter on the wire come before its bits.
        m: How many bits there are.
    """

    places: Ints
    bucket: Longs
    filed: Ints
    head: int
    m: int


class EventLists(NamedTuple):
    """By event, numbers: event e has those from start[e] on, up to start[e + 1]."""

    start: Longs
    number: Ints


class Marks(NamedTuple):
    """Room to work in; it is kept from call to call, so that nothing has to be cleared.

    Attributes:
        words: The bits of a filter, zero.
        claimed: By predicate, the last event that it was claimed for.
        matched: By interest, the last event that satisfied it.
        vain: Predicates that are claimed in vain.
        seen: By conjunction, the last event that it was listed for.
        clock: A number for the next event, greater than all in use.
        missed: How many interests were satisfied, though none of their conjunctions was.
    """

    words: Words
    claimed: Longs
    matched: Longs
    vain: Ints
    seen: Longs
    clock: Longs
    missed: Longs


@kernel
def false_claims(
    layout: FilterLayout,
    parts: Conjunctions,
    satisfied: EventLists,
    matched: EventLists,
    begin: int,
    marks: Marks,
    out: EventLists,
    bytes: Ints,
) -> int:
    """By event, the conjunctions that are claimed, of interests that it does not satisfy.

    Args:
        layout: The bits of predicates.
        parts: The conjunctions.
        satisfied: By event, the predicates that hold.
        matched: By event, the interests that it satisfies.
        begin: The first event to look at.
        marks: Room to work in.
        out: By event; as far as there is room, which there is for one event in any case.
        bytes: By event, how long its filter is on the wire.

    Returns:
        The event that there was no room for, or how many there are.
    """
    events = len(satisfied.start) - 1
    words, claimed = marks.words, marks.claimed
    most_parts = len(parts.interest)
    used = 0
    out.start[begin] = 0
    for event in range(begin, events):
        if used + most_parts > len(out.number):
            return event
        now = marks.clock[0]
        marks.clock[0] += 1
        for at in range(satisfied.start[event], satisfied.start[event + 1]):
            predicate = satisfied.number[at]
            claimed[predicate] = now
            for place in layout.places[predicate]:
                words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
        for at in range(matched.start[event], matched.start[event + 1]):
            interest = matched.number[at]
            marks.matched[interest] = now
            # Else a filter would lose the event; it must never be so.
            marks.missed[0] += not _any_part_claimed(parts, interest, claimed, now)
        vain = 0
        count, before, size = 0, -1, 0
        for word in range(len(words)):
            left = words[word]
            while left:
                place = (word << 6) + trailing_zeros(left)
                left &= left - np.uint64(1)
                count += 1
                size += _varint_size(place - before - 1)
                before = place
                for at in range(layout.bucket[place], layout.bucket[place + 1]):
                    predicate = layout.filed[at]
                    if claimed[predicate] != now and _has_bits(words, layout.places[predicate]):
                        claimed[predicate] = now
                        marks.vain[vain] = predicate
                        vain += 1
        bytes[event] = layout.head + min(_varint_size(count) + size, (layout.m + 7) >> 3)
        for part in parts.always:
            if marks.matched[parts.interest[part]] != now:
                out.number[used] = part
                used += 1
        for each in marks.vain[:vain]:
            for at in range(parts.among[each], parts.among[each + 1]):
                part = parts.part[at]
                if marks.seen[part] == now or marks.matched[parts.interest[part]] == now:
                    continue
                marks.seen[part] = now
                if _is_claimed(parts, part, claimed, now):
                    out.number[used] = part
                    used += 1
        words[:] = 0
        out.start[event + 1] = used
    return events


@kernel
def _any_part_claimed(parts: Conjunctions, interest: Any, claimed: Longs, now: Any) -> bool:
    for part in range(parts.first[interest], parts.first[interest + 1]):
        if _is_claimed(parts, part, claimed, now):
            return True
    return False


@kernel
def _is_claimed(parts: Conjunctions, part: Any, claimed: Longs, now: Any) -> bool:
    for predicate in parts.predicate[parts.start[part] : parts.start[part + 1]]:
        if claimed[predicate] != now:
            return False
    return True


@kernel
def _has_bits(words: Words, places: Ints) -> bool:
    for place in places:
        if not words[place >> 6] >> np.uint64(place & 63) & np.uint64(1):
            return False
    return True


@kernel
def _varint_size(number: Any) -> int:
    size = 1
    while number >= 128:
        number >>= 7
        size += 1
    return size
