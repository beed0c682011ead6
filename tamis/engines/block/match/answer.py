"""Collect the matches of all segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tamis.engines.block.segment.segment import Segment
from tamis.engines.subscription import Subscription, satisfies
from tamis.events.batch import EventBatch
from tamis.kernels.block.masks import MatchBuffer
from tamis.kernels.block.words import Ints, Longs, Words
from tamis.matches import Matches, Tiles, ids_array

N = TypeVar("N", bound=np.generic)


class _Pieces:
    """The matches of one segment so far."""

    def __init__(self) -> None:
        self.event: list[Longs] = []
        self.record: list[Longs] = []
        self.tile_first: list[Longs] = []
        self.tile_record: list[Ints] = []
        self.tile_masks: list[Words] = []


class MatchCollector:
    """Collects pairs of events and subscriptions, and masks."""

    def __init__(self, events: int) -> None:
        """Create an empty collector for a batch of `events` events."""
        self._events = events
        self._pieces: dict[Segment, _Pieces] = {}
        self._event: list[Longs] = []
        self._code: list[Longs] = []
        self._tiles: list[Tiles] = []
        self._ids: list[pa.Array] = []
        self._priorities: list[Longs] = []
        self._named = 0

    def totals(self, segment: Segment) -> None:
        """Return None: every match is kept, not only counted."""

    def add(self, segment: Segment, first: int, found: MatchBuffer) -> None:
        """Add the matches of some events, whose chunk begins with the event `first`."""
        pieces = self._pieces.setdefault(segment, _Pieces())
        if found.pairs:
            event = found.event[: found.pairs]
            event += first
            pieces.event.append(event)
            pieces.record.append(found.record[: found.pairs])
        if found.tiles:
            pieces.tile_first.append(first + found.tile_first[: found.tiles].astype(np.int64))
            pieces.tile_record.append(found.tile_record[: found.tiles])
            width = len(found.tile_masks) // len(found.tile_record)
            pieces.tile_masks.append(found.tile_masks.reshape(-1, width)[: found.tiles])

    def add_unindexed(self, subscriptions: Sequence[Subscription], batch: EventBatch) -> None:
        """Match subscriptions that are in no segment with the oracle."""
        rows = batch.rows()
        for subscription in subscriptions:
            events = [e for e, row in enumerate(rows) if satisfies(row, subscription)]
            if events:
                self._name(ids_array([subscription.id]), np.array([subscription.priority]))
                self._event.append(np.array(events, np.int64))
                self._code.append(np.full(len(events), self._named - 1, np.int64))

    def matches(self) -> Matches:
        """Return all matches."""
        for segment, pieces in self._pieces.items():
            self._take(segment, pieces)
        ids = pa.concat_arrays(self._ids) if self._ids else pa.array([], pa.string())
        return Matches(
            self._events,
            _join_arrays(self._event),
            _join_arrays(self._code),
            ids,
            _join_arrays(self._priorities),
            _tiles(self._tiles),
        )

    def _take(self, segment: Segment, pieces: _Pieces) -> None:
        event, record = _join_arrays(pieces.event), _join_arrays(pieces.record)
        tile_record = _join_arrays(pieces.tile_record).astype(np.int64)
        if not len(record) and not len(tile_record):
            return  # if all its records are removed, its ids may be of another type
        size = len(segment.ledger)
        if len(record) + len(tile_record) >= size:
            # Most records match: to include all ids is cheaper than to find the distinct ones.
            every = np.arange(size)
            codes, tile_codes = record, tile_record
        else:
            both = np.concatenate([record, tile_record])
            every, places = np.unique(both, return_inverse=True)
            codes, tile_codes = places[: len(record)], places[len(record) :]
        if self._named:
            codes = codes + self._named
        self._event.append(event)
        self._code.append(codes)
        if len(tile_record):
            first, masks = _join_arrays(pieces.tile_first), _join_arrays(pieces.tile_masks)
            self._tiles.append(Tiles(first, tile_codes + self._named, masks))
        every = every.astype(np.int64)
        self._name(segment.ledger.ids_of(every), segment.ledger.priorities_of(every))

    def _name(self, ids: pa.Array, priorities: Longs) -> None:
        self._ids.append(ids)
        self._priorities.append(priorities)
        self._named += len(ids)


def _tiles(parts: list[Tiles]) -> Tiles | None:
    """Return all tiles, split to the width of the narrowest."""
    if not parts:
        return None
    words = min(part.masks.shape[1] for part in parts)
    cut = []
    for first, code, masks in parts:
        times = masks.shape[1] // words
        if times > 1:
            masks = masks.reshape(-1, words)
            first = np.repeat(first, times) + np.tile(64 * words * np.arange(times), len(first))
            code = np.repeat(code, times)
            some = masks.any(axis=1)
            first, code, masks = first[some], code[some], masks[some]
        cut.append(Tiles(first, code, masks))
    if len(cut) == 1:
        return cut[0]
    return Tiles(*(np.concatenate(column) for column in zip(*cut, strict=True)))


def _join_arrays(parts: Sequence[NDArray[N]]) -> NDArray[N]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
