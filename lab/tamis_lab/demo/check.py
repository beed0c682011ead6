"""Check the answers of Spark: match a sample again in this process and compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from tamis.matcher import Matcher
from tamis.schema import Schema
from tamis.spark.index.versions import folder_of
from tamis_lab.demo.demo_data import Alerts
from tamis_lab.demo.demo_job import Folders

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = ("id", "index_version", "subscriptions")

_SEED = 7
# Events that are matched again with the complete index of their version.
_EVENTS = 2000
# Per version, the events and alerts that the oracle evaluates one by one.
_FEW_EVENTS, _FEW_ALERTS = 100, 500


class CheckResult(NamedTuple):
    """The result of the comparison.

    Attributes:
        events: Events matched again by the Matcher of their version.
        different: The events among them whose answers differ; there should be none.
        pairs: Pairs of an event and an alert that the oracle evaluated.
        different_pairs: Events whose answers differ from the oracle's.
    """

    events: int
    different: list[int]
    pairs: int
    different_pairs: list[int]

    @property
    def equal(self) -> bool:
        """Whether all answers agree."""
        return not self.different and not self.different_pairs

    def verdicts(self) -> tuple[str, str]:
        """Return the verdicts as text: against the matchers, and against the oracle."""
        return (
            f"checked {self.events:,} events: {_verdict(self.different)}",
            f"checked {self.pairs:,} pairs of alert and event: {_verdict(self.different_pairs)}",
        )


def _verdict(different: list[int]) -> str:
    return f"NOT EQUAL, events {different[:10]}" if different else "equal"


def check_answers(
    spark: SparkSession,
    events: pa.Table,
    schema: Schema,
    alerts: Mapping[int, Alerts],
    folders: Folders,
) -> CheckResult:
    """Compare a sample of the stream's output; `alerts` holds the alerts of each version."""
    rng = np.random.default_rng(_SEED)
    count = min(_EVENTS, events.num_rows)
    wanted = np.sort(rng.choice(events.num_rows, count, replace=False)).tolist()
    found = (
        spark.read.parquet(str(folders.answers)).where(_id_filter(wanted)).orderBy("id").toArrow()
    )
    rows = list(zip(*(found[name].to_pylist() for name in _COLUMNS), strict=True))
    # Every event once, and no others.
    different = sorted(set(wanted).symmetric_difference(id for id, _, _ in rows))
    if len(rows) != count:
        different = different or [id for id, _, _ in rows]
    different_pairs: list[int] = []
    pairs = 0
    for version, known in alerts.items():
        mine = [(id, sorted(ids)) for id, number, ids in rows if number == version]
        with Matcher.open(folder_of(folders.index, version), read_only=True) as matcher:
            different += differing_events(matcher, mine, events)
        some = rng.choice(len(known), min(_FEW_ALERTS, len(known)), replace=False).tolist()
        listed = list(known.values())
        oracle = Matcher(schema, engine="brute")
        oracle.add_many(listed[place] for place in some)
        few = [(id, [x for x in ids if x in oracle]) for id, ids in mine[:_FEW_EVENTS]]
        different_pairs += differing_events(oracle, few, events)
        pairs += len(few) * len(some)
    return CheckResult(len(rows), different, pairs, different_pairs)


def _id_filter(ids: list[int]) -> str:
    return f"id IN ({', '.join(map(str, ids))})"


def differing_events(
    matcher: Matcher, answers: list[tuple[int, list[str]]], events: pa.Table
) -> list[int]:
    """Return the events whose sorted answers differ from those of a matcher."""
    again = matcher.match_batch(events.take([id for id, _ in answers])).per_event()
    return [id for (id, ids), other in zip(answers, again, strict=True) if ids != sorted(other)]
