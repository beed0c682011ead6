"""An index in shards answers as one in one piece does, and no shard holds all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis import Matcher
from tamis.errors import InputError
from tamis.events import EventBatch
from tamis.spark import backtest, change, compile, match, sequences
from tamis.spark.sharding import is_sharded, shard_folder, signatures
from tamis.spark.versions import resolve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = [
    *((f"eq{n}", f"a = {n} AND b > {n % 5}", n % 4) for n in range(120)),
    *((f"in{n}", f"s IN ('x{n}', 'y{n}') OR a = {n + 50}", 0) for n in range(40)),
    *((f"wide{n}", f"b > {n} AND b < {n + 3}", 1) for n in range(25)),
    ("missing", "s IS NULL", 0),
]
COLUMNS = "id string, selector string, priority int"
EVENTS = (
    "SELECT id, id % 110 AS a, CAST(id % 30 AS INT) AS b, "
    "IF(id % 7 = 0, NULL, concat(IF(id % 2 = 0, 'x', 'y'), id % 45)) AS s FROM range(400)"
)


def test_shards_answer_as_the_whole(spark: SparkSession, tmp_path: Path) -> None:
    bad = [("bad", "a = = 1", 0), ("eq1", RULES[1][1], 1), ("none", None, 0)]
    rows = spark.createDataFrame([*RULES, *bad], COLUMNS)
    done = compile(rows, tmp_path / "index", placement="shard", shard_size=40)
    assert (done.version, done.subscriptions, done.rejected) == (1, len(RULES), 3)
    folder = resolve(tmp_path / "index").folder
    assert is_sharded(folder)
    shards = len(signatures(folder).blooms)
    assert shards >= 5
    held = []
    for shard in range(shards):
        with Matcher.open(shard_folder(folder, shard), read_only=True) as matcher:
            held += list(matcher)
            assert len(matcher) < len(RULES) / 2
    assert len(held) == len(set(held)) == len(RULES)
    everything = [bloom is None for bloom in signatures(folder).blooms]
    assert any(everything) and not all(everything)  # those without a cover are apart
    events = spark.sql(EVENTS).repartition(3)
    matcher = Matcher()
    matcher.add_many(RULES)
    expected = {
        (row["id"], id) for row in events.toArrow().to_pylist() for id in matcher.match(row)
    }
    found = match(events, tmp_path / "index", keep=["id"], hide=["id"]).collect()
    assert {(row.id, row.subscription) for row in found} == expected
    assert len(found) == len(expected) > 1000


def test_an_event_goes_only_where_it_must(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame([(f"r{n}", f"a = {n}", 0) for n in range(200)], COLUMNS)
    compile(rules, tmp_path / "index", placement="shard", shard_size=20)
    routes = signatures(resolve(tmp_path / "index").folder)
    wanted = routes.wanted(EventBatch.of([{"a": n} for n in range(400)]))
    assert wanted.shape[0] == 10
    assert wanted[:, :200].sum(axis=0).min() >= 1
    assert wanted[:, :200].sum(axis=0).mean() < 1.5
    assert wanted[:, 200:].sum() < 50


def test_a_stream_of_an_index_in_shards(spark: SparkSession, tmp_path: Path) -> None:
    compile(
        spark.createDataFrame(RULES, COLUMNS), tmp_path / "index", placement="shard", shard_size=60
    )
    spark.sql(EVENTS).write.parquet(str(tmp_path / "events"))
    events = spark.readStream.schema("id long, a long, b int, s string").parquet(
        str(tmp_path / "events")
    )
    query = (
        match(events, tmp_path / "index", keep=["id"], hide=["id"])
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(tmp_path / "out"))
    )
    query.awaitTermination()
    found = {(r.id, r.subscription) for r in spark.read.parquet(str(tmp_path / "out")).collect()}
    again = match(spark.sql(EVENTS), tmp_path / "index", hide=["id"]).collect()
    assert found == {(row.id, row.subscription) for row in again}
    assert len(found) > 1000


def test_unreadable_events_are_set_aside_once(spark: SparkSession, tmp_path: Path) -> None:
    compile(
        spark.createDataFrame(RULES, COLUMNS), tmp_path / "all", placement="shard", shard_size=20
    )
    narrow = [rule for rule in RULES if rule[0].startswith("eq")]
    compile(
        spark.createDataFrame(narrow, COLUMNS), tmp_path / "eq", placement="shard", shard_size=20
    )
    lines = ['{"a": 3, "b": 9}', "not json", '{"a": "x"}']
    (tmp_path / "events.json").write_text("\n".join(lines))
    events = spark.read.json(
        str(tmp_path / "events.json"),
        "a int, b int, broken string",
        columnNameOfCorruptRecord="broken",
    )
    for index in ("all", "eq"):  # with shards that see everything, and without
        found = match(events, tmp_path / index, corrupt="broken").collect()
        assert sorted(row.broken for row in found if row.error) == ["not json", '{"a": "x"}']
        assert "eq3" in {row.subscription for row in found}


def test_what_shards_cannot_do(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame(RULES, COLUMNS)
    compile(rules, tmp_path / "index", placement="shard", shard_size=60)
    events = spark.sql(EVENTS)
    with pytest.raises(InputError, match="pairs"):
        match(events, tmp_path / "index", form="lists")
    with pytest.raises(InputError, match="compile it"):
        change(rules.selectExpr("'add' AS change", "*"), tmp_path / "index")
    with pytest.raises(InputError, match="backtested"):
        backtest(events, tmp_path / "index", tmp_path / "index")
    with pytest.raises(InputError, match="sequences"):
        sequences(events, tmp_path / "index", time="a")
    with pytest.raises(InputError, match="placement"):
        compile(rules, tmp_path / "index", placement="somewhere")
