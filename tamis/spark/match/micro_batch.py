"""The micro-batch and the query of a task."""

from __future__ import annotations

from typing import NamedTuple

_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


class MicroBatch(NamedTuple):
    """A micro-batch; the id of a query is the same after a restart from its checkpoint."""

    query: str
    number: int


def micro_batch() -> MicroBatch | None:
    """Return the micro-batch of this task; None if it does not belong to a stream."""
    from pyspark import TaskContext

    context = TaskContext.get()
    query = context.getLocalProperty(_QUERY) if context else None
    batch = context.getLocalProperty(_BATCH) if context else None
    return None if query is None or batch is None else MicroBatch(query, int(batch))
