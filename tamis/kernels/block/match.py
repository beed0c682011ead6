"""Match one event at a time against the selectors that are indexed under its ranks.

Every selector here is indexed under a *cover*: leaves of which one must hold for the selector to
hold. An event searches one bucket for each of its values (and one per level of intervals). The
candidates in it are evaluated on the event's row of ranks.
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

# How many events ahead buckets are prefetched: a power of two.
_AHEAD = 4


class Buckets(NamedTuple):
    """The numbers of the buckets.

    Attributes:
        point_at: By axis, the bucket of its first constant.
        level_offsets: By axis, where its levels begin in `level_shift` and `level_at`. A level cuts
            the ranks of an axis into pieces of 2^shift ranks. An interval is in one or two pieces
            of the level that fits it.
        level_shift, level_at: By level, the shift, and the bucket of its first piece.
        predicate_at: The bucket of the first predicate that phase 1 decides.
    """

    point_at: Longs
    level_offsets: Longs
    level_shift: Longs
    level_at: Longs
    predicate_at: int


class NarrowSelectors(NamedTuple):
    """Conjunctions that are indexed under one value, in the order of their buckets.

    Attributes:
        offsets: By bucket, where its conjunctions begin in the other arrays.
        second: The most selective of the other leaves; TRUE if there is none.
        rest_offsets, rest: The remaining leaves.
        record: The record of the subscription.
    """

    offsets: Ints
    second: Words
    rest_offsets: Longs
    rest: Words
    record: Ints


class GeneralSelectors(NamedTuple):
    """Selectors of any form, each in one or more buckets.

    Attributes:
        offsets: By bucket, where its entries begin.
        entry_program: By entry, the number of the selector.
        entry_gate: By entry, a leaf that must hold besides; cheap to check before the whole.
        code_offsets, code: The selectors.
        record: By selector, the record of the subscription.
    """

    offsets: Ints
    entry_program: Ints
    entry_gate: Words
    code_offsets: Longs
    code: Words
    record: Ints


class CoveredSelectors(NamedTuple):
    """All selectors of a segment that have a cover.

    Attributes:
        buckets: The numbers of the buckets.
        narrow: The conjunctions that are indexed under one value.
        general: The other selectors.
        sets: The sets of ranks that leaves refer to.
    """

    buckets: Buckets
    narrow: NarrowSelectors
    general: GeneralSelectors
    sets: Sets


class RowScratch(NamedTuple):
    """The scratch arrays of a thread.

    Attributes:
        row: By axis, the rank of the current event; `defaults` between events. Any value of the
            axis field of a word is a valid index.
        defaults: The ranks of an event without values.
        true: By predicate, the clock of the last event that satisfied it.
        seen: By general selector, the clock of the last event that it was checked on.
        frames: The stack of operators; see `propagate`.
        clock: One number: the clock of the last event. The clock advances with every event.
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
    # Dense rows are read in place. There is room behind the last one, so that any value of the axis
    # field of a word is a valid index.
    filling = any_general or not dense
    near = row if filling else ranks
    most = 1
    for event in range(begin, end):
        entries = offsets[event + 1] - offsets[event]
        entries += satisfied_offsets[event + 1] - satisfied_offsets[event]
        most = max(most, entries + 1)
    # For each of the events ahead: the ranges of conjunctions in its buckets.
    first_of = np.empty(_AHEAD * most, np.int64)
    last_of = np.empty(_AHEAD * most, np.int64)
    lists = np.zeros(_AHEAD, np.int64)
    likely = np.empty(1024, np.int64)
    found = 0
    for step in range(begin - (_AHEAD - 1), end):
        # Look up the buckets of an event ahead, and prefetch what is in them.
        event = step + _AHEAD - 1
        if event < end and any_narrow:
            at = (event & (_AHEAD - 1)) * most
            filled = at
            first, last = offsets[event], offsets[event + 1]
            shift = first if dense else 0
            for p in range(first, last):
                # Branch-free. A value that equals no constant has an even rank.
                rank = max(ranks[p], 0)
                # Above the very last constant, the bucket would be one too far.
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
            # First collect the candidates whose second leaf holds or may hold, without branches
            # that depend on the data.
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
        # The bucket of a value and those of the levels of its axis; or the bucket of a predicate.
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
