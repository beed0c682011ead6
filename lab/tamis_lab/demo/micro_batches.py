"""Finished micro-batches, as Spark reports them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tamis_lab.demo.demo_data import day_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_METRICS = "matched"


class Batch(NamedTuple):
    """A finished micro-batch: its number from 1, its days, its counts, and how long it took."""

    number: int
    first: dt.date
    last: dt.date
    events: int
    matches: int
    seconds: float
    version: int

    @property
    def events_per_second(self) -> float:
        """The rate of the whole micro-batch: reading, matching, writing, Spark's bookkeeping."""
        return self.events / self.seconds


def span(batch: Batch) -> str:
    """Return the days of a micro-batch as text."""
    first, last = (f"{day.day} {day:%b}" for day in (batch.first, batch.last))
    return first if first == last else f"{first} to {last}"


def observe_counts(found: DataFrame) -> DataFrame:
    """Have Spark count the rows on their way to the sink, so that nothing is read twice."""
    from pyspark.sql import functions as F

    # Metrics that are dates come back as text.
    day = F.col("month") * 100 + F.col("day")
    return found.observe(
        _METRICS,
        F.count(F.lit(1)).alias("events"),
        F.sum(F.size("subscriptions")).alias("matches"),
        F.min(day).alias("first"),
        F.max(day).alias("last"),
        F.min("index_version").alias("version"),
        F.max("index_version").alias("other"),
    )


def finished_batches(query: StreamingQuery, seen: int) -> Iterator[Batch]:
    """Yield the finished micro-batches, without the first `seen`."""
    for progress in query.recentProgress:
        if progress.batchId >= seen and progress.numInputRows:
            row = progress.observedMetrics[_METRICS]
            assert row.version == row.other, "a micro-batch was matched by two versions"
            yield Batch(
                progress.batchId + 1,
                day_of(*divmod(row["first"], 100)),
                day_of(*divmod(row["last"], 100)),
                row.events,
                row.matches,
                progress.durationMs["triggerExecution"] / 1000,
                row.version,
            )
