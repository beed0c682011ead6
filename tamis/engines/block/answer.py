"""The answers of segments, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tamis.engines.block.segment import Segment
from tamis.engines.brute import satisfies
from tamis.engines.subscription import Subscription
from tamis.events import EventBatch
from tamis.kernels.block_masks import Found
from tamis.kernels.block_words import Ints, Longs
from tamis.matches import Matches


class Part(NamedTuple):
    """What some events of a chunk match in one segment.

    Attributes:
        begin: The first of the events.
        ends: By event, where its records end in the next.
        records: Records, by event.
        found: What was found in blocks; None if nothing was looked for there.
    """

    begin: int
    ends: Longs
    records: Ints
    found: Found | None


class Answer:
    """Pairs of events and subscriptions, as they come in."""

    def __init__(self, events: int) -> None:
        """Begin with nothing."""
        self._events = events
        self._parts: dict[int, tuple[Segment, list[Longs], list[Longs]]] = {}
        self._event: list[Longs] = []
        self._code: list[Longs] = []
        self._ids: list[pa.Array] = []
        self._priorities: list[Longs] = []
        self._named = 0

    def add(self, segment: Segment, first: int, part: Part) -> None:
        """Take a part; `first` is the event that its chunk begins with."""
        _, events, records = self._parts.setdefault(id(segment), (segment, [], []))
        if len(part.records):
            counts = np.diff(part.ends, prepend=0)
            begin = first + part.begin
            events.append(np.repeat(np.arange(begin, begin + len(counts)), counts))
            records.append(part.records)
        found = part.found
        if found is not None and found.pairs:
            events.append(first + found.event[: found.pairs].astype(np.int64))
            records.append(found.record[: found.pairs])

    def add_whole(self, subscriptions: Sequence[Subscription], batch: EventBatch) -> None:
        """Ask the oracle about subscriptions that are in no segment."""
        rows = batch.rows()
        for subscription in subscriptions:
            events = [e for e, row in enumerate(rows) if satisfies(row, subscription)]
            if events:
                kind = pa.int64() if isinstance(subscription.id, int) else pa.string()
                self._name(pa.array([subscription.id], kind), np.array([subscription.priority]))
                self._event.append(np.array(events, np.int64))
                self._code.append(np.full(len(events), self._named - 1, np.int64))

    def matches(self) -> Matches:
        """All of it."""
        for segment, events, records in self._parts.values():
            if events:
                self._take(segment, np.concatenate(events), np.concatenate(records))
        ids = pa.concat_arrays(self._ids) if self._ids else pa.array([], pa.string())
        return Matches(
            self._events,
            _joined(self._event),
            _joined(self._code),
            ids,
            _joined(self._priorities),
        )

    def _take(self, segment: Segment, event: Longs, record: Longs) -> None:
        if len(record) * 16 < len(segment.ledger):
            distinct, code = np.unique(record, return_inverse=True)
        else:
            seen = np.zeros(len(segment.ledger), np.bool_)
            seen[record] = True
            distinct = np.flatnonzero(seen)
            code = (np.cumsum(seen) - 1)[record]
        self._event.append(event)
        self._code.append(code + self._named)
        distinct = distinct.astype(np.int64)
        self._name(segment.ledger.ids_of(distinct), segment.ledger.priorities_of(distinct))

    def _name(self, ids: pa.Array, priorities: Longs) -> None:
        self._ids.append(ids)
        self._priorities.append(priorities)
        self._named += len(ids)


def _joined(parts: list[Longs]) -> Longs:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
