"""One event at low latency: without columns, straight from its values to their ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tamis.engines.block.layout.axes import INSTANT, KINDS, NUMBER, PRESENCE, TEXT, TRUTH
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.terms import Terms
from tamis.kernels.block import ranks as block_ranks
from tamis.kernels.block.event import match_wide_event, rank_event
from tamis.kernels.block.match import match_rows
from tamis.kernels.block.ranks import Rows
from tamis.kernels.block.words import Bytes, Longs
from tamis.matches import Id
from tamis.values import INT_MAX, INT_MIN

# By kind of value, the kind of its axis.
_AXIS_KINDS = np.array([NUMBER, NUMBER, TEXT, TRUTH, PRESENCE], np.int64)
_NOTHING = np.zeros(0, np.int32)
_NO_OFFSETS = np.zeros(2, np.int64)

assert INSTANT not in _AXIS_KINDS  # datetimes are for columns to deal with


class TermValues(NamedTuple):
    """The values of an event that some term asks for; see `rank_event`."""

    slots: Longs
    kinds: Longs
    ints: Longs
    doubles: np.ndarray
    text_bounds: Longs
    texts: Bytes


def values_of(event: Mapping[str, object], terms: Terms) -> TermValues | None:
    """The values of an event; None if they are of kinds that only columns know how to take."""
    by_path = terms.by_path
    slots: list[int] = []
    kinds: list[int] = []
    ints: list[int] = []
    doubles: list[float] = []
    texts: list[bytes] = []
    for name, value in event.items():
        if value is None and type(name) is str:
            continue
        kind, number, double = -1, 0, 0.0
        if type(value) is int:
            if not INT_MIN <= value <= INT_MAX:
                return None
            kind, number = block_ranks.INT, value
        elif type(value) is float:
            kind, double = block_ranks.DOUBLE, value
        elif type(value) is str:
            kind, number = block_ranks.TEXT, len(texts)
        elif type(value) is bool:
            kind, number = block_ranks.BOOL, int(value)
        if kind < 0 or type(name) is not str:
            return None
        slot = by_path.get((name,))
        if slot is None:
            # It may be no text at all: a lone surrogate is an error.
            if not name.isascii() or (kind == block_ranks.TEXT and not value.isascii()):  # type: ignore[attr-defined]
                return None
            continue
        if kind == block_ranks.TEXT:
            try:
                texts.append(value.encode())  # type: ignore[attr-defined]
            except UnicodeEncodeError:
                return None
        slots.append(slot)
        kinds.append(kind)
        ints.append(number)
        doubles.append(double)
    bounds = np.zeros(len(texts) + 1, np.int64)
    if texts:
        np.cumsum([len(text) for text in texts], out=bounds[1:])
    return TermValues(
        np.array(slots, np.int64),
        np.array(kinds, np.int64),
        np.array(ints, np.int64),
        np.array(doubles, np.float64),
        bounds,
        np.frombuffer(bytearray().join(texts), np.uint8),
    )


def match_segment(values: TermValues, segment: Segment, slots: int) -> tuple[list[Id], list[int]]:
    """The ids of the subscriptions of a segment that the event matches, and their priorities.

    No priorities stand for nothing but 0.
    """
    plan, axes = segment.plan, segment.axes
    owners = np.empty(2 * len(values.slots), np.int32)
    ranks = np.empty(2 * len(values.slots), np.int32)
    filled = rank_event(
        *values,
        segment.lookup(slots),
        KINDS,
        _AXIS_KINDS,
        PRESENCE,
        axes.int_scales,
        axes.double_scales,
        axes.begin,
        axes.count,
        axes.bounds,
        axes.texts,
        owners,
        ranks,
    )
    board = segment.take_scratch()
    rows = Rows(np.array([0, filled], np.int64), ranks, owners, False)
    records, found = np.empty(64, np.int64), 0
    if len(plan.narrow.record) or len(plan.general.record):
        _, records, found = match_rows(
            rows,
            0,
            1,
            _NO_OFFSETS,
            _NOTHING,
            _NOTHING,
            plan.buckets,
            plan.narrow,
            plan.general,
            segment.sets,
            segment.alive,
            board.row_scratch,
            board.clock,
            _NOTHING,
            np.empty(64, np.int64),
            records,
        )
        board.clock += 1
    if len(plan.wide.leaves.words):
        records, found = match_wide_event(
            plan.wide,
            segment.flat_first,
            owners,
            ranks,
            filled,
            board.row_scratch.row,
            plan.defaults,
            board.row_scratch.true,
            segment.sets,
            segment.alive,
            records,
            found,
        )
    segment.return_scratch(board)
    ledger, records = segment.ledger, records[:found]
    urgent = ledger.priorities[records].tolist() if len(ledger.priorities) else []
    return ledger.few_ids(records), urgent
