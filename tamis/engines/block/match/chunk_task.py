"""Match a chunk of events against a segment: choose the kernels and call them."""

from __future__ import annotations

import numpy as np

from tamis.engines.block.report.tally import NOT_COUNTED
from tamis.engines.block.segment.segment import (
    LEAST_BLOCK,
    Segment,
    SegmentScratch,
    new_match_buffer,
)
from tamis.kernels.block.masks import MatchBuffer, match_blocks
from tamis.kernels.block.match import match_rows
from tamis.kernels.block.match_io import EventSlice, PairBuffer, PredicateResults, RecordState
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.values import match_values
from tamis.kernels.block.words import Ints, Longs

# With more conjunctions per value than this, they are matched value by value.
_LONG = 12


class Task:
    """A chunk and a segment; a call matches a slice of the chunk."""

    def __init__(
        self,
        segment: Segment,
        rows: Rows,
        offsets: Longs,
        ids: np.ndarray,
        capacity: int,
        counted: int,
        chunk_events: int,
        totals: Longs | None = None,
    ) -> None:
        """Create a task.

        Args:
            segment: The segment.
            rows: The ranks of the chunk's events on the segment's axes.
            offsets: By event, where its predicates begin in `ids`.
            ids: The predicates that the events satisfy, as phase 1 found them.
            capacity: The capacity of the predicate index.
            counted: Visits are counted for slices that begin before the event `counted`.
            chunk_events: The size of the largest chunk of the batch. Blocks need not be larger, and
                all masks of an answer have the same width.
            totals: By record, the number of matches, for what is matched in blocks; then no masks
                are returned. None to return all matches.
        """
        self._segment, self._rows = segment, rows
        self._predicates = PredicateResults(offsets, ids, segment.local_numbers(capacity))
        self._counted = counted
        least = max(LEAST_BLOCK, 1 << (chunk_events - 1).bit_length())
        self._size = min(segment.block_size, least)
        self._totals = np.zeros(0, np.int64) if totals is None else totals

    def __call__(self, begin: int, end: int) -> MatchBuffer:
        """Match the events from `begin` up to `end` of the chunk."""
        segment, plan = self._segment, self._segment.plan
        events, size = end - begin, self._size
        visits: Ints = segment.tally.visit_counters() if begin < self._counted else NOT_COUNTED
        piece = EventSlice(self._rows, self._predicates, begin, end)
        records = RecordState(segment.alive, visits)
        board = segment.take_scratch()
        found = new_match_buffer(
            size // 64,
            1024 + int(1.1 * board.pairs * events),
            64 + int(1.1 * board.tiles * events),
        )
        found = self._match_covered(piece, records, board, found)
        if len(plan.wide.leaves.words):
            found = match_blocks(
                piece,
                plan.wide,
                segment.sets,
                records,
                plan.defaults,
                board.block(size),
                self._totals,
                found,
            )
        board.pairs, board.tiles = found.pairs / events, found.tiles / events
        segment.return_scratch(board)
        return found

    def _match_covered(
        self, piece: EventSlice, records: RecordState, scratch: SegmentScratch, found: MatchBuffer
    ) -> MatchBuffer:
        segment, plan = self._segment, self._segment.plan
        out = PairBuffer(found.event, found.record)
        by_value = len(plan.narrow.record) > _LONG * len(plan.leaves) and self._rows.dense
        if by_value and not len(segment.predicates) and not len(plan.general.record):
            event, record, pairs = match_values(
                piece, segment.axes.count, segment.covered_selectors, records, out
            )
        elif len(plan.narrow.record) or len(plan.general.record):
            event, record, pairs = match_rows(
                piece, segment.covered_selectors, records, scratch.row_scratch, out
            )
        else:
            return found
        return found._replace(event=event, record=record, pairs=pairs)


def cuts(events: int, threads: int, counted: int) -> list[int]:
    """Return where to cut a batch: whole blocks per thread, and the counted events apart."""
    pieces = min(threads, -(-events // 2048))
    step = -(-events // max(pieces, 1) // 2048) * 2048
    bounds = [*range(0, events, max(step, 1)), events] if pieces > 1 else [0, events]
    return sorted({*bounds, counted}) if 0 < counted < events else bounds
