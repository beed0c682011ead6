"""Totals over the output of the stream, counted by Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tamis_lab.demo.demo_data import day_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Totals(NamedTuple):
    """Totals over all answers.

    Attributes:
        days: Matches by day, in order.
        versions: Events and matches by version of the index.
        alerts: Matches by alert, without those that never matched.
    """

    days: dict[dt.date, int]
    versions: dict[int, tuple[int, int]]
    alerts: dict[str, int]

    @property
    def events(self) -> int:
        """Number of events."""
        return sum(events for events, _ in self.versions.values())

    @property
    def matches(self) -> int:
        """Number of matches."""
        return sum(matches for _, matches in self.versions.values())

    def top(self, count: int, selector: Callable[[str], str]) -> list[tuple[str, int, str]]:
        """Return the alerts with most matches and their selectors; of equal selectors, one."""
        found: dict[str, tuple[str, int, str]] = {}
        for id, matches in sorted(self.alerts.items(), key=lambda item: (-item[1], item[0])):
            found.setdefault(selector(id), (id, matches, selector(id)))
            if len(found) == count:
                break
        return list(found.values())


def totals(spark: SparkSession, answers: Path) -> Totals:
    """Read the answers and count them."""
    from pyspark.sql import functions as F

    found = spark.read.parquet(str(answers))
    rows = (
        found.groupBy("month", "day", "index_version")
        .agg(F.count(F.lit(1)).alias("events"), F.sum(F.size("subscriptions")).alias("matches"))
        .orderBy("month", "day")
        .collect()
    )
    days: dict[dt.date, int] = {}
    versions: dict[int, tuple[int, int]] = {}
    for row in rows:
        day = day_of(row.month, row.day)
        days[day] = days.get(day, 0) + row.matches
        events, matches = versions.get(row.index_version, (0, 0))
        versions[row.index_version] = events + row.events, matches + row.matches
    alerts = found.select(F.explode("subscriptions").alias("alert")).groupBy("alert").count()
    counted = alerts.toArrow().to_pydict()
    return Totals(days, versions, dict(zip(counted["alert"], counted["count"], strict=True)))
