"""`tamis.spark.match` on streams: rules change while it runs, and no micro-batch mixes versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis.spark import change, compile, match

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COLUMNS = "id string, selector string"
CHANGES = "change string, id string, selector string"


def _put(spark: SparkSession, folder: Path, first: int, last: int) -> None:
    spark.range(first, last, 1, 2).selectExpr("id AS a").write.mode("append").parquet(str(folder))


def _run(spark: SparkSession, tmp_path: Path, **options: object) -> None:
    events = spark.readStream.schema("a long").parquet(str(tmp_path / "events"))
    query = (
        match(events, tmp_path / "index", **options)  # type: ignore[arg-type]
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()


def test_rules_change_while_a_stream_runs(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    compile(spark.createDataFrame([("low", "a < 5"), ("odd", "a % 2 = 1")], COLUMNS), index)
    (tmp_path / "events").mkdir()
    _put(spark, tmp_path / "events", 0, 10)
    events = spark.readStream.schema("a long").parquet(str(tmp_path / "events"))
    query = (
        match(events, index)
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start(str(tmp_path / "out"))
    )
    try:
        query.processAllAvailable()
        rows = [("remove", "odd", None), ("add", "high", "a >= 15")]
        assert change(spark.createDataFrame(rows, CHANGES), index).version == 2
        _put(spark, tmp_path / "events", 10, 20)
        query.processAllAvailable()
    finally:
        query.stop()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = {(a, "low", 1) for a in range(5)} | {(a, "odd", 1) for a in range(1, 10, 2)}
    expected |= {(a, "high", 2) for a in range(15, 20)}
    assert sorted((row.a, row.subscription, row.index_version) for row in found) == sorted(expected)
    # Results are reproducible: match the same events with the version that was used.
    again = match(spark.range(10).selectExpr("id AS a"), index, version=1).collect()
    first = {(row.a, row.subscription) for row in found if row.index_version == 1}
    assert {(row.a, row.subscription) for row in again} == first


def test_a_stream_continues_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    compile(spark.createDataFrame([("all", "a >= 0")], COLUMNS), tmp_path / "index")
    (tmp_path / "events").mkdir()
    for n in range(3):
        _put(spark, tmp_path / "events", 10 * n, 10 * n + 10)
        _run(spark, tmp_path, form="lists")
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.a for row in rows) == list(range(30))
    assert all(row.subscriptions == ["all"] for row in rows)


def test_a_stream_can_use_one_version(spark: SparkSession, tmp_path: Path) -> None:
    for n in (1, 2):
        compile(spark.createDataFrame([("x", f"a = {n}")], COLUMNS), tmp_path / "index")
    (tmp_path / "events").mkdir()
    _put(spark, tmp_path / "events", 0, 5)
    _run(spark, tmp_path, version=1)
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert [(row.a, row.index_version) for row in rows] == [(1, 1)]
