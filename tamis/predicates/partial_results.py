"""Partial results of phase 1, and how they are combined.

Every kind of test produces its partial result in one of two forms: each event has a rank on a
ladder, or a code in a table of ids. From there on, types and operators no longer matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.predicates.emit import CodeTable, Ids, Ladder, Places, fill_ladder, fill_table
from tamis.kernels.predicates.masks import (
    EventBlock,
    Masks,
    Spans,
    fill_prefixes,
    mask_others,
    mask_spans,
    mask_table,
)


class RankedPart(NamedTuple):
    """Events on a ladder; a rank of -1 means that the event is not on it."""

    ladder: Ladder
    spans: Spans
    ranks: Ids


class CodedPart(NamedTuple):
    """Events in a table; a code of -1 means that the event is not in it."""

    table: CodeTable
    codes: Ids


Part: TypeAlias = RankedPart | CodedPart


class SatisfiedPredicates(NamedTuple):
    """The predicates that are certainly true of each event.

    Attributes:
        offsets: Event e has the ids from offsets[e] up to offsets[e + 1].
        ids: The ids, in any order, without duplicates.
    """

    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]


def table_of(rows: Sequence[Iterable[int]]) -> CodeTable:
    """Build a table of ids by code."""
    lists = [list(row) for row in rows]
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    ids = np.fromiter((id for row in lists for id in row), np.int32, int(offsets[-1]))
    return CodeTable(offsets, ids)


def gather_ids(parts: Sequence[Part], events: int) -> SatisfiedPredicates:
    """Combine all parts into one list of ids per event."""
    offsets = np.zeros(events + 1, np.int64)
    counts = offsets[1:]
    for part in parts:
        counts += _counts(part)
    np.cumsum(counts, out=counts)
    out = np.empty(offsets[-1], np.int32)
    cursors = offsets[:-1].copy()
    for part in parts:
        if isinstance(part, RankedPart):
            fill_ladder(part.ladder, part.ranks, cursors, out)
        else:
            fill_table(part.table, part.codes, cursors, out)
    return SatisfiedPredicates(offsets, out)


def build_masks(parts: Sequence[Part], events: int, rows: Ids, count: int) -> Masks:
    """Combine all parts into one bit per event and predicate; `rows` maps predicates to rows."""
    masks: Masks = np.zeros((count, (events + 63) // 64), np.uint64)
    for part in parts:
        if isinstance(part, RankedPart):
            block = _block(part.ranks, len(part.ladder.sizes) - 1, masks.shape[1], rows)
            mask_spans(part.spans, block, masks)
            if len(part.ladder.other_ids):
                mask_others(part.ladder, block, masks)
        else:
            block = _block(part.codes, len(part.table.offsets) - 1, masks.shape[1], rows)
            mask_table(part.table, block, masks)
    return masks


def _counts(part: Part) -> Places:
    """Return the number of ids of each event."""
    if isinstance(part, RankedPart):
        return part.ladder.sizes[part.ranks]
    offsets, codes = part.table.offsets, part.codes
    return np.where(codes >= 0, offsets[codes + 1] - offsets[codes], 0)


def _block(keys: Ids, count: int, words: int, rows: Ids) -> EventBlock:
    order = np.argsort(keys, kind="stable")
    present = int(np.count_nonzero(keys >= 0))
    order = order[len(order) - present :]
    begins = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(keys[order], minlength=count), out=begins[1:])
    prefixes: Masks = np.zeros((present + 1, words), np.uint64)
    fill_prefixes(order, prefixes)
    return EventBlock(begins, order, prefixes, rows)
