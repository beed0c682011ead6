"""Spark reads a broker's streams by sequence, and publishes into them once."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("nats", reason="pip install 'tamis[broker]'")
pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")

from pyspark.errors import AnalysisException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

import tamis
from tamis.broker.client.loop_thread import LoopThread
from tamis.broker.config.settings import Settings
from tamis.broker.protocol.names import Names
from tamis.errors import InputError
from tests.broker.conftest import Nats, brokering, prefix, shared_nats
from tests.soak import only_in_soak, record
from tests.spark.job_kills import KilledStream
from tests.spark.sources.broker_job import ROWS, matches
from tests.spark.sources.broker_streams import prepared, published, purged, stored

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["prefix", "shared_nats"]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = [
    *((f"a{n}", f"a = {n}", n) for n in range(7)),
    ("low", "b < 10", 1),
    ("named", "name LIKE 'x%' AND a > 2", 0),
    ("absent", "name IS NULL", 5),
]


def events(many: int) -> list[dict[str, object]]:
    draw = random.Random(many)
    made = []
    for n in range(many):
        event: dict[str, object] = {"n": n, "a": draw.randrange(8), "b": draw.randrange(500) / 10}
        if draw.random() < 0.7:
            event["name"] = draw.choice("xyz") + str(n)
        made.append(event)
    return made


def expected(made: list[dict[str, object]]) -> Counter[tuple[object, str]]:
    matcher = tamis.Matcher()
    matcher.add_many(RULES)
    return Counter((event["n"], str(id)) for event in made for id in matcher.match(event))


# -- offsets, without a session -------------------------------------------------------------------


Reader = Callable[..., Any]


@pytest.fixture
def reader(shared_nats: Nats, prefix: str) -> Any:
    """Create readers as a query does, over a stream of ten events."""
    from tamis.spark.sources.data_source import TamisSource

    prepared(shared_nats.url, prefix, backlog=5)
    published(shared_nats.url, prefix, ({"n": n} for n in range(10)))
    made: list[Any] = []

    def make(**options: str) -> Any:
        options = {"url": shared_nats.url, "prefix": prefix} | options
        made.append(TamisSource(options).streamReader(None))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def rows(reader: Any, start: dict[str, int], end: dict[str, int]) -> list[list[int]]:
    """Return the sequences that each partition reads."""
    return [
        [n for batch in reader.read(span) for n in batch["sequence"].to_pylist()]
        for span in reader.partitions(start, end)
    ]


def test_offsets_are_sequences(reader: Reader, shared_nats: Nats, prefix: str) -> None:
    query = reader(rowsPerBatch="4")
    start = query.initialOffset()
    assert start["sequence"] == 1
    limit = query.getDefaultReadLimit()
    assert limit == ReadMaxRows(4)
    ends = [start]
    while (end := query.latestOffset(ends[-1], limit)) != ends[-1]:
        ends.append(end)
    assert [end["sequence"] for end in ends] == [1, 5, 9, 11]
    assert rows(query, ends[0], ends[1]) == [[1, 2, 3, 4]]
    assert rows(query, ends[2], ends[3]) == [[9, 10]]
    assert rows(query, ends[3], ends[3]) == []
    assert query.latestOffset(start, ReadAllAvailable())["sequence"] == 11
    query.prepareForTriggerAvailableNow()
    published(shared_nats.url, prefix, [{"n": 10}])
    assert query.latestOffset(ends[3], limit) == ends[3]
    assert reader().latestOffset(ends[3], limit)["sequence"] == 12
    assert query.reportLatestOffset() == {"sequence": 12}


def test_a_query_starts_at_its_option(reader: Reader, shared_nats: Nats, prefix: str) -> None:
    assert reader(start="latest").initialOffset()["sequence"] == 11
    assert reader(start="7").initialOffset()["sequence"] == 7
    now = datetime.now(UTC).isoformat()
    assert reader(start=now).initialOffset()["sequence"] == 11
    late = reader(start="latest")
    start = late.initialOffset()
    published(shared_nats.url, prefix, [{"n": 10}, {"n": 11}])
    assert reader(start=now).initialOffset()["sequence"] == 11
    assert reader(start="2020-01-01T00:00:00").initialOffset()["sequence"] == 1
    # Spark calls this again before the first micro-batch; the offset must not have moved.
    assert late.initialOffset() == start
    end = late.latestOffset(start, ReadMaxRows(100))
    assert rows(late, start, end) == [[11, 12]]
    # After a crash in the first micro-batch Spark has only its end, and asks for the start again.
    again = reader(start="latest", partitions="3")
    moved = again.initialOffset()
    assert moved["sequence"] == 13 and rows(again, moved, end) == [[11, 12]]


def test_a_repeated_micro_batch_has_the_same_partitions(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.spark.sources.broker_source._LEAST", 2)
    query = reader(partitions="3")
    start = query.initialOffset()
    end = query.latestOffset(start, ReadMaxRows(9))
    assert rows(query, start, end) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert rows(reader(partitions="1"), start, end) == rows(query, start, end)
    assert query.latestOffset(start, ReadMaxRows(3))["parts"] == 2


def test_data_loss_is_reported(
    reader: Reader, shared_nats: Nats, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    query, lax = reader(), reader(failOnDataLoss="false")
    start = query.initialOffset()
    end = query.latestOffset(start, ReadMaxRows(100))
    (span,) = query.partitions(start, end)
    purged(shared_nats.url, Names(prefix).event_stream, 4)
    for reading in (lambda: query.partitions(start, end), lambda: list(query.read(span))):
        with pytest.raises(InputError, match="events from 1 to 3 are gone, or may be, unread;"):
            reading()
    assert not caplog.records
    assert rows(lax, start, end) == [[4, 5, 6, 7, 8, 9, 10]]
    assert "events from 1 to 3 are gone" in caplog.text
    assert reader().initialOffset()["sequence"] == 4
    beyond = {"sequence": 12, "from": 1, "parts": 1}
    with pytest.raises(InputError, match="ends at 10, but 11 was read: it was created again"):
        query.latestOffset(beyond, ReadMaxRows(100))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"what": "matches"}, "what: must be events or deliveries, not 'matches'"),
        (
            {"what": "deliveries"},
            "subscriber: must be used together with option('what', 'deliveries')",
        ),
        (
            {"subscriber": "ann"},
            "subscriber: must be used together with option('what', 'deliveries')",
        ),
        (
            {"what": "deliveries", "subscriber": "a.b"},
            "subscriber: a subscriber must be 1 to 64 letters, digits, - or _, not 'a.b'",
        ),
        ({"prefix": "a b"}, "prefix: a prefix must be 1 to 64 letters"),
        ({"start": "soon"}, "start: must be earliest, latest, a sequence or a time such as"),
        ({"start": "0"}, "start: must be 1 or more, not 0"),
        ({"end": "5"}, "end: is for tables"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss: must be true or false, not 'maybe'"),
        ({"tokn": "x"}, "tokn: unknown option; did you mean 'token'?"),
        ({"rowsPerBatch": "0"}, "rowsPerBatch: must be 1 or more, not 0"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], message: str) -> None:
    from tamis.spark.sources.data_source import TamisSource

    with pytest.raises(InputError) as caught:
        TamisSource({"url": "nats://127.0.0.1:1"} | options).streamReader(None)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ("price double", {}, "there is no column event, which is JSON; F.to_json(F.struct('*'))"),
        ("event string, price double", {}, "'price' is not event, id or ttl"),
        ("event string, ttl string", {}, "ttl is string, not numeric"),
        ("event double", {}, "event is double, not string or binary"),
        ("event string", {"writer": "me"}, "writer: is for tables"),
        ("event string", {"start": "1"}, "start: unknown option"),
    ],
)
def test_invalid_rows_are_refused(columns: str, options: dict[str, str], message: str) -> None:
    from tamis.spark.sources.data_source import TamisSource

    schema = StructType()
    for column in columns.split(", "):
        schema.add(*column.split())
    with pytest.raises(InputError) as caught:
        TamisSource({"url": "nats://127.0.0.1:1"} | options).streamWriter(schema, False)
    assert message in str(caught.value)
    with pytest.raises(
        InputError, match="published events cannot be overwritten: use the mode append"
    ):
        TamisSource({"url": "nats://127.0.0.1:1"}).writer(schema, True)


# -- with Spark -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    from tamis.spark.sources.data_source import TamisSource

    spark.dataSource.register(TamisSource)
    return spark


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tamis.spark import compile

    folder = tmp_path_factory.mktemp("rules") / "index"
    rows = spark.createDataFrame(RULES, "id string, selector string, priority int")
    assert compile(rows, folder, parts=1).rejected == 0
    return folder


def test_events_are_matched_from_broker_to_broker(
    source: SparkSession, index: Path, shared_nats: Nats, prefix: str, tmp_path: Path
) -> None:
    """A subscriber of the second broker gets deliveries, which Spark reads too."""
    url, target = shared_nats.url, f"{prefix}-to"
    made = events(150)
    prepared(url, prefix)
    published(url, prefix, made)
    loop = LoopThread()
    # NATS forgets ids at once, so repeats are recognised by the stored messages only.
    broker = brokering(url, Settings(prefix=target, dedupe=0.1))
    loop.run(broker.__aenter__())
    try:
        with tamis.connect(url, "ann", prefix=target) as ann:
            ann.subscribe("subscription = 'low' AND n >= 50", id="some", priority=3)
            for turn in range(2):
                stream = source.readStream.format("tamis").options(
                    url=url, prefix=prefix, rowsPerBatch=100
                )
                query = (
                    matches(stream.load(), index)
                    .writeStream.format("tamis")
                    .options(url=url, prefix=target, checkpointLocation=str(tmp_path / "state"))
                    .trigger(availableNow=True)
                    .start()
                )
                query.awaitTermination(120)
                assert query.exception() is None
                sizes = [each["numInputRows"] for each in query.recentProgress]
                assert sizes == ([100, 50] if turn == 0 else [50])
                found = stored(url, target)
                pairs = Counter((row["n"], row["subscription"]) for row in found)
                assert pairs == expected(made)
                assert all(row["sequence"] == row["n"] + 1 for row in found)
                # As if it had been killed before it could record that it was done.
                for name in ("1", ".1.crc"):
                    (tmp_path / "state" / "commits" / name).unlink()
            wanted = [row for row in found if row["subscription"] == "low" and row["n"] >= 50]
            got = [message.event for message in ann.messages(limit=len(wanted), timeout=20)]
            assert got == wanted and wanted
    finally:
        loop.run(broker.__aexit__(None, None, None))
        loop.end()
    table = source.read.format("tamis").options(
        url=url, prefix=target, what="deliveries", subscriber="ann"
    )
    rows = table.load().orderBy("delivery").collect()
    assert [json.loads(row.event) for row in rows] == wanted
    assert {(tuple(row.subscriptions), row.priority, row.left_out) for row in rows} == {
        (("some",), 3, 0)
    }
    assert [found[row.sequence - 1] for row in rows] == wanted


def test_tables_are_read_and_written(
    source: SparkSession, shared_nats: Nats, prefix: str, tmp_path: Path
) -> None:
    url = shared_nats.url
    prepared(url, prefix, dedupe=0.1)
    rows = source.range(40).selectExpr("to_json(struct(id AS n)) AS event").repartition(2)
    for _ in range(2):  # the same writer, again
        sink = rows.write.format("tamis").options(url=url, prefix=prefix, writer="importer")
        sink.mode("append").save()
    assert sorted(row["n"] for row in stored(url, prefix)) == list(range(40))
    published(url, prefix, [b"\xff", '{"n": "é"}'])
    table = source.read.format("tamis").options(url=url, prefix=prefix)
    found = table.load().collect()
    assert sorted(row.sequence for row in found) == list(range(1, 43))
    assert {row.sequence: row.event for row in found[40:]} == {41: None, 42: '{"n": "é"}'}
    assert {row.subject for row in found} == {
        f"{prefix}.events", f"{prefix}.events.importer.0", f"{prefix}.events.importer.1"
    }  # fmt: skip
    assert all((datetime.now() - row.time).total_seconds() < 600 for row in found)
    some = table.options(start="41", end="42").load()
    assert [row.sequence for row in some.collect()] == [41]
    with pytest.raises(AnalysisException, match=r"omit \.schema"):
        table.schema("n long").load().collect()


@only_in_soak  # test_exactly_once.py has a kill
def test_a_job_killed_at_random_times_publishes_once(
    source: SparkSession, index: Path, tmp_path: Path
) -> None:
    kills, many = 20, 6000
    draw = random.Random(20260301)
    (tmp_path / "index").symlink_to(index)
    (tmp_path / "nats").mkdir()
    nats = Nats(tmp_path / "nats")
    try:
        for each in ("from", "to"):
            prepared(nats.url, each)
        made = events(many)
        published(nats.url, "from", made)
        stream = KilledStream(tmp_path, "tests.spark.sources.broker_job", nats.url)
        try:
            for target in sorted(draw.randrange(1, many // ROWS - 2) for _ in range(kills)):
                stream.kill_at(target, draw)
            stream.wait(tmp_path / "done")
        finally:
            stream.end()
        found = Counter((row["n"], row["subscription"]) for row in stored(nats.url, "to"))
    finally:
        nats.kill()
    assert stream.kills == kills
    wanted = expected(made)
    lost, extra = wanted - found, found - wanted
    assert not lost and not extra, (lost, extra)
    record(
        "spark-broker-kills",
        kills=stream.kills,
        in_flight=stream.in_flight,
        events=many,
        published=found.total(),
        differences=lost.total() + extra.total(),
    )
