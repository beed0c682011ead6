"""Publish the rows of a table or a stream as events: exactly once, also when a task runs again.

    df.writeStream.format("tamis").option("url", …).option("checkpointLocation", …).start()

Tasks publish with ids made of the query, the micro-batch, the partition and the content of the row;
`tamis.broker.client.resumable_batch` skips what is stored already. So there is nothing to commit
and nothing to undo: Spark may abort a micro-batch that is already published, and then runs it
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import BinaryType, NumericType, StringType, StructType

from tamis.broker.client.broker_access import BrokerWriter, ConnectionSettings
from tamis.broker.client.resumable_batch import OutgoingEvent
from tamis.broker.protocol.names import checked_name
from tamis.errors import BrokerError, InputError
from tamis.spark.match.micro_batch import micro_batch
from tamis.spark.sources.broker_source import REACH, reach_of
from tamis.spark.sources.source_options import Options

# Spark passes its own options too.
_OPTIONS = (*REACH, "writer", "checkpointLocation", "path", "queryName")
_COLUMNS = {
    "event": (StringType, BinaryType),
    "id": (StringType,),
    "ttl": (NumericType,),
}


def writer(options: Mapping[str, str], schema: StructType, overwrite: bool) -> _BrokerWriter:
    """Return the writer for `df.write`."""
    given = _check_options(options, schema, overwrite)
    name = given.text("writer")
    try:
        name = checked_name(name, "writer") if name is not None else f"spark-{uuid4().hex}"
    except BrokerError as error:
        raise InputError(error.reason, "writer") from None
    return _BrokerWriter(reach_of(given), name)


def stream_writer(
    options: Mapping[str, str], schema: StructType, overwrite: bool
) -> _BrokerStreamWriter:
    """Return the writer for `df.writeStream`."""
    given = _check_options(options, schema, overwrite)
    if given.text("writer") is not None:
        raise InputError("is for tables: a stream is identified by its checkpoint", "writer")
    return _BrokerStreamWriter(reach_of(given))


def _check_options(options: Mapping[str, str], schema: StructType, overwrite: bool) -> Options:
    given = Options(options, _OPTIONS)
    if overwrite:
        raise InputError("published events cannot be overwritten: use the mode append", "mode")
    hint = "F.to_json(F.struct('*')).alias('event') creates one from a row"
    types = {field.name: field.dataType for field in schema.fields}
    if "event" not in types:
        raise InputError(f"there is no column event, which is JSON; {hint}", "columns")
    for name, found in types.items():
        if name not in _COLUMNS:
            raise InputError(
                f"{name!r} is not event, id or ttl: drop it, or put it into the event; {hint}",
                "columns",
            )
        if not isinstance(found, _COLUMNS[name]):
            expected = " or ".join(kind.typeName() for kind in _COLUMNS[name])
            raise InputError(f"{name} is {found.simpleString()}, not {expected}", "columns")
    return given


@dataclass
class PublishCommit(WriterCommitMessage):
    """The result of a task: the number of rows, and how many of them were stored already."""

    rows: int
    repeated: int


class _BrokerWriter(DataSourceArrowWriter):
    def __init__(self, reach: ConnectionSettings, name: str) -> None:
        self._reach = reach
        self._name = name

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PublishCommit:
        return _publish_rows(self._reach, self._name, 0, iterator)


class _BrokerStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, reach: ConnectionSettings) -> None:
        self._reach = reach

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PublishCommit:
        current = micro_batch()
        if current is None:
            raise InputError("Spark does not provide the number of the micro-batch", "spark")
        return _publish_rows(self._reach, f"spark-{current.query}", current.number, iterator)


def _publish_rows(
    reach: ConnectionSettings, name: str, batch: int, iterator: Iterator[pa.RecordBatch]
) -> PublishCommit:
    context = TaskContext.get()
    part = context.partitionId() if context else 0
    with BrokerWriter(reach, name, batch, part) as writing:
        for some in iterator:
            writing.publish(_rows(some))
        return PublishCommit(writing.published_count, writing.repeated_count)


def _rows(batch: pa.RecordBatch) -> list[OutgoingEvent]:
    def column(name: str) -> list[Any]:
        if name not in batch.schema.names:
            return [None] * batch.num_rows
        values = batch.column(name)
        found: list[Any] = (values.cast(pa.binary()) if name == "event" else values).to_pylist()
        return found

    rows = []
    for event, id, ttl in zip(column("event"), column("id"), column("ttl"), strict=True):
        if event is None:
            raise InputError("the event of a row is NULL", "event")
        rows.append(OutgoingEvent(event, id, None if ttl is None else float(ttl)))
    return rows
