"""The data source: tables and streams hold the workload's own events, each once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tamis_lab.workloads.workload_catalogue import workload_by_name

from tests.soak import SOAK, count, only_in_soak

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamReader, DataStreamWriter

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    """A session with the data source registered."""
    from tamis.spark.sources.data_source import TamisSource

    spark.dataSource.register(TamisSource)
    return spark


def read(source: SparkSession, **options: object) -> DataFrame:
    return source.read.format("tamis").options(**options).load()


def stream(source: SparkSession, **options: object) -> DataStreamReader:
    return source.readStream.format("tamis").options(**options)


def to_files(frame: DataFrame, folder: Path) -> DataStreamWriter:
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    return writer.option("checkpointLocation", str(folder / "checkpoint"))


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bdd2001", "nulls", "texts"])
def test_a_table_holds_the_events_in_order(source: SparkSession, name: str) -> None:
    frame = read(source, workload=name, rows=2500, seed=7, partitions=3)
    assert (
        frame.toArrow()
        .cast(workload_by_name(name).schema)
        .equals(workload_by_name(name, 7).table(0, 2500))
    )
    assert frame.rdd.getNumPartitions() == 3


def test_many_rows_are_drawn_in_turns_and_come_in_order(source: SparkSession) -> None:
    frame = read(source, workload="selective", rows=250_000, partitions=2)
    assert (
        frame.toArrow()
        .cast(workload_by_name("selective").schema)
        .equals(workload_by_name("selective").table(0, 250_000))
    )


def test_many_columns_and_few_rows(source: SparkSession) -> None:
    frame = read(source, workload="bloom2008", rows=2, partitions=5)
    assert len(frame.columns) == 1000
    expected = workload_by_name("bloom2008").workload.events(2).rows()
    found = [row.asDict() for row in frame.collect()]
    assert [{k: v for k, v in row.items() if v is not None} for row in found] == expected
    assert read(source, workload="bloom2008", rows=0).count() == 0


def test_nested_attributes_of_flights_can_be_queried(source: SparkSession) -> None:
    """A soak reads all rows, by leaving out `rows`."""
    many = count(40_000, 336_776)
    frame = read(source, workload="flights", **({} if SOAK else {"rows": many}))
    table = workload_by_name("flights").table(0, many)
    assert frame.count() == table.num_rows
    delayed = frame.where(
        "to.name LIKE 'San Diego%' AND arr_delay - dep_delay > 60 AND from.lat > 40"
    )
    ids = [row.id for row in delayed.select("id").collect()]
    expected = [
        event["id"]
        for event in table.select(["id", "to", "arr_delay", "dep_delay"]).to_pylist()
        if event["to"] and event["to"]["name"].startswith("San Diego")
        and event["arr_delay"] is not None and event["arr_delay"] - event["dep_delay"] > 60
    ]  # fmt: skip
    assert sorted(ids) == expected and expected
    some = frame.where("id BETWEEN 20000 AND 20020").toArrow().sort_by("id")
    assert some.cast(table.schema).to_pylist() == table.slice(20_000, 21).to_pylist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "url: is missing: set option('url', 'nats://127.0.0.1:4222'), or 'workload'"),
        ({"workload": "flihgts"}, "unknown workload 'flihgts'; did you mean 'flights'?"),
        ({"workload": "selective"}, "is unlimited; set a number of rows"),
        ({"workload": "selective", "row": 5}, "row: unknown option; did you mean 'rows'?"),
        ({"workload": "selective", "rows": "many"}, "rows: must be a whole number, not 'many'"),
        ({"workload": "selective", "rows": -1}, "rows: must be 0 or more, not -1"),
        ({"workload": "selective", "rows": 1, "partitions": 0}, "partitions: must be 1 or more"),
        ({"workload": "flights", "rows": 336_777}, "flights has 336,776 events, not 336,777"),
    ],
)
def test_invalid_options_are_refused_with_a_reason(
    source: SparkSession, options: dict[str, object], message: str
) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as caught:
        read(source, **options).count()
    assert message in str(caught.value)


# -- streams --------------------------------------------------------------------------------------


@only_in_soak
def test_a_stream_that_is_stopped_twice_gives_every_row_once(
    source: SparkSession, tmp_path: Path
) -> None:
    options = {"workload": "flights", "rows": 12_000, "rowsPerBatch": 1000, "partitions": 3}
    columns = ["id", "time", "tailnum", "to"]  # enough to tell, and few to write
    for _ in range(2):
        frame = stream(source, **options).load().select(columns)
        query = to_files(frame, tmp_path).trigger(processingTime="0 seconds").start()
        before = query.lastProgress
        while query.isActive and query.lastProgress == before:
            query.awaitTermination(0.2)
        query.stop()  # in the middle of some batch
        assert query.exception() is None
    stopped_at = source.read.parquet(str(tmp_path / "out")).count()
    assert 0 < stopped_at < 12_000
    frame = stream(source, **options).load().select(columns)
    query = to_files(frame, tmp_path).trigger(availableNow=True).start()
    query.awaitTermination(120)
    assert query.exception() is None
    rows = source.read.parquet(str(tmp_path / "out")).toArrow().sort_by("id")
    expected = workload_by_name("flights").table(0, 12_000).select(columns)
    assert rows.cast(expected.schema).equals(expected)
    sizes = [progress["numInputRows"] for progress in query.recentProgress]
    assert len(sizes) > 2 and max(sizes) <= 1000


def test_a_stream_without_end_goes_on_where_it_was(source: SparkSession, tmp_path: Path) -> None:
    for runs in range(1, count(2, 3) + 1):
        frame = stream(source, workload="selective", rowsPerBatch=100, seed=3).load()
        query = to_files(frame, tmp_path).trigger(availableNow=True).start()
        query.awaitTermination(60)
        assert query.exception() is None
        rows = source.read.parquet(str(tmp_path / "out")).toArrow()
        expected = workload_by_name("selective", 3).table(0, 100 * runs)
        by_all = [(name, "ascending") for name in expected.column_names]
        assert rows.cast(expected.schema).sort_by(by_all).equals(expected.sort_by(by_all))


def test_a_batch_that_is_run_again_gives_the_same_rows(
    source: SparkSession, tmp_path: Path
) -> None:
    seen: list[list[object]] = []

    def failing(frame: DataFrame, batch: int) -> None:
        seen.append(sorted(row.asDict()["i1"] for row in frame.collect()))
        if len(seen) == 2:
            raise RuntimeError("lost")

    for _ in range(2):
        frame = stream(source, workload="bdd2001", rows=300, rowsPerBatch=100).load()
        query = (
            frame.writeStream.foreachBatch(failing)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination(60)
        except Exception as error:
            assert "lost" in str(error)
    rows = workload_by_name("bdd2001").table(0, 300)["i1"].to_pylist()
    first, second, third = (sorted(rows[start : start + 100]) for start in (0, 100, 200))
    assert seen == [first, second, second, third]


def test_offsets_go_forward_and_stop_at_the_end() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

    from tamis.spark.sources.data_source import TamisSource

    def reader(**options: str):
        return TamisSource({"workload": "selective", **options}).streamReader(None)

    ending = reader(rows="250", rowsPerBatch="100", partitions="3")
    limit = ending.getDefaultReadLimit()
    assert limit == ReadMaxRows(100) and ending.initialOffset() == {"event": 0}
    assert ending.latestOffset({"event": 0}, limit) == {"event": 100}
    assert ending.latestOffset({"event": 200}, limit) == {"event": 250}
    assert ending.latestOffset({"event": 250}, limit) == {"event": 250}
    assert ending.latestOffset({"event": 400}, limit) == {"event": 400}
    assert ending.latestOffset({"event": 0}, ReadAllAvailable()) == {"event": 250}
    assert reader().latestOffset({"event": 5}, ReadAllAvailable()) == {"event": 10_005}
    spans = ending.partitions({"event": 100}, {"event": 200})
    assert [(span.start, span.stop) for span in spans] == [(100, 133), (133, 166), (166, 200)]
    assert ending.partitions({"event": 250}, {"event": 250}) == []
