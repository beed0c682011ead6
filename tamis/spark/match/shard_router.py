"""Which shards an event is sent to: no pyspark here, only Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tamis.errors import TamisError
from tamis.events.batch import EventBatch
from tamis.matcher import Matcher
from tamis.spark.index.shard_files import SHARD
from tamis.spark.index.signatures import Signatures
from tamis.spark.match.event_batches import halves, split_readable, visible_columns


class ShardRouter:
    """Events in, and out once for every shard that must see them, with its number."""

    def __init__(
        self,
        signatures: Signatures,
        like: Matcher,
        hidden: frozenset[str],
        corrupt: str | None,
        everything: bool,
    ) -> None:
        """Prepare to send.

        Args:
            signatures: The filters of all shards.
            like: A matcher that sees events as those of the shards do.
            hidden: Columns that no selector sees.
            corrupt: A column that is not null where the event could not be read.
            everything: Whether an event that no shard must see is sent to some shard too.
        """
        self._signatures = signatures
        self._like = like
        self._hidden = hidden
        self._corrupt = corrupt
        self._everything = everything

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Send a batch. What cannot be read or judged goes to the first shard, which says so."""
        batch, unread = split_readable(batch, self._corrupt)
        if unread.num_rows:
            yield _to_first_shard(unread)
        yield from self._route(batch)

    def _route(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if not batch.num_rows:
            return
        try:
            seen = visible_columns(batch, self._hidden)
            events = EventBatch.of(seen, self._like.schema, self._like.semantics)
        except TamisError:
            if batch.num_rows == 1:
                yield _to_first_shard(batch)
                return
            for half in halves(batch):
                yield from self._route(half)
            return
        wanted = self._signatures.candidate_mask(events)
        if self._everything:
            nobody = np.flatnonzero(~wanted.any(axis=0))
            wanted[nobody % len(wanted), nobody] = True  # not all of them to the same
        shard, event = np.nonzero(wanted)
        yield batch.take(pa.array(event)).append_column(SHARD, pa.array(shard.astype(np.int32)))


def _to_first_shard(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.append_column(SHARD, pa.array(np.zeros(batch.num_rows, np.int32)))
