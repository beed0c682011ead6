"""The task of workers that match; it is pickled and sent to them.

It handles Arrow batches only, no DataFrames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.spark.index.shard_files import is_sharded, shard_folder, signatures, split_by_shard
from tamis.spark.index.versions import Version, pin_version, resolve
from tamis.spark.match.event_batches import coalesce_batches
from tamis.spark.match.match_worker import ArrowMatcher, open_version
from tamis.spark.match.merge_shards import merge_answers, number_events
from tamis.spark.match.micro_batch import micro_batch
from tamis.spark.match.shard_router import ShardRouter


def batch_version(index: Path) -> Version:
    """Return the version for the micro-batch of this Spark task."""
    current = micro_batch()
    if current is None:
        return resolve(index)
    return pin_version(index, current.query, current.number)


@dataclass(frozen=True)
class MatchTask:
    """What all workers do with events.

    Attributes:
        index: The index to match against.
        number: The version; None for the newest of each micro-batch.
        keep: The columns of events to keep.
        add: The columns to add.
        listed: The type of list elements: ids, or ids and priorities.
        hidden: Columns that selectors do not see.
        limit: The maximum number of subscriptions per event.
        functions: The functions that selectors call.
        corrupt: A column that is not null if an event could not be read.
        errors: The column for what is wrong with an event; None to raise it.
    """

    index: Path
    number: int | None
    keep: list[str]
    add: list[str]
    listed: pa.DataType
    hidden: frozenset[str]
    limit: int | None
    functions: Callables | None
    corrupt: str | None
    errors: str | None

    def match_events(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the events with their subscriptions, from an index without shards."""
        version = self._version(sharded=False)
        matcher: ArrowMatcher | None = None
        for batch in coalesce_batches(batches):
            matcher = matcher or self._arrow_matcher(version, batch.schema)
            yield from matcher(batch)

    def route_events(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the events once per candidate shard."""
        yield from self._route(coalesce_batches(batches), everything=False)

    def route_numbered_events(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the events with numbers, once per candidate shard, but at least once."""
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        yield from self._route(number_events(coalesce_batches(batches), partition), everything=True)

    def _route(
        self, batches: Iterable[pa.RecordBatch], everything: bool
    ) -> Iterator[pa.RecordBatch]:
        version = self._version(sharded=True)
        first = Version(version.number, shard_folder(version.folder, 0))
        like = open_version(first, self.functions)
        router = ShardRouter(
            signatures(version.folder), like, self.hidden, self.corrupt, everything
        )
        for batch in batches:
            yield from router(batch)

    def match_by_shard(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the events with the subscriptions of the shards that they were routed to."""
        version = self._version(sharded=True)
        matchers: dict[Path, ArrowMatcher] = {}
        for batch in coalesce_batches(batches):
            for folder, part in split_by_shard(batch, version.folder):
                if folder not in matchers:
                    shard = Version(version.number, folder)
                    matchers[folder] = self._arrow_matcher(shard, part.schema)
                yield from matchers[folder](part)

    def merge_shards(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Merge the results of all shards for each event."""
        yield from merge_answers(batches, self.limit, self.errors, self.listed)

    def _version(self, sharded: bool) -> Version:
        if self.number is None:
            version = batch_version(self.index)
        else:
            version = resolve(self.index, self.number)
        if is_sharded(version.folder) != sharded:
            raise InputError(f"version {version.number} has another placement; restart the stream")
        return version

    def _arrow_matcher(self, version: Version, events: pa.Schema) -> ArrowMatcher:
        types = {"subscriptions": pa.list_(self.listed), "index_version": pa.int64()}
        fields = [events.field(name) for name in self.keep]
        # The column for errors is text.
        fields += [pa.field(name, types.get(name, pa.string())) for name in self.add]
        matcher = open_version(version, self.functions)
        schema = pa.schema(fields)
        return ArrowMatcher(
            matcher, version.number, schema, self.hidden, self.limit, self.corrupt, self.errors
        )
