"""`tamis.spark.backtest` against two matchers in this process."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tamis import Matcher
from tamis.errors import InputError
from tamis.spark import Backtest, backtest, compile
from tests.soak import only_in_soak

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

COLUMNS = "id string, selector string, priority int"
EVENTS = (
    "SELECT id AS key, CAST(id % 13 AS INT) AS price, concat('n', id % 10) AS name, "
    "IF(id % 5 = 0, NULL, IF(id % 2 = 0, 'Lyon', 'Graz')) AS city FROM range({})"
)
CURRENT = [
    ("same", "price < 10", 1),
    ("wider", "price > 8", 0),
    ("shifted", "price BETWEEN 2 AND 5", 0),
    ("gone", "city = 'Lyon'", 0),
    ("silent", "price < 0", 0),
]
PROPOSED = [
    ("same", "price < 10", 5),
    ("wider", "price > 6", 0),
    ("shifted", "price BETWEEN 4 AND 7", 0),
    ("new", "name = 'n3' OR city IS NULL", 0),
    ("silent", "price < 0 AND city = 'Graz'", 0),
]


def _events(spark: SparkSession, count: int = 700) -> DataFrame:
    return spark.sql(EVENTS.format(count)).repartition(3)


def _found(rules: Iterable[tuple[str, str, int]], events: DataFrame) -> set[tuple[int, Any]]:
    matcher = Matcher()
    matcher.add_many(rules)
    rows = events.toArrow().to_pylist()
    lists = matcher.match_batch(rows).per_event()
    return {(row["key"], id) for row, ids in zip(rows, lists, strict=True) for id in ids}


def _check(found: Backtest, events: DataFrame) -> None:
    before, after = _found(CURRENT, events), _found(PROPOSED, events)
    rows = {row["subscription"]: row for row in found.subscriptions.to_pylist()}
    assert set(rows) == {id for id, *_ in CURRENT + PROPOSED}
    for id, row in rows.items():
        old, new = ({key for key, i in side if i == id} for side in (before, after))
        counts = (row["current"], row["proposed"], row["gained"], row["lost"])
        assert counts == (len(old), len(new), len(new - old), len(old - new)), id
        for examples, keys in (
            (row["gained_examples"], new - old),
            (row["lost_examples"], old - new),
        ):
            assert len(examples) == len(set(examples)) == min(2, len(keys))
            assert set(map(int, examples)) <= keys
    assert (found.gained, found.lost) == (len(after - before), len(before - after))
    assert (found.current.matches, found.proposed.matches) == (len(before), len(after))
    assert (rows["same"]["gained"], rows["same"]["lost"]) == (0, 0) and rows["same"]["current"]
    assert (found.only_current, found.only_proposed) == (["gone"], ["new"])
    assert set(found.changed["subscription"].to_pylist()) == {"wider", "shifted", "gone", "new"}


@only_in_soak
def test_tables_are_compared_as_matchers_would_be(spark: SparkSession, tmp_path: Path) -> None:
    events = _events(spark)
    current, proposed = (spark.createDataFrame(rows, COLUMNS) for rows in (CURRENT, PROPOSED))
    found = backtest(events, current, proposed, key="key", examples=2, scratch=tmp_path)
    _check(found, events)
    assert (found.events, found.unjudged, found.faults) == (700, 0, [])
    assert found.current.version is None and found.current.subscriptions == 5
    assert list(tmp_path.iterdir()) == []  # temporary files are removed


def test_versions_of_one_index_are_compared(spark: SparkSession, tmp_path: Path) -> None:
    events, index = _events(spark), tmp_path / "index"
    for rules in (CURRENT, PROPOSED):
        compile(spark.createDataFrame(rules, COLUMNS), index)
    found = backtest(events, index, index, current_version=1, key="key", examples=2)
    _check(found, events)
    assert (found.current.version, found.proposed.version) == (1, 2)
    nothing = backtest(events, index, index, examples=0)
    assert (nothing.gained, nothing.lost, nothing.changed.num_rows) == (0, 0, 0)
    assert nothing.current.matches == nothing.proposed.matches == found.proposed.matches


def test_a_table_takes_schema_and_semantics_of_the_other_index(
    spark: SparkSession, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    with Matcher({"price": "INT", "city": ("STR", "Lyon")}, "default") as matcher:
        matcher.add("lyon", "city = 'Lyon'")
        matcher.save(index)
    rows = [("lyon", "city = 'Lyon'"), ("bad", "price = 'x'"), ("typo", "prise = 1")]
    events = _events(spark, 20).select("price", "city")
    found = backtest(events, index, spark.createDataFrame(rows, "id string, selector string"))
    assert (found.gained, found.lost, found.current.matches) == (0, 0, 12)
    assert (found.current.version, found.proposed.rejected) == (0, 2)
    assert sorted(row["id"] for row in found.proposed.rejects) == ["bad", "typo"]


def test_without_a_key_examples_are_whole_events(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.sql("SELECT 1 AS a, named_struct('t', timestamp_seconds(0)) AS s, 'x' AS _bad")
    none = spark.createDataFrame([], "id bigint, selector string")
    one = spark.createDataFrame([(7, "a = 1")], "id bigint, selector string")
    found = backtest(events, none, one, hide=["_bad"])
    assert found.changed["subscription"].to_pylist() == [7]
    [example] = found.changed["gained_examples"].to_pylist()[0]
    assert json.loads(example)["a"] == 1
    aside = backtest(events, none, one, corrupt="_bad")
    assert (aside.events, aside.unjudged, aside.gained) == (1, 1, 0)
    assert aside.faults == ["the event could not be read"]


def test_without_events_nothing_differs(spark: SparkSession, tmp_path: Path) -> None:
    rules = spark.createDataFrame(CURRENT, COLUMNS)
    found = backtest(_events(spark, 0), rules, rules)
    assert (found.events, found.gained, found.subscriptions.num_rows) == (0, 0, 5)


def test_bad_events_count_for_neither(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.sql("SELECT id AS key, IF(id % 4 = 0, NULL, id) AS a FROM range(100)")
    for name, semantics in (("lenient", "sql"), ("total", "total")):
        with Matcher({"key": "INT", "a": "INT"}, semantics) as matcher:
            matcher.add("all", "key >= 0")
            matcher.add("a", "a >= 0")
            matcher.save(tmp_path / name)
    found = backtest(events, tmp_path / "lenient", tmp_path / "total")
    assert (found.events, found.unjudged, found.gained, found.lost) == (100, 25, 0, 0)
    assert found.current.matches == found.proposed.matches == 150
    assert found.faults


def test_invalid_calls_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    events = _events(spark, 5)
    rules = spark.createDataFrame(CURRENT, COLUMNS)
    numbered = spark.createDataFrame([(1, "price = 1")], "id int, selector string")
    with pytest.raises(InputError, match="no column 'nokey'"):
        backtest(events, rules, rules, key="nokey")
    with pytest.raises(InputError, match="no index here"):
        backtest(events, tmp_path / "none", rules)
    with pytest.raises(InputError, match="those of the other integers"):
        backtest(events, rules, numbered)
    with pytest.raises(InputError, match="a table, which has no versions"):
        backtest(events, rules, rules, current_version=1)
    with pytest.raises(InputError, match="not a stream"):
        stream = spark.readStream.format("rate").load()
        backtest(stream, rules, rules)
