"""Match conjunctions value by value, for values that have many of them."""

from __future__ import annotations

import numpy as np

from tamis.kernels.block.holds import OTHER, leaf_holds
from tamis.kernels.block.match import CoveredSelectors
from tamis.kernels.block.match_io import EventSlice, PairBuffer, RecordState
from tamis.kernels.block.words import AXES, Ints, Longs, high_of, low_of
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

# Events that are sorted by value at a time; their rows should stay in the cache.
_TOGETHER = 4096


@kernel
def match_values(
    events: EventSlice,
    points: Longs,
    selectors: CoveredSelectors,
    records: RecordState,
    out: PairBuffer,
) -> tuple[Longs, Longs, int]:
    """Match conjunctions like `match_rows`, but value by value, for long posting lists.

    Where every value has many conjunctions, reading them dominates. So the events of a block are
    sorted by value, and the posting list of a value is read once for all of them. The rows must be
    dense, and the conjunctions must not have predicates that phase 1 decides.

    Args:
        events: The events.
        points: By axis, the number of its constants.
        selectors: The selectors; only the conjunctions are matched.
        records: Which records are alive, and how often each was checked.
        out: Room for the pairs.

    Returns:
        The events of the pairs, their records, and how many pairs there are.
    """
    rows, begin, end = events.rows, events.begin, events.end
    buckets, narrow, sets = selectors.buckets, selectors.narrow, selectors.sets
    alive, visits = records.alive, records.visits
    event_out, record_out = out.event, out.record
    ranks, stride = rows.ranks, len(rows.axes)
    offsets, second, record = narrow.offsets, narrow.second, narrow.record
    rest_offsets, rest = narrow.rest_offsets, narrow.rest
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    nothing = np.empty(0, np.int64)
    most = 0
    for axis in range(stride):
        most = max(most, points[axis])
    heads = np.empty(most + 1, np.int64)
    order = np.empty(_TOGETHER, np.int64)
    likely = np.empty(1024, np.int64)
    counting = len(visits) > 0
    found = 0
    for first in range(begin, end, _TOGETHER):
        size = min(_TOGETHER, end - first)
        for axis in range(stride):
            values = points[axis]
            _sort_by_value(ranks, first, size, stride, axis, values, heads, order)
            for value in range(values):
                bucket = buckets.point_at[axis] + value
                low, high = offsets[bucket], offsets[bucket + 1]
                group, after = heads[value], heads[value + 1]
                if low == high or group == after:
                    continue
                if high - low > len(likely):
                    likely = np.empty(2 * (high - low), np.int64)
                if counting:
                    for i in range(low, high):
                        visits[record[i]] += after - group
                for k in range(group, after):
                    base = order[k] * stride
                    count = 0
                    for i in range(low, high):
                        word = second[i]
                        other = word >> np.uint64(48)
                        if other >= np.uint64(AXES):
                            other = np.uint64(0)
                        rank = ranks[base + np.int64(other)]
                        from_, to = low_of(word), high_of(word)
                        likely[count] = i
                        count += (
                            ((rank >= from_) & (rank < to))
                            | (from_ > to)
                            | (word >= np.uint64(OTHER))
                        )
                    if count == 0:
                        continue
                    row = ranks[base : base + stride]
                    for j in range(count):
                        i = likely[j]
                        matches = leaf_holds(
                            second[i], row, nothing, 0, set_axis, set_offsets, set_ranks
                        )
                        for leaf in range(rest_offsets[i], rest_offsets[i + 1]):
                            if not matches:
                                break
                            matches = leaf_holds(
                                rest[leaf], row, nothing, 0, set_axis, set_offsets, set_ranks
                            )
                        if matches and alive[record[i]]:
                            if found == len(record_out):
                                event_out, record_out = (
                                    grow_array(event_out),
                                    grow_array(record_out),
                                )
                            event_out[found] = order[k]
                            record_out[found] = record[i]
                            found += 1
    return event_out, record_out, found


@kernel
def _sort_by_value(
    ranks: Ints,
    first: int,
    size: int,
    stride: int,
    axis: int,
    values: int,
    heads: Longs,
    order: Longs,
) -> None:
    """Sort the events that have one of the values of an axis by value."""
    for value in range(values + 1):
        heads[value] = 0
    for event in range(first, first + size):
        rank = ranks[event * stride + axis]
        if rank >= 0 and rank & 1:
            heads[rank >> 1] += 1
    total = 0
    for value in range(values + 1):
        total += heads[value]
        heads[value] = total
    for event in range(first + size - 1, first - 1, -1):
        rank = ranks[event * stride + axis]
        if rank >= 0 and rank & 1:
            heads[rank >> 1] -= 1
            order[heads[rank >> 1]] = event
