"""`tamis.spark.sequences`: on tables and on streams the answer of a Matcher, in order of time."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis import Matcher
from tamis.errors import InputError
from tamis.spark import change, compile, match, sequences
from tamis.spark.session import PROVIDER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = [
    ("outage", "FIRST status = 'down' THEN status = 'up' WITHIN 60 SECONDS PER host", 2),
    ("thrice", "FIRST load > 7 THEN load > 7 THEN load > 7 WITHIN 100 SECONDS PER host", 0),
    ("any", "FIRST load = 9 THEN status = 'up' AND load < 3 WITHIN 5 SECONDS", 1),
    ("ever", "FIRST load = 0 THEN load = 1 THEN load = 2 PER tag.of", 0),
    ("up", "status = 'up'", 5),
]
EVENTS = "n long, at timestamp, host string, status string, load int, tag struct<of: double>"
_START = dt.datetime(2024, 3, 31, 0, 30)  # half an hour before clocks go forward

Event = tuple[int, dt.datetime | None, str | None, str, int, tuple[float | None] | None]


def _made(count: int, seed: int) -> list[Event]:
    chance = random.Random(seed)
    at, made = 0.0, []
    for n in range(count):
        at += chance.choice([0, 0.000001, 1, 3, 10])
        made.append(
            (
                n,
                None if n % 41 == 40 else _START + dt.timedelta(seconds=at),
                chance.choice(["a", "b", "c", None]),
                chance.choice(["down", "up", "?"]),
                chance.randrange(10),
                chance.choice([None, (None,), (1.0,), (2.5,), (float("nan"),)]),
            )
        )
    return made


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "rules"
    rows = spark.createDataFrame(RULES, "id string, selector string, priority int")
    assert compile(rows, folder).rejected == 0
    return folder


def _expected(events: list[Event]) -> set[tuple[int, str]]:
    """By a matcher that is given all of them in order of time, and else of arrival."""
    matcher = Matcher(time="at")
    matcher.add_many([rule for rule in RULES if rule[0] != "up"])
    names = [part.split()[0] for part in EVENTS.split(", ")]
    rows = [dict(zip(names, event, strict=True)) for event in events]
    for row in rows:
        row["tag"] = row["tag"] and {"of": row["tag"][0]}  # type: ignore[index]
        row["at"] = row["at"] and row["at"].replace(tzinfo=dt.UTC)  # type: ignore[attr-defined]
    found = matcher.match_batch(rows).per_event()
    return {(event[0], id) for event, ids in zip(events, found, strict=True) for id in ids}


def _pairs(frame: DataFrame) -> list[tuple[int, str]]:
    return sorted((row.n, row.subscription) for row in frame.collect())


def test_match_leaves_sequences_alone(spark: SparkSession, index: Path) -> None:
    events = spark.createDataFrame(_made(100, 1), EVENTS)
    found = match(events, index).select("subscription").distinct().collect()
    assert [row.subscription for row in found] == ["up"]


def test_a_table(spark: SparkSession, index: Path) -> None:
    events = _made(1500, 2)
    frame = spark.createDataFrame(events, EVENTS).repartition(5)
    found = sequences(frame, index, time="at", order="n")
    added = ["subscription", "priority", "index_version", "began"]
    assert found.columns == [*frame.columns, *added]
    expected = _expected(events)
    assert _pairs(found) == sorted(expected)
    assert {id for _, id in expected} == {"outage", "thrice", "any", "ever"}
    # The columns come out as they went in.
    kept = found.drop(*added).distinct()
    assert kept.exceptAll(frame).isEmpty() and kept.count() == len({n for n, _ in expected})
    assert {(row.subscription, row.priority, row.index_version) for row in found.collect()} == {
        (id, priority, 1) for id, _, priority in RULES if id != "up"
    }
    late = found.where("subscription = 'outage' AND at - began > INTERVAL 60 SECONDS OR began > at")
    assert late.isEmpty()


def test_a_table_with_numbers_of_seconds(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(7, "FIRST a = 1 THEN a = 2 WITHIN 10 SECONDS"), (8, "FIRST a = 2 THEN a = 1")]
    compile(spark.createDataFrame(rows, "id long, selector string"), tmp_path / "index")
    events = [(2, 10), (1, 0), (2, 11), (1, 11), (1, None)]
    frame = spark.createDataFrame(events, "a int, s int")
    found = sequences(frame, tmp_path / "index", time="s").collect()
    # At 11 the one that satisfies the first step is the first, for either.
    expected = [(1, 11, 8, 11), (2, 10, 7, 0), (2, 11, 7, 11)]
    assert sorted((row.a, row.s, row.subscription, row.began) for row in found) == expected
    halves = frame.selectExpr("a", "s / 2D AS s")
    found = sequences(halves, tmp_path / "index", time="s", keep=[]).collect()
    assert sorted((row.subscription, row.began) for row in found) == [(7, 0), (7, 5.5), (8, 5.5)]
    assert sequences(frame.where("a > 5"), tmp_path / "index", time="s").isEmpty()


def _put(spark: SparkSession, folder: Path, events: list[Event]) -> None:
    frame = spark.createDataFrame(events, EVENTS).coalesce(1)
    frame.write.mode("append").parquet(str(folder / "events"))


def _start(spark: SparkSession, index: Path, folder: Path, **options: object) -> StreamingQuery:
    events = spark.readStream.schema(EVENTS).parquet(str(folder / "events"))
    found = sequences(events, index, time="at", watermark="30 seconds", order="n", **options)  # type: ignore[arg-type]
    return (
        found.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )


def _run(spark: SparkSession, index: Path, folder: Path, **options: object) -> dict[str, int]:
    """What there is now; gives how many rows the state has, and how many were taken."""
    query = _start(spark, index, folder, **options)
    query.awaitTermination()
    progress = query.recentProgress
    states = [one.stateOperators[0] for one in progress if one.stateOperators]
    return {"rows": states[-1].numRowsTotal, "batches": len(progress)}


def _shuffled(events: list[Event], seed: int) -> list[Event]:
    """Out of order, by less than the watermark allows."""
    chance = random.Random(seed)
    delays = [
        (event[1] or _START) + dt.timedelta(seconds=chance.uniform(0, 25)) for event in events
    ]
    return [event for _, event in sorted(zip(delays, events, strict=True), key=lambda x: x[0])]


def _end(n: int, after: list[Event], hours: int = 1) -> Event:
    """An event that satisfies no step, and brings the watermark forward."""
    last = max(event[1] for event in after if event[1] is not None)
    return (n, last + dt.timedelta(hours=hours), "z", "?", 5, None)


def test_a_stream(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    events = _made(600, 3)
    (tmp_path / "events").mkdir()
    arriving = _shuffled(events, 4)
    assert arriving != events
    for start in range(0, 600, 150):  # every run goes on from the checkpoint of the one before
        _put(spark, tmp_path, arriving[start : start + 150])
        held = _run(spark, index, tmp_path)
        assert held["rows"] > 0
    _put(spark, tmp_path, [_end(1000, events)])
    _run(spark, index, tmp_path)
    _put(spark, tmp_path, [_end(1001, events, 2)])
    left = _run(spark, index, tmp_path)
    expected = _expected(events)
    out = spark.read.parquet(str(tmp_path / "out"))
    assert _pairs(out) == sorted(expected)
    assert {id for _, id in expected} == {"outage", "thrice", "any", "ever"}
    # What has a WITHIN is gone; "ever" has none, and three keys.
    assert left["rows"] <= 3
    frame = spark.createDataFrame(events, EVENTS)
    table = sequences(frame, index, time="at", order="n")
    assert out.exceptAll(table).isEmpty()
