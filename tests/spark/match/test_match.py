"""`tamis.spark.match` on tables against a Matcher and Spark's own WHERE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tamis_lab.spark.worker_memory import workers_memory

from tamis import Matcher
from tamis.errors import InputError
from tamis.spark import compile, match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# Selectors that mean the same to Spark.
RULES = [
    ("cheap", "price < 10", 1),
    ("lyon", "user.city = 'Lyon' AND price > 3", 2),
    ("tagged", "array_contains(tags, 'new')", 0),
    ("missing", "user.city IS NULL", 0),
    ("either", "price BETWEEN 5 AND 8 OR name LIKE 'b%'", 3),
    ("sum", "price + amount > 20", 0),
    ("not", "NOT (name = 'a1' OR price = 3)", 0),
    ("in", "name IN ('a0', 'b4', 'c9')", 7),
    ("never", "price < 0", 0),
]
EVENTS = (
    "SELECT id, CAST(id % 13 AS INT) AS price, CAST(id % 7 AS DOUBLE) / 2 * 5 AS amount, "
    "concat(element_at(array('a', 'b', 'c'), CAST(id % 3 + 1 AS INT)), id % 10) AS name, "
    "named_struct('city', IF(id % 5 = 0, NULL, IF(id % 2 = 0, 'Lyon', 'Graz'))) AS user, "
    "IF(id % 4 = 0, array('new', 'x'), array()) AS tags, "
    "timestamp_seconds(id * 1000) AS at FROM range({})"
)


@pytest.fixture(scope="module")
def index(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "rules"
    rows = spark.createDataFrame(RULES, "id string, selector string, priority int")
    assert compile(rows, folder, parts=2).rejected == 0
    return folder


def _events(spark: SparkSession, count: int = 500) -> DataFrame:
    return spark.sql(EVENTS.format(count)).repartition(3)


def test_pairs_are_those_of_where(spark: SparkSession, index: Path) -> None:
    events = _events(spark)
    found = match(events, index, keep=["id"])
    assert found.columns == ["id", "subscription", "priority", "index_version", "error"]
    rows = found.collect()
    assert {(row.index_version, row.error) for row in rows} == {(1, None)}
    expected = {
        (row.id, id, priority)
        for id, selector, priority in RULES
        for row in events.where(selector).select("id").collect()
    }
    assert {(row.id, row.subscription, row.priority) for row in rows} == expected
    assert len(rows) == len(expected) > 500


def test_lists_are_those_of_a_matcher(spark: SparkSession, index: Path) -> None:
    events = _events(spark)
    matcher = Matcher()
    matcher.add_many(RULES)
    rows = events.toArrow().to_pylist()
    expected = {row["id"]: matcher.match(row) for row in rows}
    found = match(events, index, keep=["id"], form="lists").collect()
    assert {row.id: row.subscriptions for row in found} == expected
    two = match(events, index, keep=["id"], form="lists", limit=2).collect()
    assert {row.id: row.subscriptions for row in two} == {k: v[:2] for k, v in expected.items()}


def test_all_columns_are_kept_as_they_are(spark: SparkSession, index: Path) -> None:
    events = _events(spark, 50)
    found = match(events, index, form="lists").drop("subscriptions", "index_version", "error")
    assert found.schema == events.schema
    assert found.exceptAll(events).isEmpty() and events.exceptAll(found).isEmpty()


def test_hidden_columns_are_not_seen(spark: SparkSession, index: Path) -> None:
    found = match(_events(spark, 50), index, hide=["price", "user"]).select("subscription")
    assert {row.subscription for row in found.distinct().collect()} <= {
        "tagged", "either", "in", "missing", "not"
    }  # fmt: skip


def test_the_plan_does_not_grow(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    rows = spark.range(5000).selectExpr("id", "concat('price = ', id) AS selector")
    compile(rows, tmp_path / "many")
    events = _events(spark)
    small = match(events, index)._jdf.queryExecution().toString()
    large = match(events, tmp_path / "many")._jdf.queryExecution().toString()
    assert abs(len(large) - len(small)) < 200


def test_bad_events_are_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("a", "f(x) > 1"), ("b", "x > 5")], "id string, selector string")
    functions = {"f": _fails_on_three}
    compile(rows, tmp_path / "index", functions=functions)
    events = spark.range(10).selectExpr("id AS x")
    found = match(events, tmp_path / "index", functions=functions, form="lists").collect()
    wrong = [row for row in found if row.error is not None]
    assert [(row.x, row.subscriptions) for row in wrong] == [(3, None)]
    assert "three" in wrong[0].error
    assert sorted(row.x for row in found) == list(range(10))
    assert {row.x for row in found if row.subscriptions and "b" in row.subscriptions} == {
        6,
        7,
        8,
        9,
    }
    with pytest.raises(Exception, match="three"):
        match(events, tmp_path / "index", functions=functions, errors=None).collect()


def _fails_on_three(x: object) -> object:
    if x == 3:
        raise ValueError("three is too much")
    return x


def test_unreadable_events_are_set_aside(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    lines = ['{"price": 4, "name": "a"}', "not json", '{"price": "x"}', '{"name": "b1"}']
    (tmp_path / "events.json").write_text("\n".join(lines))
    events = spark.read.json(
        str(tmp_path / "events.json"),
        "price int, name string, broken string",
        columnNameOfCorruptRecord="broken",
    )
    found = match(events, index, corrupt="broken").collect()
    assert sorted(row.broken for row in found if row.error) == ["not json", '{"price": "x"}']
    judged = {(row.name, row.subscription) for row in found if not row.error}
    assert ("a", "cheap") in judged and ("b1", "either") in judged


def test_a_version_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    for n in (1, 2):
        rows = spark.createDataFrame([("x", f"a = {n}")], "id string, selector string")
        compile(rows, tmp_path / "index")
    events = spark.range(5).selectExpr("id AS a")
    for version, expected in ((None, (2, 2)), (1, (1, 1)), (2, (2, 2))):
        rows = match(events, tmp_path / "index", version=version).collect()
        assert [(row.a, row.index_version) for row in rows] == [expected]


def test_a_saved_matcher_is_an_index(spark: SparkSession, tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add(5, "a = 3")
    matcher.save(tmp_path / "index")
    rows = match(spark.range(5).selectExpr("id AS a"), tmp_path / "index").collect()
    assert [(row.a, row.subscription, row.index_version) for row in rows] == [(3, 5, 0)]


def test_empty_tables_and_indexes_give_no_matches(
    spark: SparkSession, index: Path, tmp_path: Path
) -> None:
    assert match(_events(spark, 0), index).collect() == []
    nothing = spark.createDataFrame([], "id string, selector string")
    assert compile(nothing, tmp_path / "empty").subscriptions == 0
    assert match(_events(spark, 5), tmp_path / "empty").collect() == []
    assert len(match(_events(spark, 5), tmp_path / "empty", form="lists").collect()) == 5


def test_invalid_calls_are_refused(spark: SparkSession, index: Path, tmp_path: Path) -> None:
    events = _events(spark, 5)
    for wrong, said in (
        ({"form": "rows"}, "form must be"),
        ({"keep": ["nothing"]}, "no column 'nothing'"),
        ({"version": 9}, "no version 9"),
        ({"errors": "price"}, "already"),
    ):
        with pytest.raises(InputError, match=said):
            match(events, index, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no index"):
        match(events, tmp_path / "nowhere")
    with pytest.raises(InputError, match="already"):
        match(events.withColumn("subscription", events.id), index)


def test_the_memory_of_workers_is_measured(spark: SparkSession, index: Path) -> None:
    match(_events(spark), index).count()
    found = workers_memory()
    assert found.workers >= 1
    assert 10_000_000 < found.private + found.shared < 10_000_000_000
