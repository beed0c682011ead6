"""Route Arrow batches of events to shards; this module does not use pyspark."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tamis.errors import TamisError
from tamis.events.bad_events import isolate_bad
from tamis.events.batch import EventBatch
from tamis.matcher import Matcher
from tamis.spark.index.shard_files import SHARD
from tamis.spark.index.signatures import Signatures
from tamis.spark.match.event_batches import split_readable, visible_columns


class ShardRouter:
    """Copies each event to every candidate shard, with the number of the shard."""

    def __init__(
        self,
        signatures: Signatures,
        like: Matcher,
        hidden: frozenset[str],
        corrupt: str | None,
        everything: bool,
    ) -> None:
        """Take the filters of the shards.

        Args:
            signatures: The filters of all shards.
            like: A matcher with the schema and semantics of the shards.
            hidden: Columns that no selector sees.
            corrupt: A column that is not null if the event could not be read.
            everything: Whether an event without candidate shards is sent to some shard too.
        """
        self._signatures = signatures
        self._like = like
        self._hidden = hidden
        self._corrupt = corrupt
        self._everything = everything

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Route a batch. Bad events go to the first shard, which reports them."""
        batch, unread = split_readable(batch, self._corrupt)
        if unread.num_rows:
            yield _to_first_shard(unread)
        yield from self._route(batch)

    def _route(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for part, events in isolate_bad(batch, self._event_batch, TamisError):
            if isinstance(events, TamisError):
                yield _to_first_shard(part)
            else:
                yield self._to_candidates(part, events)

    def _event_batch(self, batch: pa.RecordBatch) -> EventBatch:
        visible = visible_columns(batch, self._hidden)
        return EventBatch.of(visible, self._like.schema, self._like.semantics)

    def _to_candidates(self, batch: pa.RecordBatch, events: EventBatch) -> pa.RecordBatch:
        candidates = self._signatures.candidate_mask(events)
        if self._everything:
            unrouted = np.flatnonzero(~candidates.any(axis=0))
            candidates[unrouted % len(candidates), unrouted] = True  # spread over the shards
        shard, event = np.nonzero(candidates)
        return batch.take(pa.array(event)).append_column(SHARD, pa.array(shard.astype(np.int32)))


def _to_first_shard(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.append_column(SHARD, pa.array(np.zeros(batch.num_rows, np.int32)))
