"""One event at a time: from its ranks to the subscriptions that hang under them, and only those.

Every subscription here hangs under a *cover*: leaves of which one must hold for the selector to
hold. An event looks into one bucket for each of its values (and one per level of ranges), and what
it finds there is checked against its row of ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.holds import OTHER, Sets, holds, leaf_holds
from tamis.kernels.block.match_io import EventSlice, PairBuffer, RecordState
from tamis.kernels.block.words import AXES, Ints, Longs, Words, axis_of, high_of, low_of
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array
from tamis.kernels.prefetch import prefetch

# Events that are looked at ahead of time: a power of two.
_AHEAD = 4


class Buckets(NamedTuple):
    """Where an event looks.

    Attributes:
        point_at: By axis, the bucket of the first constant.
        level_offsets: By axis, its levels, in the next two. A level cuts the ranks of an axis into
            pieces of 2^shift: an interval is in one or two pieces of the level that fits it.
        level_shift, level_at: The size of its pieces, and the bucket of its first one.
        predicate_at: The bucket of the first predicate that phase 1 decides.
    """

    point_at: Longs
    level_offsets: Longs
    level_shift: Longs
    level_at: Longs
    predicate_at: int


class NarrowSelectors(NamedTuple):
    """Conjunctions under one value, in the order of their buckets.

    Attributes:
        offsets: By bucket, where its subscriptions stand in the rest.
        second: The most selective of the other leaves; TRUE if there is none.
        rest_offsets, rest: The leaves after that.
        record: The subscription's record.
    """

    offsets: Ints
    second: Words
    rest_offsets: Longs
    rest: Words
    record: Ints


class GeneralSelectors(NamedTuple):
    """Any selectors, each under one or more buckets.

    Attributes:
        offsets: By bucket, its entries.
        entry_program: The selector of an entry.
        entry_gate: A leaf that must hold besides; cheap to look at before the whole.
        code_offsets, code: The selectors.
        record: The subscription's record.
    """

    offsets: Ints
    entry_program: Ints
    entry_gate: Words
    code_offsets: Longs
    code: Words
    record: Ints


class CoveredSelectors(NamedTuple):
    """All selectors of a segment that have a cover, and what is needed to look them up."""

    buckets: Buckets
    narrow: NarrowSelectors
    general: GeneralSelectors
    sets: Sets


class RowScratch(NamedTuple):
    """What a thread writes on.

    Attributes:
        row: By axis, the rank of the event at hand; `defaults` between events. It has room for
            all that can stand in the place of an axis.
        defaults: The ranks of an event that has no values at all.
        true: By predicate, the clock of the last event that satisfied it.
        seen: By general selector, the clock of the last event that it was checked on.
        frames: The operators under way; see `propagate`.
        clock: One number: the clock of the last event.
    """

    row: Ints
    defaults: Ints
    true: Longs
    seen: Longs
    frames: Longs
    clock: Longs


@kernel
def match_rows(
    events: EventSlice,
    selectors: CoveredSelectors,
    records: RecordState,
    scratch: RowScratch,
    out: PairBuffer,
) -> tuple[Longs, Longs, int]:
    """Match the events of a slice, one at a time, against the selectors that have a cover.

    Args:
        events: The events.
        selectors: The selectors, by bucket.
        records: Which records are alive, and how often each was checked.
        scratch: The arrays of this thread.
        out: Room for the pairs.

    Returns:
        The events of the pairs, their records, and how many pairs there are.
    """
    rows, begin, end = events.rows, events.begin, events.end
    satisfied_offsets, satisfied = events.predicates.offsets, events.predicates.satisfied
    local = events.predicates.local
    narrow, sets = selectors.narrow, selectors.sets
    alive, visits = records.alive, records.visits
    event_out, record_out = out.event, out.record
    clock = scratch.clock[0]
    offsets, ranks, axes, dense = rows.offsets, rows.ranks, rows.axes, rows.dense
    point_at, predicate_at = selectors.buckets.point_at, selectors.buckets.predicate_at
    n_offsets, second, n_record = narrow.offsets, narrow.second, narrow.record
    rest_offsets, rest = narrow.rest_offsets, narrow.rest
    last_bucket = len(n_offsets) - 2
    row, defaults, true = scratch.row, scratch.defaults, scratch.true
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    counting = len(visits) > 0
    any_narrow, any_general = len(second) > 0, len(selectors.general.record) > 0
    # Where rows are dense they are read as they are; there is room behind the last for all that can
    # stand in the place of an axis.
    filling = any_general or not dense
    near = row if filling else ranks
    most = 1
    for event in range(begin, end):
        entries = offsets[event + 1] - offsets[event]
        entries += satisfied_offsets[event + 1] - satisfied_offsets[event]
        most = max(most, entries + 1)
    # By event of those ahead: the lists of conjunctions in its buckets.
    first_of = np.empty(_AHEAD * most, np.int64)
    last_of = np.empty(_AHEAD * most, np.int64)
    lists = np.zeros(_AHEAD, np.int64)
    likely = np.empty(1024, np.int64)
    found = 0
    for step in range(begin - (_AHEAD - 1), end):
        # Look up the buckets of an event to come, and have what is in them fetched.
        event = step + _AHEAD - 1
        if event < end and any_narrow:
            at = (event & (_AHEAD - 1)) * most
            filled = at
            first, last = offsets[event], offsets[event + 1]
            shift = first if dense else 0
            for p in range(first, last):
                # No branch here either; the rank of a value that is no constant is even.
                rank = max(ranks[p], 0)
                # Above the last constant of all it would be one too far.
                bucket = min(point_at[axes[p - shift]] + (rank >> 1), last_bucket)
                low, high = n_offsets[bucket], n_offsets[bucket + 1]
                first_of[filled] = low
                last_of[filled] = high
                filled += (rank & 1) & (high > low)
                prefetch(second, low)
            for p in range(satisfied_offsets[event], satisfied_offsets[event + 1]):
                predicate = local[satisfied[p]]
                if predicate >= 0:
                    bucket = predicate_at + predicate
                    first_of[filled], last_of[filled] = n_offsets[bucket], n_offsets[bucket + 1]
                    filled += last_of[filled] > first_of[filled]
            lists[event & (_AHEAD - 1)] = filled
        event = step
        if event < begin:
            continue
        clock += 1
        first, last = offsets[event], offsets[event + 1]
        shift = first if dense else 0
        base = 0 if filling else first
        if filling:
            for p in range(first, last):
                if ranks[p] >= 0:
                    row[axes[p - shift]] = ranks[p]
        for p in range(satisfied_offsets[event], satisfied_offsets[event + 1]):
            predicate = local[satisfied[p]]
            if predicate >= 0:
                true[predicate] = clock
        if any_narrow:
            # First those whose second leaf holds, or may: no branch depends on what is found.
            at, filled = (event & (_AHEAD - 1)) * most, lists[event & (_AHEAD - 1)]
            total = 0
            for k in range(at, filled):
                total += last_of[k] - first_of[k]
            if total > len(likely):
                likely = np.empty(2 * total, np.int64)
            count = 0
            for k in range(at, filled):
                for i in range(first_of[k], last_of[k]):
                    word = second[i]
                    rank = near[base + np.int64(word >> np.uint64(48))]
                    low = np.int64((word >> np.uint64(24)) & np.uint64(0xFFFFFF))
                    high = np.int64(word & np.uint64(0xFFFFFF))
                    likely[count] = i
                    count += (
                        ((rank >= low) & (rank < high)) | (low > high) | (word >= np.uint64(OTHER))
                    )
            mine = near[base : base + len(defaults)] if count > 0 else row
            for k in range(count):
                prefetch(rest_offsets, likely[k])
            for k in range(count):
                i = likely[k]
                matches = True
                word = second[i]
                if axis_of(word) >= AXES or low_of(word) > high_of(word):
                    matches = leaf_holds(word, mine, true, clock, set_axis, set_offsets, set_ranks)
                for j in range(rest_offsets[i], rest_offsets[i + 1]):
                    if not matches:
                        break
                    matches = leaf_holds(
                        rest[j], mine, true, clock, set_axis, set_offsets, set_ranks
                    )
                if matches and alive[n_record[i]]:
                    if found == len(record_out):
                        event_out, record_out = grow_array(event_out), grow_array(record_out)
                    event_out[found] = event
                    record_out[found] = n_record[i]
                    found += 1
            if counting:
                for k in range(at, filled):
                    for i in range(first_of[k], last_of[k]):
                        visits[n_record[i]] += 1
        if any_general:
            event_out, record_out, found = _match_general(
                events,
                event,
                selectors,
                records,
                scratch,
                clock,
                PairBuffer(event_out, record_out),
                found,
            )
        if filling:
            for p in range(first, last):
                axis = axes[p - shift]
                row[axis] = defaults[axis]
    scratch.clock[0] = clock
    return event_out, record_out, found


@kernel
def _match_general(
    events: EventSlice,
    event: int,
    selectors: CoveredSelectors,
    records: RecordState,
    scratch: RowScratch,
    clock: int,
    out: PairBuffer,
    found: int,
) -> tuple[Longs, Longs, int]:
    """Match an event whose row is filled against the selectors other than conjunctions."""
    rows, buckets, general, sets = (
        events.rows,
        selectors.buckets,
        selectors.general,
        selectors.sets,
    )
    satisfied_offsets, satisfied = events.predicates.offsets, events.predicates.satisfied
    local = events.predicates.local
    alive, visits = records.alive, records.visits
    event_out, record_out = out.event, out.record
    offsets, gates, programs = general.offsets, general.entry_gate, general.entry_program
    code, code_offsets, record_of = general.code, general.code_offsets, general.record
    level_offsets, level_shift, level_at = (
        buckets.level_offsets,
        buckets.level_shift,
        buckets.level_at,
    )
    row, true, seen = scratch.row, scratch.true, scratch.seen
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    counting = len(visits) > 0
    first, last = rows.offsets[event], rows.offsets[event + 1]
    shift = first if rows.dense else 0
    places = last - first
    more = satisfied_offsets[event + 1] - satisfied_offsets[event]
    for k in range(places + more):
        # The bucket of a value, then those of the levels on its axis; or that of a predicate.
        point, rank = -1, -1
        level, levels = 0, 0
        if k < places:
            rank = rows.ranks[first + k]
            if rank < 0:
                continue
            axis = rows.axes[first + k - shift]
            level = level_offsets[axis]
            levels = level_offsets[axis + 1] - level
            if rank & 1:
                point = buckets.point_at[axis] + (rank >> 1)
        else:
            predicate = local[satisfied[satisfied_offsets[event] + k - places]]
            if predicate >= 0:
                point = buckets.predicate_at + predicate
        for step in range(-1, levels):
            bucket = point
            if step >= 0:
                bucket = level_at[level + step] + (rank >> level_shift[level + step])
            if bucket < 0:
                continue
            for i in range(offsets[bucket], offsets[bucket + 1]):
                if not leaf_holds(gates[i], row, true, clock, set_axis, set_offsets, set_ranks):
                    continue
                program = programs[i]
                if seen[program] == clock:
                    continue
                seen[program] = clock
                record = record_of[program]
                if counting:
                    visits[record] += 1
                if (
                    holds(code, code_offsets[program], row, true, clock, sets, scratch.frames)
                    and alive[record]
                ):
                    if found == len(record_out):
                        event_out, record_out = grow_array(event_out), grow_array(record_out)
                    event_out[found] = event
                    record_out[found] = record
                    found += 1
    return event_out, record_out, found
