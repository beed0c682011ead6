"""Rank the columns of a batch: matching then works on ranks, never on values.

The rank of v is #{c < v} + #{c <= v} over the constants c of an axis. `predicates/ranks.py`
explains how constants are rounded to a type so that this is exact in 64-bit integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.block.words import Bytes, Ints, Longs
from tamis.kernels.decorator import kernel

# Kinds of sources.
INT = 0
DOUBLE = 1
TEXT = 2
BOOL = 3
PRESENCE = 4

_BLOCK = 256

Doubles = NDArray[np.float64]


class Sources(NamedTuple):
    """The columns of a batch that a segment reads, end to end.

    Attributes:
        axis: By column, the axis it is ranked on.
        kind: By column, its kind (INT …).
        data_at: By column, where its data begin: in `keys` (INT, DOUBLE), `codes` (TEXT) or, as a
            number of bits, in `bits` (BOOL).
        valid_at: By column, where its validity begins, as a number of bits in `bits`; -1 if all
            cells are valid.
        ranks_at: By column of texts, where the ranks of its distinct texts begin in `text_ranks`.
        keys, codes, bits, text_ranks: The data.
    """

    axis: Longs
    kind: Longs
    data_at: Longs
    valid_at: Longs
    ranks_at: Longs
    keys: Longs
    codes: Ints
    bits: Bytes
    text_ranks: Ints


# Columns of `Scales.axes`.
BEGIN = 0  # where the constants of the axis begin in `floors` and `ceilings`
LENGTH = 1  # how many they are
BELOW = 2  # the number of constants below the range of the type
TABLE_AT = 3  # where the ranks of all integers from LEAST on begin in `table`; -1 for no table
LEAST = 4  # the first of these integers
SPAN = 5  # how many they are


class Scales(NamedTuple):
    """The constants of all axes, as seen from one type of values.

    Attributes:
        axes: One row per axis, of the columns BEGIN to SPAN. One array, because each array adds to
            the cost of a call for a single event.
        floors: The constants rounded down, as integers.
        ceilings: The constants rounded up, as integers.
        table: Ranks by integer.
    """

    axes: Longs
    floors: Longs
    ceilings: Longs
    table: Ints


class Rows(NamedTuple):
    """Events as rows: a list of axes and the ranks on them per event.

    Attributes:
        offsets: Event e has the entries from offsets[e] up to offsets[e + 1].
        ranks: The rank of each entry; it may be NOWHERE.
        axes: The axis of each entry; if `dense`, all axes once.
        dense: Whether all events have entries for all axes, in their order.
    """

    offsets: Longs
    ranks: Ints
    axes: Ints
    dense: bool


@kernel
def count_less(keys: Longs, begin: int, count: int, key: int) -> int:
    """Return how many of the sorted keys are less; branch-free, as branches are unpredictable."""
    at = begin
    while count > 1:
        half = count >> 1
        at += half if keys[at + half - 1] < key else 0
        count -= half
    if count == 1 and keys[at] < key:
        at += 1
    return at - begin


@kernel
def rank_of(scales: Scales, axis: int, key: int) -> int:
    """Return the rank of a value, given as an integer."""
    table_at = scales.axes[axis, TABLE_AT]
    if table_at >= 0:
        # The table has a gap at both ends, and values beyond them are clamped to these. Clamp
        # before subtracting: the compiler assumes that the difference does not overflow.
        least = scales.axes[axis, LEAST]
        near = min(max(key, least), least + scales.axes[axis, SPAN] - 1)
        return scales.table[table_at + near - least]
    begin, count, below = (
        scales.axes[axis, BEGIN],
        scales.axes[axis, LENGTH],
        2 * scales.axes[axis, BELOW],
    )
    return below + _search_rank(scales.floors, scales.ceilings, begin, count, key)


@kernel
def _search_rank(floors: Longs, ceilings: Longs, begin: int, count: int, key: int) -> int:
    """Return the number of floors below a key plus the number of ceilings not above it.

    Both are sorted, and no floor is above its ceiling. So one search suffices for both, except for
    the constants between the same two values of the type, which are scanned.
    """
    under = count_less(floors, begin, count, key)
    upto = under
    while upto > 0 and ceilings[begin + upto - 1] > key:
        upto -= 1
    while upto < count and ceilings[begin + upto] <= key:
        upto += 1
    return under + upto


@kernel
def ordered_double(bits: int) -> int:
    """Return an integer in the order of the doubles, given the bits of a double.

    -0.0 is 0.0, and every NaN is the greatest. The bits of negative doubles grow with their
    magnitude, so they are reversed.
    """
    magnitude = bits & 0x7FFFFFFFFFFFFFFF
    if magnitude > 0x7FF0000000000000:
        return 0x7FF8000000000000
    if magnitude == 0:
        return 0
    return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF


@kernel
def _bit(bits: Bytes, at: int) -> bool:
    return (bits[at >> 3] >> (at & 7)) & 1 == 1


@kernel
def _rank(sources: Sources, j: int, event: int, ints: Scales, doubles: Scales) -> int:
    """Return the rank of a valid cell."""
    kind, axis, at = sources.kind[j], sources.axis[j], sources.data_at[j]
    if kind == INT:
        return rank_of(ints, axis, sources.keys[at + event])
    if kind == DOUBLE:
        return rank_of(doubles, axis, ordered_double(sources.keys[at + event]))
    if kind == TEXT:
        return sources.text_ranks[sources.ranks_at[j] + sources.codes[at + event]]
    if kind == BOOL:
        return rank_of(ints, axis, 1 if _bit(sources.bits, at + event) else 0)
    return 1


@kernel
def rank_densely(
    sources: Sources, ints: Scales, doubles: Scales, defaults: Ints, events: int, ranks: Ints
) -> None:
    """Rank all events on all axes, one row per event.

    Events are ranked in blocks, whose rows stay in the cache from column to column.
    """
    stride = len(defaults)
    codes, texts, bits = sources.codes, sources.text_ranks, sources.bits
    found = np.empty(_BLOCK, np.int32)
    for begin in range(0, events, _BLOCK):
        end = min(begin + _BLOCK, events)
        for event in range(begin, end):
            for axis in range(stride):
                ranks[event * stride + axis] = defaults[axis]
        for j in range(len(sources.axis)):
            kind, axis, at = sources.kind[j], sources.axis[j], sources.data_at[j]
            if kind == INT:
                _rank_keys(sources.keys, at, ints, axis, begin, end, found)
            elif kind == DOUBLE:
                _rank_doubles(sources.keys, at, doubles, axis, begin, end, found)
            elif kind == TEXT:
                base = sources.ranks_at[j]
                for event in range(begin, end):
                    code = codes[at + event]
                    found[event - begin] = texts[base + code] if code >= 0 else -1
            else:
                for event in range(begin, end):
                    found[event - begin] = _rank(sources, j, event, ints, doubles)
            valid_at = sources.valid_at[j]
            for event in range(begin, end):
                if valid_at < 0 or _bit(bits, valid_at + event):
                    ranks[event * stride + axis] = found[event - begin]


@kernel
def _rank_keys(
    keys: Longs, at: int, scales: Scales, axis: int, begin: int, end: int, found: Ints
) -> None:
    """Rank integers: with the table of the axis if it has one, else by search."""
    mine = scales.axes[axis]
    table_at, least, span = mine[TABLE_AT], mine[LEAST], mine[SPAN]
    table, floors, ceilings = scales.table, scales.floors, scales.ceilings
    if table_at >= 0:
        for event in range(begin, end):
            near = min(max(keys[at + event], least), least + span - 1)
            found[event - begin] = table[table_at + near - least]
        return
    first, size, below = mine[BEGIN], mine[LENGTH], 2 * mine[BELOW]
    for event in range(begin, end):
        rank = _search_rank(floors, ceilings, first, size, keys[at + event])
        found[event - begin] = below + rank


@kernel
def _rank_doubles(
    keys: Longs, at: int, scales: Scales, axis: int, begin: int, end: int, found: Ints
) -> None:
    floors, ceilings, mine = scales.floors, scales.ceilings, scales.axes[axis]
    first, size, below = mine[BEGIN], mine[LENGTH], 2 * mine[BELOW]
    for event in range(begin, end):
        key = ordered_double(keys[at + event])
        found[event - begin] = below + _search_rank(floors, ceilings, first, size, key)


@kernel
def count_cells(sources: Sources, events: int, counts: Longs) -> None:
    """Add the number of valid cells of each event to `counts`."""
    for j in range(len(sources.axis)):
        valid_at = sources.valid_at[j]
        if valid_at < 0:
            for event in range(events):
                counts[event] += 1
            continue
        event = 0
        while event < events:
            if event + 8 <= events and (valid_at + event) & 7 == 0:
                if sources.bits[(valid_at + event) >> 3] == 0:
                    event += 8
                    continue
            if _bit(sources.bits, valid_at + event):
                counts[event] += 1
            event += 1


@kernel
def rank_sparsely(
    sources: Sources,
    ints: Scales,
    doubles: Scales,
    events: int,
    cursors: Longs,
    axes: Ints,
    ranks: Ints,
) -> None:
    """Rank the valid cells; write each at the cursor of its event."""
    for j in range(len(sources.axis)):
        valid_at = sources.valid_at[j]
        event = 0
        while event < events:
            if valid_at >= 0:
                at = valid_at + event
                if event + 8 <= events and at & 7 == 0 and sources.bits[at >> 3] == 0:
                    event += 8
                    continue
                if not _bit(sources.bits, at):
                    event += 1
                    continue
            place = cursors[event]
            axes[place] = sources.axis[j]
            ranks[place] = _rank(sources, j, event, ints, doubles)
            cursors[event] = place + 1
            event += 1


# -- texts ----------------------------------------------------------------------------------------


@kernel
def rank_texts(
    offsets: Longs,
    data: Bytes,
    begin: int,
    count: int,
    bounds: Longs,
    constants: Bytes,
    ranks: Ints,
) -> None:
    """Rank texts among sorted constants, all in UTF-8, whose byte order is that of the texts.

    Args:
        offsets: Text i is data[offsets[i] : offsets[i + 1]].
        data: The texts.
        begin: The first of the constants.
        count: How many constants there are.
        bounds: Constant i is constants[bounds[i] : bounds[i + 1]].
        constants: The constants.
        ranks: The ranks, filled in.
    """
    for i in range(len(offsets) - 1):
        low, high = 0, count
        rank = -1
        while low < high:
            middle = (low + high) >> 1
            at = begin + middle
            order = _compare_texts(
                data, offsets[i], offsets[i + 1], constants, bounds[at], bounds[at + 1]
            )
            if order == 0:
                rank = 2 * middle + 1
                break
            if order > 0:
                low = middle + 1
            else:
                high = middle
        ranks[i] = rank if rank >= 0 else 2 * low


@kernel
def _compare_texts(these: Bytes, at: int, end: int, those: Bytes, begin: int, stop: int) -> int:
    while at < end and begin < stop:
        if these[at] != those[begin]:
            return 1 if these[at] > those[begin] else -1
        at += 1
        begin += 1
    if at < end:
        return 1
    return -1 if begin < stop else 0
