"""Rank the events of a batch on the axes of any segment.

The columns of a batch are laid end to end once. For each segment, one kernel then ranks all of its
columns. Few large calls are best: between two calls, a thread that adds subscriptions may hold the
GIL for milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.terms import Terms
from tamis.events.batch import EventBatch
from tamis.kernels.block import ranks as block_ranks
from tamis.kernels.block.axis_kinds import INSTANT, KINDS, NUMBER, PRESENCE, TEXT, TRUTH
from tamis.kernels.block.ranks import (
    Rows,
    Sources,
    count_cells,
    rank_densely,
    rank_sparsely,
    rank_texts,
)
from tamis.kernels.block.words import Bytes, Ints, Longs
from tamis.predicates.term_values import Sheet, TermColumn
from tamis.values import Type

# Rows are dense if at least this fraction of all cells has values; else it is faster to list them.
_DENSE = 0.4
# Room behind the last row, so that the axis field of any word is a valid index.
BEHIND = 1 << 16
# The most cells of dense rows.
_CELLS = 1 << 24

_KIND_OF = {
    Type.INT: (NUMBER, block_ranks.INT),
    Type.DBL: (NUMBER, block_ranks.DOUBLE),
    Type.STR: (TEXT, block_ranks.TEXT),
    Type.TIMESTAMP: (INSTANT, block_ranks.INT),
    Type.BOOL: (TRUTH, block_ranks.BOOL),
}


class _Texts(NamedTuple):
    """The distinct texts of a column, in UTF-8."""

    bounds: Longs
    data: Bytes


class Columns:
    """The columns of a batch that some term reads, end to end."""

    def __init__(
        self, batch: EventBatch, terms: Terms, derived: Iterable[int] | None = None
    ) -> None:
        """Lay out the columns.

        Args:
            batch: The events.
            terms: The terms of the engine.
            derived: The derived terms to compute; None for all.
        """
        self.events = len(batch)
        self._slot: list[int] = []
        self._axis_kind: list[int] = []
        self._kind: list[int] = []
        self._data_at: list[int] = []
        self._valid_at: list[int] = []
        self._text: list[int] = []
        self._texts: list[_Texts] = []
        self._keys: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._bits: list[np.ndarray] = []
        self._sizes = [0, 0, 0]
        self.cells = 0
        for slot, type, data in _attributes(batch, terms):
            self._add(slot, type, data)
        sheet = Sheet(batch)
        # A copy, because another thread may be adding subscriptions.
        for slot in list(terms.derived.values()) if derived is None else derived:
            for cells in sheet.cells(terms[slot]):
                self._add_derived(slot, cells)
        self._finish()

    # -- layout -----------------------------------------------------------------------------------

    def _add(self, slot: int, type: Type, data: pa.Array) -> None:
        buffers = data.buffers()
        offset, nulls = data.offset, data.null_count
        valid_at = -1
        if nulls and buffers[0] is not None:
            valid_at = self._put_bits(buffers[0], offset)
        self.cells += len(data) - nulls
        self._add_presence(slot, valid_at)
        if type not in _KIND_OF:
            return
        axis_kind, kind = _KIND_OF[type]
        data_at, text = 0, -1
        if kind in (block_ranks.INT, block_ranks.DOUBLE):
            data_at = self._put(
                0, self._keys, np.frombuffer(buffers[1], np.int64, len(data), 8 * offset)
            )
        elif kind == block_ranks.BOOL:
            data_at = self._put_bits(buffers[1], offset)
        else:
            encoded = data.dictionary_encode()
            data_at = self._put(1, self._codes, _codes(encoded.indices))
            text = len(self._texts)
            self._texts.append(_utf8(encoded.dictionary))
        self._note(slot, axis_kind, kind, data_at, valid_at, text)

    def _add_derived(self, slot: int, cells: TermColumn) -> None:
        valid_at = -1
        if cells.valid is not None:
            packed = np.packbits(cells.valid, bitorder="little")
            valid_at = 8 * self._put(2, self._bits, packed)
        self.cells += self.events if cells.valid is None else int(cells.valid.sum())
        self._add_presence(slot, valid_at)
        if cells.type not in _KIND_OF:
            return
        axis_kind, kind = _KIND_OF[cells.type]
        text = -1
        if kind == block_ranks.TEXT:
            data_at = self._put(1, self._codes, np.maximum(cells.data.codes, 0))
            text = len(self._texts)
            self._texts.append(_utf8(pa.array(cells.data.values, pa.string())))
        else:
            data_at = self._put(0, self._keys, cells.data.view(np.int64))
            kind = block_ranks.INT if kind == block_ranks.BOOL else kind
        self._note(slot, axis_kind, kind, data_at, valid_at, text)

    def _put(self, which: int, parts: list[np.ndarray], part: np.ndarray) -> int:
        at = self._sizes[which]
        parts.append(part)
        self._sizes[which] += len(part)
        return at

    def _put_bits(self, buffer: pa.Buffer, offset: int) -> int:
        first = offset >> 3
        last = (offset + self.events + 7) >> 3
        at = self._put(2, self._bits, np.frombuffer(buffer, np.uint8, last - first, first))
        return 8 * at + (offset & 7)

    def _add_presence(self, slot: int, valid_at: int) -> None:
        self._note(slot, PRESENCE, block_ranks.PRESENCE, 0, valid_at, -1)

    def _note(
        self, slot: int, axis_kind: int, kind: int, data_at: int, valid_at: int, text: int
    ) -> None:
        self._slot.append(slot)
        self._axis_kind.append(axis_kind)
        self._kind.append(kind)
        self._data_at.append(data_at)
        self._valid_at.append(valid_at)
        self._text.append(text)

    def _finish(self) -> None:
        self._key = np.array(self._slot, np.int64) * KINDS + np.array(self._axis_kind, np.int64)
        self._kinds = np.array(self._kind, np.int64)
        self._data = np.array(self._data_at, np.int64)
        self._valid = np.array(self._valid_at, np.int64)
        self._texts_of = np.array(self._text, np.int64)
        self._all_keys = _join_arrays(self._keys, np.int64)
        self._all_codes = _join_arrays(self._codes, np.int32)
        self._all_bits = _join_arrays(self._bits, np.uint8)

    # -- ranking ----------------------------------------------------------------------------------

    def rows(self, axes: Axes, lookup: Longs) -> Rows:
        """Return the events ranked on some axes; `lookup` is that of the axes, for all terms."""
        axis = np.full(len(self._key), -1, np.int64)
        known = self._key < len(lookup)
        axis[known] = lookup[self._key[known]]
        sources = self._sources(axes, np.flatnonzero(axis >= 0), axis)
        events = self.events
        ints = axes.int_scales
        doubles = axes.double_scales if (sources.kind == block_ranks.DOUBLE).any() else ints
        if self._is_dense(sources, len(axes)):
            ranks = np.empty(len(axes) * events + BEHIND, np.int32)
            rank_densely(sources, ints, doubles, axes.defaults, events, ranks)
            offsets = np.arange(events + 1, dtype=np.int64) * len(axes)
            return Rows(offsets, ranks, np.arange(len(axes), dtype=np.int32), True)
        offsets = np.zeros(events + 1, np.int64)
        count_cells(sources, events, offsets[1:])
        np.cumsum(offsets, out=offsets)
        ranks, owners = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
        rank_sparsely(sources, ints, doubles, events, offsets[:-1].copy(), owners, ranks)
        return Rows(offsets, ranks, owners, False)

    def _is_dense(self, sources: Sources, axes: int) -> bool:
        """Estimate, without reading the cells, whether most events have values on most axes."""
        if axes * self.events > _CELLS:
            return False
        columns = max(1, int(np.count_nonzero(self._kinds == block_ranks.PRESENCE)))
        filled = self.cells / (columns * max(self.events, 1))
        return bool(len(sources.axis) * filled >= _DENSE * axes)

    def _sources(self, axes: Axes, columns: Longs, axis: Longs) -> Sources:
        ranks_at = np.zeros(len(columns), np.int64)
        ranks: list[Ints] = []
        filled = 0
        for i in np.flatnonzero(self._kinds[columns] == block_ranks.TEXT).tolist():
            text = self._texts[self._texts_of[columns[i]]]
            mine = axis[columns[i]]
            text_ranks = np.empty(len(text.bounds) - 1, np.int32)
            rank_texts(
                text.bounds,
                text.data,
                axes.begin[mine],
                axes.count[mine],
                axes.bounds,
                axes.texts,
                text_ranks,
            )
            ranks_at[i], filled = filled, filled + len(text_ranks)
            ranks.append(text_ranks)
        return Sources(
            axis[columns],
            self._kinds[columns],
            self._data[columns],
            self._valid[columns],
            ranks_at,
            self._all_keys,
            self._all_codes,
            self._all_bits,
            _join_arrays(ranks, np.int32),
        )


def _attributes(batch: EventBatch, terms: Terms) -> Iterator[tuple[int, Type, pa.Array]]:
    """Iterate over the columns of attributes that some term reads."""
    columns, by_path = batch.columns, terms.by_path
    if len(columns) < len(by_path):
        for path, found in columns.items():
            slot = by_path.get(path)
            if slot is not None:
                for column in found:
                    yield slot, column.type, column.data
    else:
        for path, slot in by_path.copy().items():
            for column in columns.get(path, ()):
                yield slot, column.type, column.data


def _codes(indices: pa.Array) -> Ints:
    """Return the dictionary codes of texts; nulls have arbitrary codes."""
    offset, buffer = indices.offset, indices.buffers()[1]
    return np.frombuffer(buffer, np.int32, len(indices), 4 * offset)


def _utf8(texts: pa.Array) -> _Texts:
    buffers, offset = texts.buffers(), texts.offset
    bounds = (
        np.frombuffer(buffers[1], np.int32, len(texts) + 1, 4 * offset)
        if len(texts)
        else np.zeros(1, np.int32)
    )
    data = np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None else np.zeros(0, np.uint8)
    return _Texts(bounds.astype(np.int64), data)


def _join_arrays(parts: list[np.ndarray], kind: type) -> np.ndarray:
    """Return a copy of the parts end to end: Arrow's read-only memory is another type to Numba."""
    return np.concatenate(parts) if parts else np.zeros(0, kind)
