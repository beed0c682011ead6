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
from tamis.spark.index.shard_files import by_shard, is_sharded, shard_folder, signatures
from tamis.spark.index.versions import Version, pinned, resolve
from tamis.spark.match.event_batches import gathered
from tamis.spark.match.match_worker import Judge, opened
from tamis.spark.match.merge_shards import merged, numbered
from tamis.spark.match.micro_batch import micro_batch
from tamis.spark.match.shard_router import Sending


def version_now(index: Path) -> Version:
    """The version for the micro-batch that this task is part of."""
    now = micro_batch()
    return resolve(index) if now is None else pinned(index, now.query, now.number)


@dataclass(frozen=True)
class Asked:
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

    def judged(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events with their subscriptions, by an index in one piece."""
        by = self._version(sharded=False)
        judge: Judge | None = None
        for batch in gathered(batches):
            judge = judge or self._judge(by, batch.schema)
            yield from judge(batch)

    def routed(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events once for every shard that must see them."""
        yield from self._routed(gathered(batches), everything=False)

    def routed_to_meet(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events numbered, once for every shard that must see them, but once at least."""
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = context.partitionId() if context else 0
        yield from self._routed(numbered(gathered(batches), partition), everything=True)

    def _routed(
        self, batches: Iterable[pa.RecordBatch], everything: bool
    ) -> Iterator[pa.RecordBatch]:
        by = self._version(sharded=True)
        like = opened(Version(by.number, shard_folder(by.folder, 0)), self.functions)
        send = Sending(signatures(by.folder), like, self.hidden, self.corrupt, everything)
        for batch in batches:
            yield from send(batch)

    def judged_by_shard(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events with the subscriptions of the shards that they were sent to."""
        by = self._version(sharded=True)
        judges: dict[Path, Judge] = {}
        for batch in gathered(batches):
            for folder, part in by_shard(batch, by.folder):
                if folder not in judges:
                    judges[folder] = self._judge(Version(by.number, folder), part.schema)
                yield from judges[folder](part)

    def merged(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers of all shards to an event in one."""
        yield from merged(batches, self.limit, self.errors, self.listed)

    def _version(self, sharded: bool) -> Version:
        by = version_now(self.index) if self.number is None else resolve(self.index, self.number)
        if is_sharded(by.folder) != sharded:
            raise InputError(f"version {by.number} is placed otherwise; start the stream anew")
        return by

    def _judge(self, by: Version, events: pa.Schema) -> Judge:
        types = {"subscriptions": pa.list_(self.listed), "index_version": pa.int64()}
        fields = [events.field(name) for name in self.keep]
        # What is not said is a text.
        fields += [pa.field(name, types.get(name, pa.string())) for name in self.add]
        matcher = opened(by, self.functions)
        schema = pa.schema(fields)
        return Judge(matcher, by.number, schema, self.hidden, self.limit, self.corrupt, self.errors)
