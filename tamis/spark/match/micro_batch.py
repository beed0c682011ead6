"""Which micro-batch of which query a task is part of."""

from __future__ import annotations

from typing import NamedTuple

_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


class MicroBatch(NamedTuple):
    """A micro-batch; the query has the same id again after a restart from its checkpoint."""

    query: str
    number: int


def micro_batch() -> MicroBatch | None:
    """The one that this task is part of; None if it is of no stream."""
    from pyspark import TaskContext

    context = TaskContext.get()
    query = context.getLocalProperty(_QUERY) if context else None
    batch = context.getLocalProperty(_BATCH) if context else None
    return None if query is None or batch is None else MicroBatch(query, int(batch))
