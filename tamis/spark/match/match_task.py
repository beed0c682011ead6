"""What is asked of workers that match: it travels to them, and they do it.

No DataFrame here, only Arrow batches.
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
    """The version for the micro-batch that this task is part of."""
    now = micro_batch()
    return resolve(index) if now is None else pin_version(index, now.query, now.number)


@dataclass(frozen=True)
class MatchTask:
    """A question to all workers.

    Attributes:
        index: The index to judge by.
        number: The version; None if it is the newest for each micro-batch.
        keep: The columns of events to keep.
        add: The columns to add.
        listed: What lists are of: ids, or ids and priorities.
        hidden: Columns that selectors do not see.
        limit: At most so many subscriptions per event.
        functions: Those that selectors call.
        corrupt: A column that is not null where an event could not be read.
        errors: The column for what is wrong with an event; None if that is to be raised.
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
        """The events with their subscriptions, by an index in one piece."""
        by = self._version(sharded=False)
        judge: ArrowMatcher | None = None
        for batch in coalesce_batches(batches):
            judge = judge or self._arrow_matcher(by, batch.schema)
            yield from judge(batch)

    def route_events(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events once for every shard that must see them."""
        yield from self._route(coalesce_batches(batches), everything=False)

    def route_numbered_events(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events numbered, once for every shard that must see them, but once at least."""
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        yield from self._route(number_events(coalesce_batches(batches), partition), everything=True)

    def _route(
        self, batches: Iterable[pa.RecordBatch], everything: bool
    ) -> Iterator[pa.RecordBatch]:
        by = self._version(sharded=True)
        like = open_version(Version(by.number, shard_folder(by.folder, 0)), self.functions)
        send = ShardRouter(signatures(by.folder), like, self.hidden, self.corrupt, everything)
        for batch in batches:
            yield from send(batch)

    def match_by_shard(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events with the subscriptions of the shards that they were sent to."""
        by = self._version(sharded=True)
        judges: dict[Path, ArrowMatcher] = {}
        for batch in coalesce_batches(batches):
            for folder, part in split_by_shard(batch, by.folder):
                if folder not in judges:
                    judges[folder] = self._arrow_matcher(Version(by.number, folder), part.schema)
                yield from judges[folder](part)

    def merge_shards(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers of all shards to an event in one."""
        yield from merge_answers(batches, self.limit, self.errors, self.listed)

    def _version(self, sharded: bool) -> Version:
        by = batch_version(self.index) if self.number is None else resolve(self.index, self.number)
        if is_sharded(by.folder) != sharded:
            raise InputError(f"version {by.number} is placed otherwise; start the stream anew")
        return by

    def _arrow_matcher(self, by: Version, events: pa.Schema) -> ArrowMatcher:
        types = {"subscriptions": pa.list_(self.listed), "index_version": pa.int64()}
        fields = [events.field(name) for name in self.keep]
        # What is not said is a text.
        fields += [pa.field(name, types.get(name, pa.string())) for name in self.add]
        matcher = open_version(by, self.functions)
        schema = pa.schema(fields)
        return ArrowMatcher(
            matcher, by.number, schema, self.hidden, self.limit, self.corrupt, self.errors
        )
