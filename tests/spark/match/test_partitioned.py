"""Partitioned folders (`day=…/`): the values in the path are attributes like any other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis.spark import compile, match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# Of (n, day, shop): n is in the files, the day and the shop in their paths.
RULES = [
    ("second", "day = DATE '2026-03-02' AND n > 5"),
    ("late", "day >= DATE '2026-03-02'"),
    ("shop", "shop = 'b c' AND n < 8"),
    ("nowhere", "shop IS NULL"),
]
EVENTS = [
    (n, f"2026-03-0{n % 3 + 1}", (None, "a", "b c", "d=/%")[n % 4])  # a path must escape these
    for n in range(24)
]
SCHEMA = "n long, day date, shop string"


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("partitioned")
    compile(spark.createDataFrame(RULES, "id string, selector string"), folder / "index")
    frame = spark.createDataFrame(EVENTS, "n long, day string, shop string")
    frame.write.partitionBy("day", "shop").parquet(str(folder / "events"))
    assert (folder / "events" / "day=2026-03-01").is_dir()
    return folder


def _found(frame: DataFrame) -> list[tuple[int, str, str | None, str]]:
    return sorted(
        ((row.n, str(row.day), row.shop, row.subscription) for row in frame.collect()), key=str
    )


def _expected() -> list[tuple[int, str, str | None, str]]:
    def satisfied(n: int, day: str, shop: str | None) -> dict[str, bool]:
        return {
            "second": day == "2026-03-02" and n > 5,
            "late": day >= "2026-03-02",
            "shop": shop == "b c" and n < 8,
            "nowhere": shop is None,
        }

    pairs = [(*event, id) for event in EVENTS for id, yes in satisfied(*event).items() if yes]
    return sorted(pairs, key=str)


def test_partition_columns_of_a_table_are_attributes(spark: SparkSession, folder: Path) -> None:
    events = spark.read.parquet(str(folder / "events"))
    found = match(events, folder / "index")
    assert dict(found.dtypes)["day"] == "date"
    assert _found(found) == _expected()


def test_a_table_may_hold_some_of_the_partitions(spark: SparkSession, folder: Path) -> None:
    events = spark.read.parquet(str(folder / "events")).where("day = '2026-03-02'")
    found = match(events, folder / "index")
    assert _found(found) == [row for row in _expected() if row[1] == "2026-03-02"]


def test_partition_columns_of_a_stream_are_attributes(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    events = spark.readStream.schema(SCHEMA).parquet(str(folder / "events"))
    query = (
        match(events, folder / "index")
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .partitionBy("day")
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    assert (
        _found(spark.read.schema(SCHEMA + ", subscription string").parquet(str(tmp_path / "out")))
        == _expected()
    )
