"""`tamis.spark.compile` and `change`: versions, rejects, and leftovers of a crash."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis import Matcher
from tamis.errors import InputError
from tamis.spark import change, compile, drop, versions
from tamis.spark.index.versions import commit, pin_version, remove_leftovers, resolve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROWS = [(f"s{n}", f"a = {n % 10} AND b < {n}", n % 3) for n in range(300)]
EVENTS = [{"a": n % 10, "b": n} for n in range(100)]
COLUMNS = "id string, selector string, priority int"
CHANGES = "change string, id string, selector string, priority int, n int"


def _expected(rows: list[tuple[str, str, int]]) -> Matcher:
    matcher = Matcher()
    matcher.add_many(rows)
    return matcher


def test_a_compiled_index_equals_a_matcher(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    done = compile(spark.createDataFrame(ROWS, COLUMNS), index, parts=3)
    assert (done.version, done.subscriptions, done.added, done.rejected) == (1, 300, 300, 0)
    with Matcher.open(resolve(index).folder, read_only=True) as matcher:
        assert sorted(matcher) == sorted(id for id, _, _ in ROWS)
        assert matcher.match_batch(EVENTS) == _expected(ROWS).match_batch(EVENTS)
    assert not any((index / "parts").iterdir())


def test_bad_rows_are_rejected(spark: SparkSession, tmp_path: Path) -> None:
    bad = [
        ("bad1", "a = = 3", 0),
        ("bad2", "a > ", 0),
        ("bad3", None, 0),
        (None, "a = 1", 0),
        ("s7", "a = 1", 0),
        ("", "a = 1", 0),
        ("deep", "NOT (" * 200 + "a = 1" + ")" * 200, 0),
    ]
    done = compile(spark.createDataFrame([*ROWS, *bad], COLUMNS), tmp_path / "index", parts=2)
    assert (done.subscriptions, done.rejected) == (300, len(bad))
    told = {row.id: row for row in done.rejects.collect()}
    assert set(told) == {"bad1", "bad2", "bad3", None, "s7", "", "deep"}
    assert told["bad1"].position == 4 and "=" in told["bad1"].reason
    assert told["bad2"].position == 4
    assert told["bad3"].reason.endswith("no selector")
    assert told["s7"].position is None and "s7" in told["s7"].reason


def test_a_schema_decides_on_types(spark: SparkSession, tmp_path: Path) -> None:
    rows = [("good", "a > 1", 0), ("wrong", "a LIKE 'x%'", 0)]
    frame = spark.createDataFrame(rows, COLUMNS)
    done = compile(frame, tmp_path / "index", schema={"a": "INT"}, semantics="strict")
    assert [row.id for row in done.rejects.collect()] == ["wrong"]
    with Matcher.open(resolve(tmp_path / "index").folder, read_only=True) as matcher:
        assert matcher.semantics == "strict" and list(matcher) == ["good"]


def test_changes_create_the_next_version(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    compile(spark.createDataFrame(ROWS, COLUMNS), index)
    rows = [
        ("add", "new", "a = 1", 5, 1),
        ("replace", "s1", "b = 7", 9, 1),
        ("remove", "s2", None, None, 1),
        ("add", "s3", "a = 1", 0, 1),  # already exists
        ("remove", "nobody", None, None, 1),
        ("replace", "nobody", "a = 1", 0, 2),
        ("replace", "s4", "a = = 1", 0, 1),  # the old one stays
        ("rename", "s5", "a = 1", 0, 1),
        # Several changes of one id, in order.
        ("remove", "s6", None, None, 1),
        ("add", "s6", "b = 8", 1, 2),
        ("replace", "s6", "b = 9", 1, 3),
        ("add", "gone", "a = 1", 0, 1),
        ("remove", "gone", None, None, 2),
    ]
    done = change(spark.createDataFrame(rows, CHANGES), index, order="n", parts=3)
    assert (done.version, done.subscriptions, done.rejected) == (2, 300, 5)
    assert sorted(row.id for row in done.rejects.collect()) == [
        "nobody",
        "nobody",
        "s3",
        "s4",
        "s5",
    ]
    kept = [row for row in ROWS if row[0] not in ("s1", "s2", "s6")]
    expected = _expected([*kept, ("new", "a = 1", 5), ("s1", "b = 7", 9), ("s6", "b = 9", 1)])
    with Matcher.open(resolve(index).folder, read_only=True) as matcher:
        assert matcher.match_batch(EVENTS) == expected.match_batch(EVENTS)
    with Matcher.open(resolve(index, 1).folder, read_only=True) as matcher:
        assert matcher.match_batch(EVENTS) == _expected(ROWS).match_batch(EVENTS)


def test_rejects_alone_create_no_version(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    compile(spark.createDataFrame(ROWS[:5], COLUMNS), index)
    rows = [("remove", "nobody", None, None, 1)]
    done = change(spark.createDataFrame(rows, CHANGES), index)
    assert (done.version, done.subscriptions, done.rejected) == (1, 5, 1)
    assert versions(index) == [1]


def test_ids_may_be_integers(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    done = compile(spark.range(50).selectExpr("id", "concat('a = ', id) AS selector"), index)
    assert (done.subscriptions, done.rejected) == (50, 0)
    with Matcher.open(resolve(index).folder, read_only=True) as matcher:
        assert matcher.match({"a": 7}) == [7]
    with pytest.raises(InputError, match="ids are like"):
        change(spark.createDataFrame([("add", "x", "a = 1", 0, 1)], CHANGES), index)


def test_invalid_tables_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'selector'"):
        compile(spark.range(1), tmp_path / "index")
    with pytest.raises(InputError, match="ids must be text or integers, not double"):
        compile(spark.sql("SELECT 1D AS id, 'a = 1' AS selector"), tmp_path / "index")
    with pytest.raises(InputError, match="no index"):
        change(spark.createDataFrame([("add", "x", "a = 1", 0, 1)], CHANGES), tmp_path / "none")
    Matcher().save(tmp_path / "saved")
    with pytest.raises(InputError, match="this is a saved matcher"):
        compile(spark.createDataFrame(ROWS[:1], COLUMNS), tmp_path / "saved")


def test_old_versions_can_be_dropped(spark: SparkSession, tmp_path: Path) -> None:
    index = tmp_path / "index"
    for n in range(3):
        compile(spark.createDataFrame(ROWS[: n + 1], COLUMNS), index)
    assert versions(index) == [1, 2, 3]
    assert drop(index, keep=2) == [1]
    assert versions(index) == [2, 3]
    assert len(list((index / "rejects").iterdir())) == 2
    with pytest.raises(InputError, match="no version 1 here; the versions are 2 to 3"):
        resolve(index, 1)


def test_a_version_is_created_once(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add("x", "a = 1")
    for name in ("one", "two"):
        matcher.save(tmp_path / name)
    index = tmp_path / "index"
    index.mkdir()
    commit(index, tmp_path / "one", 1)
    with pytest.raises(InputError, match="another process"):
        commit(index, tmp_path / "two", 1)


def test_leftovers_of_a_crash_are_removed_after_a_day(tmp_path: Path) -> None:
    for name, age in (("old", 100_000.0), ("new", 10.0)):
        (tmp_path / "parts" / name).mkdir(parents=True)
        at = time.time() - age
        os.utime(tmp_path / "parts" / name, (at, at))
        (tmp_path / "pins" / name).mkdir(parents=True)
        (tmp_path / "pins" / name / "7.tmp").touch()
        os.utime(tmp_path / "pins" / name / "7.tmp", (at, at))
    remove_leftovers(tmp_path)
    assert [folder.name for folder in (tmp_path / "parts").iterdir()] == ["new"]
    assert [file.parent.name for file in tmp_path.glob("pins/*/*")] == ["new"]


def test_the_version_of_an_unfinished_micro_batch_is_not_dropped(tmp_path: Path) -> None:
    for n in range(1, 6):
        _saved(tmp_path, n)
        pin_version(tmp_path, "running", n)
        if n == 2:
            pin_version(tmp_path, "stopped", 1)
    assert drop(tmp_path, keep=1) == [1, 3, 4]
    assert pin_version(tmp_path, "stopped", 1).number == 2


def test_a_saved_matcher_has_no_pins(tmp_path: Path) -> None:
    Matcher().save(tmp_path / "index")
    before = sorted(path.name for path in (tmp_path / "index").iterdir())
    assert pin_version(tmp_path / "index", "query", 7).number == 0
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == before


def test_a_micro_batch_keeps_its_version(tmp_path: Path) -> None:
    for n in (1, 2):
        _saved(tmp_path, n)
        assert pin_version(tmp_path, "query", n).number == n
    assert pin_version(tmp_path, "query", 1).number == 1
    assert pin_version(tmp_path, "other", 1).number == 2
    for batch in range(3, 200):
        pin_version(tmp_path, "query", batch)
    assert len(list((tmp_path / "pins" / "query").iterdir())) < 80


def test_workers_of_two_machines_may_have_one_pid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _saved(tmp_path, 1)
    link = os.link

    def late(mine: Path, pin: Path) -> None:
        # Another machine interferes, and sees a version that was created meanwhile.
        monkeypatch.setattr(os, "link", link)
        _saved(tmp_path, 2)
        assert pin_version(tmp_path, "query", 1).number == 2
        link(mine, pin)

    monkeypatch.setattr(os, "link", late)
    assert pin_version(tmp_path, "query", 1).number == 2
    assert [path.name for path in (tmp_path / "pins" / "query").iterdir()] == ["1"]


def _saved(index: Path, number: int) -> None:
    matcher = Matcher()
    matcher.add("x", f"a = {number}")
    matcher.save(index / f"v{number:08d}")
