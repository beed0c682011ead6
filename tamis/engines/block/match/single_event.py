"""Match a single event at low latency: without columns, directly from its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tamis.engines.block.layout.axes import pack_texts
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.terms import Terms
from tamis.kernels.block import ranks as block_ranks
from tamis.kernels.block.event import match_event
from tamis.kernels.block.ranks import Doubles
from tamis.kernels.block.words import Bytes, Longs
from tamis.matches import Id
from tamis.values import INT_MAX, INT_MIN

_NO_TEXTS = pack_texts([])


class PackedValues(NamedTuple):
    """The values of an event that some term reads; see `match_event`."""

    numbers: Longs
    doubles: Doubles
    text_bounds: Longs
    texts: Bytes


def values_of(event: Mapping[str, object], terms: Terms) -> PackedValues | None:
    """Return the values of an event; None if it has values that only columns support."""
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
            # It may hold a lone surrogate, which is not UTF-8: the columns report that error.
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
    bounds, data = pack_texts(texts) if texts else _NO_TEXTS
    return PackedValues(
        np.array((slots, kinds, ints), np.int64), np.array(doubles, np.float64), bounds, data
    )


def match_segment(values: PackedValues, segment: Segment, slots: int) -> tuple[list[Id], list[int]]:
    """Match an event against a segment.

    Args:
        values: The values of the event.
        segment: The segment.
        slots: The number of terms of the engine.

    Returns:
        The ids of the subscriptions that match, and their priorities; these are empty if all are 0.
    """
    board = segment.take_scratch()
    records, found = match_event(
        *values, segment.lookup(slots), segment.event_index, segment.alive, board.row_scratch
    )
    segment.return_scratch(board)
    ledger, records = segment.ledger, records[:found]
    priorities = ledger.priorities[records].tolist() if len(ledger.priorities) else []
    return ledger.few_ids(records), priorities
