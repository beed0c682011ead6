"""What stands in the tables of a tree of brokers, after all subscriptions have been told.

An interest reaches a link if somebody beyond it wants it, from the time on that the first one does.
With covering it is told over the link if none that covers it was told before, and is taken back
when one that covers it comes later. So all there is to know of a link are the times of interests.

A link is named by the broker at its lower end: *up* is from that broker to its parent (beyond it
are those below), *down* is from the parent to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

NEVER = np.iinfo(np.int64).max

# What is counted, by broker or by the lower end of a link.
LOCAL, PRESENT_UP, PRESENT_DOWN, TOLD_UP, TOLD_DOWN, KEPT_UP, KEPT_DOWN = range(7)
PRESENT_BYTES, TOLD_BYTES = 7, 8
COUNTED = 9


class Demand(NamedTuple):
    """By interest, the brokers where it is wanted: interest i has those from start[i] on.

    Attributes:
        start: Where those of each interest begin; one more than there are interests.
        broker: Which broker.
        subscribers: How many of its subscribers want it.
        first: When the first of them said so; no two interests at the same time.
        bytes: By interest, how long it is when it is told.
        void: By interest, whether no event satisfies it: nobody is told it, with covering.
    """

    start: Longs
    broker: Ints
    subscribers: Ints
    first: Longs
    bytes: Ints
    void: NDArray[np.bool_]


class Coverers(NamedTuple):
    """By interest, those that cover it.

    Attributes:
        start: Where those of each interest begin.
        by: Which interest.
        equal: Whether it is covered by the other in turn.
    """

    start: Longs
    by: Ints
    equal: NDArray[np.bool_]


class Tables(NamedTuple):
    """Of some interests, in whose tables they stand; a bit per broker.

    Attributes:
        up: By interest, the links over which the parent was told it by the broker below.
        down: By interest, the links over which the broker below was told it by its parent.
        held: By interest, the brokers that have it from anybody, their own subscribers among them.
        counted: The counts above, by broker.
    """

    up: Words
    down: Words
    held: Words
    counted: Longs


@kernel
def fill_first_times(
    wants: Demand, interest: Any, parent: Ints, size: Ints, up: Longs, down: Longs, after: Longs
) -> None:
    """By link, when an interest is first wanted below it, and above it; NEVER if it is not."""
    brokers = len(parent)
    up[:] = NEVER
    for at in range(wants.start[interest], wants.start[interest + 1]):
        up[wants.broker[at]] = wants.first[at]
    after[brokers] = NEVER
    for broker in range(brokers - 1, -1, -1):
        after[broker] = min(after[broker + 1], up[broker])
    before = NEVER
    for broker in range(brokers):
        down[broker] = min(before, after[broker + size[broker]])
        before = min(before, up[broker])
    for broker in range(brokers - 1, 0, -1):
        above = parent[broker]
        up[above] = min(up[above], up[broker])


@kernel
def fill_tables(
    wants: Demand, coverers: Coverers, parent: Ints, size: Ints, begin: int, out: Tables
) -> None:
    """Work out the tables for as many interests from `begin` on as `out` has rows; it is zero."""
    brokers = len(parent)
    up, down = np.empty(brokers, np.int64), np.empty(brokers, np.int64)
    other_up, other_down = np.empty(brokers, np.int64), np.empty(brokers, np.int64)
    before_up, before_down = np.empty(brokers, np.int64), np.empty(brokers, np.int64)
    gone_up, gone_down = np.empty(brokers, np.bool_), np.empty(brokers, np.bool_)
    after = np.empty(brokers + 1, np.int64)
    counted = out.counted
    for row in range(len(out.up)):
        interest = begin + row
        fill_first_times(wants, interest, parent, size, up, down, after)
        before_up[:] = NEVER
        before_down[:] = NEVER
        gone_up[:] = wants.void[interest]
        gone_down[:] = wants.void[interest]
        for at in range(coverers.start[interest], coverers.start[interest + 1]):
            fill_first_times(wants, coverers.by[at], parent, size, other_up, other_down, after)
            equal = coverers.equal[at]
            for broker in range(1, brokers):
                time = other_up[broker]
                before_up[broker] = min(before_up[broker], time)
                gone_up[broker] |= time < (up[broker] if equal else NEVER)
                time = other_down[broker]
                before_down[broker] = min(before_down[broker], time)
                gone_down[broker] |= time < (down[broker] if equal else NEVER)
        for at in range(wants.start[interest], wants.start[interest + 1]):
            counted[LOCAL, wants.broker[at]] += 1
            _set_bit(out.held, row, wants.broker[at])
        told = np.int64(wants.bytes[interest])
        for broker in range(1, brokers):
            if up[broker] < NEVER:
                counted[PRESENT_UP, broker] += 1
                counted[PRESENT_BYTES, broker] += told
                kept = not gone_up[broker]
                if up[broker] < before_up[broker] and not wants.void[interest]:
                    counted[TOLD_UP, broker] += 1
                    # If it is covered in the end, it is taken back by another message.
                    counted[TOLD_BYTES, broker] += told if kept else 2 * told
                if kept:
                    counted[KEPT_UP, broker] += 1
                    _set_bit(out.up, row, broker)
                    _set_bit(out.held, row, parent[broker])
            if down[broker] < NEVER:
                counted[PRESENT_DOWN, broker] += 1
                counted[PRESENT_BYTES, broker] += told
                kept = not gone_down[broker]
                if down[broker] < before_down[broker] and not wants.void[interest]:
                    counted[TOLD_DOWN, broker] += 1
                    counted[TOLD_BYTES, broker] += told if kept else 2 * told
                if kept:
                    counted[KEPT_DOWN, broker] += 1
                    _set_bit(out.down, row, broker)
                    _set_bit(out.held, row, broker)


@kernel
def fill_predicate_brokers(
    held: Words, start: Longs, predicate: Ints, interest: Ints, out: Words
) -> None:
    """By predicate, the brokers that have it: those that have an interest with it.

    Args:
        held: By interest, the brokers that have it.
        start: Where the predicates of each conjunction begin.
        predicate: See there.
        interest: By conjunction, the interest that it is of.
        out: By predicate; zero.
    """
    for part in range(len(interest)):
        row = held[interest[part]]
        for at in range(start[part], start[part + 1]):
            into = out[predicate[at]]
            for word in range(len(row)):
                into[word] |= row[word]


@kernel
def _set_bit(bits: Words, row: Any, place: Any) -> None:
    bits[row, place >> 6] |= np.uint64(1) << np.uint64(place & 63)
