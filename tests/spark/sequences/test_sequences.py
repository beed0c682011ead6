"""`tamis.spark.sequences` on tables and streams against a Matcher, in order of time."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tamis import Matcher
from tamis.errors import InputError
from tamis.spark import change, compile, match, sequences
from tamis.spark.sequences.packed_events import RowCodec
from tamis.spark.sequences.step_worker import key_text
from tamis.spark.session import PROVIDER, ROCKSDB
from tamis.values import OPAQUE, Timestamp
from tests.soak import only_in_soak

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    """Return the matches of a matcher that gets all events in order of time, then of arrival."""
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


def test_match_ignores_sequences(spark: SparkSession, index: Path) -> None:
    events = spark.createDataFrame(_made(100, 1), EVENTS)
    found = match(events, index).select("subscription").distinct().collect()
    assert [row.subscription for row in found] == ["up"]


def test_a_table_completes_sequences_as_a_matcher(spark: SparkSession, index: Path) -> None:
    events = _made(1500, 2)
    frame = spark.createDataFrame(events, EVENTS).repartition(5)
    found = sequences(frame, index, time="at", order="n")
    added = ["subscription", "priority", "index_version", "began"]
    assert found.columns == [*frame.columns, *added]
    expected = _expected(events)
    assert _pairs(found) == sorted(expected)
    assert {id for _, id in expected} == {"outage", "thrice", "any", "ever"}
    # The columns are unchanged.
    kept = found.drop(*added).distinct()
    assert kept.exceptAll(frame).isEmpty() and kept.count() == len({n for n, _ in expected})
    assert {(row.subscription, row.priority, row.index_version) for row in found.collect()} == {
        (id, priority, 1) for id, _, priority in RULES if id != "up"
    }
    late = found.where("subscription = 'outage' AND at - began > INTERVAL 60 SECONDS OR began > at")
    assert late.isEmpty()


def test_times_may_be_numbers_of_seconds(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(7, "FIRST a = 1 THEN a = 2 WITHIN 10 SECONDS"), (8, "FIRST a = 2 THEN a = 1")]
    compile(spark.createDataFrame(rows, "id long, selector string"), tmp_path / "index")
    events = [(2, 10), (1, 0), (2, 11), (1, 11), (1, None)]
    frame = spark.createDataFrame(events, "a int, s int")
    found = sequences(frame, tmp_path / "index", time="s").collect()
    # At 11 the event that satisfies the first step comes first, in both.
    expected = [(1, 11, 8, 11), (2, 10, 7, 0), (2, 11, 7, 11)]
    assert sorted((row.a, row.s, row.subscription, row.began) for row in found) == expected
    halves = frame.selectExpr("a", "s / 2D AS s")
    found = sequences(halves, tmp_path / "index", time="s", keep=[]).collect()
    assert sorted((row.subscription, row.began) for row in found) == [(7, 0), (7, 5.5), (8, 5.5)]
    assert sequences(frame.where("a > 5"), tmp_path / "index", time="s").isEmpty()


def _put(spark: SparkSession, folder: Path, events: list[Event]) -> None:
    frame = spark.createDataFrame(events, EVENTS).coalesce(1)
    frame.write.mode("append").parquet(str(folder / "events"))


def _run(spark: SparkSession, index: Path, folder: Path) -> int:
    """Process the files one at a time, from the checkpoint; return the rows of state."""
    source = spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1)
    events = source.parquet(str(folder / "events"))
    query = (
        sequences(events, index, time="at", watermark="30 seconds", order="n")
        .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"))
    )
    query.awaitTermination()
    rows: int = query.lastProgress.stateOperators[0].numRowsTotal
    return rows


def _shuffled(events: list[Event], seed: int) -> list[Event]:
    """Return events out of order, by less than the watermark allows."""
    chance = random.Random(seed)
    delays = [
        (event[1] or _START) + dt.timedelta(seconds=chance.uniform(0, 25)) for event in events
    ]
    return [event for _, event in sorted(zip(delays, events, strict=True), key=lambda x: x[0])]


def _nothing(n: int, seconds: int) -> Event:
    """Return an event that satisfies no step and advances the watermark."""
    return (n, _START + dt.timedelta(seconds=seconds), "z", "?", 5, None)


@only_in_soak
def test_a_stream_completes_sequences_as_a_matcher(
    spark: SparkSession, index: Path, tmp_path: Path
) -> None:
    events = _made(600, 3)
    arriving = _shuffled(events, 4)
    assert arriving != events
    for half in (arriving[:300], arriving[300:]):
        _put(spark, tmp_path, half[:150])
        _put(spark, tmp_path, half[150:])
        assert _run(spark, index, tmp_path) > 3
    for hour in (3, 4):
        _put(spark, tmp_path, [_nothing(1000 + hour, 3600 * hour)])
    # States with a WITHIN have expired; "ever" has none, and a state for each of three keys.
    assert _run(spark, index, tmp_path) == 3
    out, expected = spark.read.parquet(str(tmp_path / "out")), _expected(events)
    assert _pairs(out) == sorted(expected)
    assert {id for _, id in expected} == {"outage", "thrice", "any", "ever"}
    table = sequences(spark.createDataFrame(events, EVENTS), index, time="at", order="n")
    assert out.exceptAll(table).isEmpty()


def test_late_events_are_dropped_and_changed_sequences_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    rule = "FIRST status = 'down' THEN status = 'up' WITHIN {} SECONDS PER host"
    rows = [("same", rule.format(60)), ("new", rule.format(60)), ("gone", rule.format(60))]
    compile(spark.createDataFrame(rows, "id string, selector string"), index)

    def event(n: int, seconds: int, host: str, status: str) -> Event:
        return (n, _START + dt.timedelta(seconds=seconds), host, status, 0, None)

    _put(spark, tmp_path, [event(0, 0, "a", "down"), event(1, 1000, "b", "down")])
    _run(spark, index, tmp_path)  # the watermark is at 970 then
    changes = [("replace", "new", rule.format(90)), ("remove", "gone", None)]
    change(spark.createDataFrame(changes, "change string, id string, selector string"), index)
    again = [event(4, 1020, "b", "down"), event(5, 1030, "b", "up")]
    _put(spark, tmp_path, [event(2, 10, "a", "up"), event(3, 1010, "b", "up"), *again])
    _put(spark, tmp_path, [_nothing(6, 5000)])
    assert _run(spark, index, tmp_path) == 0
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted((row.n, row.subscription, row.index_version) for row in found) == [
        (3, "same", 2),
        (5, "new", 2),
        (5, "same", 2),
    ]


def test_invalid_calls_are_refused(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    table = spark.createDataFrame([], EVENTS)
    stream = spark.readStream.schema(EVENTS).parquet(str(tmp_path))
    with pytest.raises(InputError, match="no column 'when'"):
        sequences(table, index, time="when")
    with pytest.raises(InputError, match="the time column 'host' must be a timestamp or a number"):
        sequences(table, index, time="host")
    with pytest.raises(InputError, match="the time column 'n' must be a timestamp, not bigint"):
        sequences(stream, index, time="n", watermark="1 second")
    with pytest.raises(InputError, match="the order column 'host' must be of integers, not string"):
        sequences(table, index, time="at", order="host")
    with pytest.raises(InputError, match="already have a column 'began'"):
        sequences(table.withColumnRenamed("load", "began"), index, time="at")
    with pytest.raises(InputError, match="needs a watermark on 'at'"):
        sequences(stream, index, time="at")
    other = spark.newSession()
    other.conf.set(PROVIDER, ROCKSDB.replace("RocksDB", "HDFSBacked"))
    stream = other.readStream.schema(EVENTS).parquet(str(tmp_path))
    with pytest.raises(InputError, match=f"set {PROVIDER} to {ROCKSDB}"):
        sequences(stream.withWatermark("at", "1 second"), index, time="at")


def test_equal_values_have_the_same_key_text() -> None:
    assert key_text(5) == key_text(5.0) != key_text("5")
    assert key_text(0) == key_text(-0.0) != key_text(False)
    assert key_text(2**53 + 1) != key_text(2.0**53) == key_text(2**53)
    assert key_text(float("nan")) == key_text(float("nan")) != key_text("nan")
    assert key_text(float("inf")) != key_text(float("-inf"))
    assert key_text(Timestamp(5)) != key_text(5)
    assert key_text("") != key_text(None) and key_text([1]) is key_text(OPAQUE) is None


def test_events_packed_with_other_columns_are_refused() -> None:
    batch = pa.record_batch({"a": [1, 2], "b": ["x", None]})
    packing = RowCodec(batch.schema)
    packed = packing.pack(batch, [1, 0, 1])
    assert [column.to_pylist() for column in packing.unpack([packed[1], packed[0]])] == [
        [2, 1],
        [None, "x"],
    ]
    with pytest.raises(InputError, match="other columns"):
        RowCodec(pa.schema({"a": pa.int64()})).unpack([packed[0]])
