"""Count the matches of each subscription, without keeping which events matched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.engines.block.segment.segment import Segment
from tamis.engines.subscription import Subscription, satisfies
from tamis.events.batch import EventBatch
from tamis.kernels.block.masks import MatchBuffer
from tamis.kernels.block.words import Longs
from tamis.matches import Id


class CountCollector:
    """Counts the events that each subscription has matched."""

    def __init__(self) -> None:
        """Create an empty collector."""
        self._totals: dict[Segment, Longs] = {}
        self._others: dict[Id, int] = {}

    def totals(self, segment: Segment) -> Longs:
        """Return the counts of a segment by record, for kernels to increment."""
        totals = self._totals.get(segment)
        if totals is None:
            totals = self._totals[segment] = np.zeros(len(segment.ledger), np.int64)
        return totals

    def add(self, segment: Segment, first: int, found: MatchBuffer) -> None:
        """Add the matches that were found as pairs."""
        if found.pairs:
            record = found.record[: found.pairs]
            self._totals[segment] += np.bincount(record, minlength=len(segment.ledger))

    def add_unindexed(self, subscriptions: Sequence[Subscription], batch: EventBatch) -> None:
        """Match subscriptions that are in no segment with the oracle."""
        for subscription in subscriptions:
            count = sum(satisfies(row, subscription) for row in batch.rows())
            if count:
                self._others[subscription.id] = count

    def counts(self) -> dict[Id, int]:
        """Return the counts by id, for the subscriptions that matched any event."""
        counts = dict(self._others)
        for segment, totals in self._totals.items():
            records = np.flatnonzero(totals)
            ids = segment.ledger.ids_of(records).to_pylist()
            counts.update(zip(ids, totals[records].tolist(), strict=True))
        return counts
