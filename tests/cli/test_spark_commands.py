"""The verbs that run on Spark, on the session of the tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import run, run_process
from tests.soak import only_in_soak
from tests.spark.fixtures import spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

RULES = (
    '{"id": "low", "selector": "a < 3"}\n{"id": "odd", "selector": "a % 2 = 1", "priority": 2}\n'
)
OTHERS = '{"id": "low", "selector": "a < 5"}\n{"id": "new", "selector": "b = \'x\'"}\n'
EVENTS = "".join(json.dumps({"a": a, "b": "xyz"[a % 3]}) + "\n" for a in range(10))


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Path:
    (tmp_path / "rules.jsonl").write_text(RULES)
    (tmp_path / "others.jsonl").write_text(OTHERS)
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "1.jsonl").write_text(EVENTS)
    return tmp_path


def test_compile_and_match(files: Path, spark: SparkSession) -> None:
    index, bad = files / "index", '{"id": "bad", "selector": "a = = 1"}\n{"id": "two"}\n'
    done = run("compile", "--spark", "-s", files / "rules.jsonl", "--out", index)
    assert done.exit_code == 0 and done.stderr.startswith("version 1: 2 subscriptions, ")
    (files / "rules.jsonl").write_text(RULES + bad)
    rejects = files / "rejects.jsonl"
    done = run("compile", "--spark", "-s", files / "rules.jsonl", "-o", index, "--rejects", rejects)
    assert done.exit_code == 3 and "2 rejected rows" in done.stderr
    assert [line.split()[:2] for line in done.stderr.splitlines()[:2]] == [
        ["id", "position"],
        ["bad", "4"],
    ]
    rejected = {row["id"]: row for row in map(json.loads, rejects.read_text().splitlines())}
    assert rejected["bad"]["position"] == 4 and rejected["two"]["reason"].endswith("no selector")

    done = run("match", "--spark", "-i", index, "-e", files / "events", "--out", files / "pairs")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("8 pairs, ")
    rows = spark.read.parquet(str(files / "pairs")).collect()
    expected = {(a, "low") for a in range(3)} | {(a, "odd") for a in range(1, 10, 2)}
    assert {(row.a, row.subscription) for row in rows} == expected
    assert {row.index_version for row in rows} == {2}


def test_bad_events(files: Path, spark: SparkSession) -> None:
    index = files / "index"
    run("compile", "--spark", "-s", files / "rules.jsonl", "-o", index, "-q")
    (files / "events" / "2.jsonl").write_text('{"a": 1\n')
    given = ("match", "--spark", "-i", index, "-e", files / "events", "--format", "jsonl", "--out")
    done = run(*given, files / "all")
    assert done.exit_code == 2 and done.stderr.startswith("error: spark: ")
    assert len(done.stderr.splitlines()) == 1
    done = run(*given, files / "lists", "--bad", "skip", "--limit", 1)
    assert done.exit_code == 3 and "1 bad event" in done.stderr
    rows = spark.read.json(str(files / "lists")).collect()
    assert {row.a: row.subscriptions for row in rows if row.error is None} == {
        a: ["odd"] if a % 2 else ["low"] if a < 3 else [] for a in range(10)
    }
    assert [row.error for row in rows if row.error] == ["the event could not be read"]


def test_backtest_counts_gained_and_lost_matches(files: Path) -> None:
    current, proposed = files / "rules.jsonl", files / "others.jsonl"
    given = ("backtest", files / "events", "--current", current, "--proposed", proposed)
    done = run(*given, "--key", "a")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["current:", "2", "subscriptions,", "8", "matches"] in lines
    assert ["low", "3", "5", "2", "0", "+3", "+4"] in lines
    assert ["odd", "5", "0", "0", "5", "-1", "-3", "-5"] in lines
    assert done.stderr.startswith("10 events, ")
    done = run(*given, "--format", "json", "-q")
    found = json.loads(done.stdout)
    assert (found["gained"], found["lost"], found["events"]) == (6, 5, 10)
    assert (found["only_current"], found["only_proposed"]) == (["odd"], ["new"])
    low = next(row for row in found["subscriptions"] if row["subscription"] == "low")
    assert {json.loads(example)["a"] for example in low["gained_examples"]} == {3, 4}
    run("compile", "-s", current, "-o", files / "saved", "-q")
    done = run(*given[:2], "--current", files / "saved", "--proposed", current, "-q")
    assert "  gained: 0\n    lost: 0\n" in done.stdout


def test_stream(files: Path, spark: SparkSession) -> None:
    index, out = files / "index", files / "out"
    given = (
        "stream", "-i", index, "-e", files / "events", "-o", out,
        "--checkpoint", files / "checkpoint", "--once",
    )  # fmt: skip
    run("compile", "--spark", "-s", files / "rules.jsonl", "-o", index, "-q")
    done = run(*given)
    assert done.exit_code == 0
    assert done.stderr.startswith("batch 0: 10 events, ")
    assert "per second, index version 1\n10 events, " in done.stderr
    run("compile", "--spark", "-s", files / "others.jsonl", "-o", index, "-q")
    (files / "events" / "2.jsonl").write_text('{"a": 4, "b": "y"}\n{"a":\n')
    assert "index version 2" in run(*given, "--schema", "a BIGINT, b STRING").stderr
    rows = spark.read.parquet(str(out)).collect()
    assert sum(row.index_version == 1 for row in rows) == 8
    again = [(row.a, row.subscription, row.error) for row in rows if row.index_version == 2]
    assert sorted(again, key=str) == [
        (4, "low", None),
        (None, None, "the event could not be read"),
    ]


def test_messages_are_parsed(spark: SparkSession) -> None:
    from pyspark.sql.types import StructType

    from tamis.spark.sources.event_stream import parse_messages

    columns = StructType.fromDDL("a INT, _corrupt_record STRING")
    messages = spark.createDataFrame([(b'{"a": 1}',), (b"{",)], "value binary")
    rows = parse_messages(messages, columns, "_corrupt_record").collect()
    assert [tuple(row) for row in rows] == [(1, None), (None, "{")]


def test_spark_errors_are_reported_in_one_line() -> None:
    from tamis.cli.shared.spark_session import _line

    worker = (
        "[UDF_ERROR] a task failed:\nTraceback …\ntamis.errors.EventError: a is missing\n\tat x"
    )
    assert _line(worker) == "a is missing"
    java = "An error occurred while calling o7.load.\n: java.io.IOException: no disk\n\tat x"
    assert _line(java) == "java.io.IOException: no disk"
    assert _line("[PATH_NOT_FOUND] no such path. SQLSTATE: 42K03;\nplan") == (
        "[PATH_NOT_FOUND] no such path. SQLSTATE: 42K03;"
    )


def test_bad_usage_is_reported(files: Path) -> None:
    rules, events = files / "rules.jsonl", files / "events"
    for args, said in [
        (("match", "-s", rules, "-e", events, "--master", "local"), "--master needs --spark"),
        (("compile", "-s", rules, "-o", files / "i", "--rejects", "r"), "--rejects needs --spark"),
        (("match", "--spark", "-s", rules, "-e", events), "--spark needs --index"),
        (("match", "--spark", "-i", files, "-e", events, "--costs"), "--costs"),
        (("backtest", events, "--current", rules, "--proposed", rules, "--conf", "x"), "KEY=VALUE"),
        (("backtest", files / "no.csv", "--current", rules, "--proposed", rules), "spark: "),
        (("backtest", events, "--current", files / "none", "--proposed", rules), "no index here"),
        (("stream", "-i", files, "-o", "o", "--checkpoint", "c"), "give either --events"),
    ]:
        done = run(*args)
        assert done.exit_code == 2 and said in done.stderr, args


def test_without_pyspark_the_error_says_what_to_install(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    done = run("compile", "--spark", "-s", files / "rules.jsonl", "-o", files / "index")
    assert done.exit_code == 2 and "pip install 'tamis[spark]'" in done.stderr


@only_in_soak
def test_a_session_of_its_own(files: Path) -> None:
    """As people run it: a process that starts Spark, and ends it."""
    done = run_process(
        "compile", "--spark", "-s", files / "rules.jsonl", "-o", files / "index",
        "--master", "local[1]", "--conf", "spark.sql.shuffle.partitions=1",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "version 1: 2 subscriptions" in done.stderr


def test_a_workload_by_spark_is_that_of_one_process(spark: SparkSession, tmp_path: Path) -> None:
    asked = ("workload", "atree2004", "--subscriptions", 100, "--events", 200, "--seed", 3,
             "--set", "relation=>", "--smpe", 0.3, "-q")  # fmt: skip
    done = run(*asked, "-o", tmp_path / "one"), run(*asked, "-o", tmp_path / "many", "--spark")
    assert [d.exit_code for d in done] == [0, 0]
    one, many = (json.loads((tmp_path / n / "workload.json").read_text()) for n in ("one", "many"))
    assert one == many
    for table in ("subscriptions.parquet", "events.parquet"):
        rows = spark.read.parquet(str(tmp_path / "many" / table)).toArrow().to_pylist()
        assert rows == spark.read.parquet(str(tmp_path / "one" / table)).toArrow().to_pylist()
