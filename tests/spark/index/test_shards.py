"""An index in shards matches as one without shards, and no shard holds all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tamis_lab.bench import spark_shards

from tamis import Matcher
from tamis.errors import InputError
from tamis.events.batch import EventBatch
from tamis.spark import backtest, change, compile, match, sequences
from tamis.spark.index.shard_files import is_sharded, shard_folder, signatures
from tamis.spark.index.versions import resolve
from tests.soak import SOAK, only_in_soak

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


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules, and three bad ones, in shards."""
    folder = tmp_path_factory.mktemp("shards") / "index"
    bad = [("bad", "a = = 1", 0), ("eq1", RULES[1][1], 1), ("none", None, 0)]
    rows = spark.createDataFrame([*RULES, *bad], COLUMNS)
    done = compile(rows, folder, placement="shard", shard_size=40)
    assert (done.version, done.subscriptions, done.rejected) == (1, len(RULES), 3)
    return folder


@pytest.fixture(scope="module")
def narrow(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules with an equality, in shards of which none gets every event."""
    folder = tmp_path_factory.mktemp("shards") / "narrow"
    rules = [rule for rule in RULES if rule[0].startswith("eq")]
    compile(spark.createDataFrame(rules, COLUMNS), folder, placement="shard", shard_size=20)
    return folder


def test_shards_match_as_one_index(spark: SparkSession, index: Path) -> None:
    folder = resolve(index).folder
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
    assert any(everything) and not all(everything)  # those without a cover have their own shards
    events = spark.sql(EVENTS).repartition(3)
    matcher = Matcher()
    matcher.add_many(RULES)
    expected = {
        (row["id"], id) for row in events.toArrow().to_pylist() for id in matcher.match(row)
    }
    found = match(events, index, keep=["id"], hide=["id"]).collect()
    assert {(row.id, row.subscription) for row in found} == expected
    assert len(found) == len(expected) > 1000


def test_an_event_is_routed_to_candidates_only(narrow: Path) -> None:
    routes = signatures(resolve(narrow).folder)
    wanted = routes.candidate_mask(EventBatch.of([{"a": n} for n in range(240)]))
    assert wanted.shape[0] == 6
    assert wanted[:, :120].sum(axis=0).min() >= 1
    assert wanted[:, :120].sum(axis=0).mean() < 1.5
    assert wanted[:, 120:].sum() < 20


def test_a_stream_is_matched_by_shards(spark: SparkSession, tmp_path: Path, index: Path) -> None:
    spark.sql(EVENTS).write.parquet(str(tmp_path / "events"))
    events = spark.readStream.schema("id long, a long, b int, s string").parquet(
        str(tmp_path / "events")
    )
    streams = {
        form: match(events, index, keep=["id"], hide=["id"], form=form)
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint" / form))
        .trigger(availableNow=True)
        .start(str(tmp_path / form))
        for form in ("pairs", "lists")
    }
    for query in streams.values():
        query.awaitTermination()
    pairs = {(r.id, r.subscription) for r in spark.read.parquet(str(tmp_path / "pairs")).collect()}
    lists = spark.read.parquet(str(tmp_path / "lists")).collect()
    again = match(spark.sql(EVENTS), index, hide=["id"]).collect()
    assert pairs == {(row.id, row.subscription) for row in again}
    assert pairs == {(row.id, id) for row in lists for id in row.subscriptions}
    assert len(pairs) > 1000 and len(lists) == 400


def test_unreadable_events_are_set_aside_once(
    spark: SparkSession, tmp_path: Path, index: Path, narrow: Path
) -> None:
    lines = ['{"a": 3, "b": 9}', "not json", '{"a": "x"}']
    (tmp_path / "events.json").write_text("\n".join(lines))
    events = spark.read.json(
        str(tmp_path / "events.json"),
        "a int, b int, broken string",
        columnNameOfCorruptRecord="broken",
    )
    for folder in (index, narrow):  # with shards that get every event, and without
        found = match(events, folder, corrupt="broken").collect()
        assert sorted(row.broken for row in found if row.error) == ["not json", '{"a": "x"}']
        assert "eq3" in {row.subscription for row in found}


def test_shards_give_lists_and_limits_as_one_index(
    spark: SparkSession, tmp_path: Path, index: Path, narrow: Path
) -> None:
    rules = spark.createDataFrame(RULES, COLUMNS)
    compile(rules, tmp_path / "whole", placement="replicate")
    events = spark.sql(EVENTS).repartition(3)
    limited = ({"form": "lists", "limit": 2}, {"limit": 1})
    # Another test covers lists without a limit, on a stream.
    for how in (*limited, {"form": "lists"}) if SOAK else limited:
        found, expected = (
            match(events, folder, hide=["id"], **how).orderBy("id").collect()
            for folder in (index, tmp_path / "whole")
        )
        assert found == expected
        assert len(found) > 100
    some = match(events, narrow, hide=["id"], form="lists").collect()
    assert len(some) == 400  # events without candidate shards are included
    assert sum(not row.subscriptions for row in some) > 10


def test_an_event_that_fails_in_one_shard_has_no_matches(
    spark: SparkSession, tmp_path: Path
) -> None:
    def half(value: int) -> float:
        if value == 7:
            raise ValueError("no seven")
        return value / 2

    rules = [*RULES, ("half", "half(b) > 1", 0)]
    functions = {"half": half}
    for placement in ("shard", "replicate"):
        compile(
            spark.createDataFrame(rules, COLUMNS),
            tmp_path / placement,
            functions=functions,
            placement=placement,
            shard_size=40,
        )
    events = spark.sql(EVENTS)
    found, expected = (
        match(events, tmp_path / placement, hide=["id"], functions=functions)
        .orderBy("id", "subscription")
        .collect()
        for placement in ("shard", "replicate")
    )
    assert [row for row in found if not row.error] == [row for row in expected if not row.error]
    assert [row.id for row in found if row.error] == [row.id for row in expected if row.error]
    assert any(row.error and "no seven" in row.error for row in found)


def test_an_index_in_shards_can_be_changed(spark: SparkSession, tmp_path: Path) -> None:
    compile(
        spark.createDataFrame(RULES, COLUMNS), tmp_path / "index", placement="shard", shard_size=40
    )
    changes = [
        ("remove", "eq3", None, 1),
        ("replace", "eq4", "b > 1", 1),  # without a cover now, it stays in its shard
        ("replace", "wide1", "a = 3", 1),
        ("add", "new1", "a = 1 AND b < 100", 1),
        ("add", "new2", "b < 7", 1),
        ("add", "eq5", "a = 5", 1),  # already exists
        ("remove", "nobody", None, 1),
        ("replace", "eq6", "a = = 6", 1),
        ("add", "twice", "a = 1", 1),
        ("replace", "twice", "s = 'x2'", 2),
        (None, None, "a = 1", 1),
    ]
    table = spark.createDataFrame(changes, "change string, id string, selector string, at int")
    done = change(table, tmp_path / "index", order="at")
    assert (done.version, done.added, done.removed, done.rejected) == (2, 5, 3, 4)
    rejected = {row.id for row in done.rejects.collect()}
    assert rejected == {"eq5", "nobody", "eq6", None}
    matcher = Matcher()
    matcher.add_many(RULES)
    matcher.remove("eq3")
    matcher.replace("eq4", "b > 1")
    matcher.replace("wide1", "a = 3")
    for id, selector in (("new1", "a = 1 AND b < 100"), ("new2", "b < 7"), ("twice", "s = 'x2'")):
        matcher.add(id, selector)
    assert done.subscriptions == len(matcher)
    events = spark.sql(EVENTS)
    expected = {
        (row["id"], id) for row in events.toArrow().to_pylist() for id in matcher.match(row)
    }
    found = match(events, tmp_path / "index", hide=["id"]).collect()
    assert {(row.id, row.subscription) for row in found} == expected
    assert len(found) == len(expected)
    before = match(events, tmp_path / "index", hide=["id"], version=1).collect()
    assert {row.subscription for row in before} >= {"eq3", "wide1"}
    nothing = change(table.where("id = 'nobody'"), tmp_path / "index")
    assert (nothing.version, nothing.subscriptions, nothing.rejected) == (2, len(matcher), 1)


def test_unsupported_calls_on_shards_are_refused(
    spark: SparkSession, tmp_path: Path, narrow: Path
) -> None:
    events = spark.sql(EVENTS)
    with pytest.raises(InputError, match="backtested"):
        backtest(events, narrow, narrow)
    with pytest.raises(InputError, match="sequences"):
        sequences(events, narrow, time="a")
    with pytest.raises(InputError, match="placement"):
        compile(spark.createDataFrame(RULES, COLUMNS), tmp_path, placement="somewhere")


@only_in_soak
def test_shards_need_less_memory_than_one_index() -> None:
    whole, shards, whole_limited, shards_limited = spark_shards.shards(100_000, print)
    assert whole_limited["limit_mb"] == shards_limited["limit_mb"] < whole["worker_virtual_mb"]
    assert whole_limited["failed"] == "no memory"
    assert shards_limited["rows_out"] == shards["rows_out"] == whole["rows_out"]
