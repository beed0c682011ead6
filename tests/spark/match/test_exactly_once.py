"""kill -9 at random times: a stream into files writes each match once, by the right version."""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis import Matcher
from tamis.spark import change, compile, versions
from tamis.spark.index.versions import resolve
from tests.soak import count, record
from tests.spark.job_kills import KilledStream
from tests.spark.match.stream_job import holding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

KILLS = count(1, 20)
FILES = count(5, 60)
EVENTS = 120  # in a file
# The files at which rules change: while the first is matched, and after a crash in the second; and
# the last one, which is held back until all kills are done.
LIVE, DEAD, LAST = FILES // 3, FILES * 2 // 3, FILES - 1

RULES = [
    *((f"a{n}", f"a = {n}", n) for n in range(7)),
    ("low", "b < 10", 1),
    ("named", "name LIKE 'x%' AND a > 2", 0),
    ("absent", "name IS NULL", 5),
    ("hold", "hold(stop) > 0", 0),  # is never true
]
BAD_RULES = [("bad1", "a = = 3", 0), ("bad2", None, 0), ("bad3", "hold() > 1", 0)]
CHANGES = [
    [
        ("remove", "low", None),
        ("add", "high", "b > 40"),
        ("replace", "a3", "a = 4"),
        ("add", "worse", "a LIKE"),
    ],
    [
        ("remove", "a1", None),
        ("add", "low", "b < 20"),
        ("replace", "high", "b > 30 AND name IS NOT NULL"),
        ("remove", "nobody", None),
    ],
]

# The output for an event: number or unreadable text, subscription, version.
Row = tuple[object, str | None, int]


def test_a_killed_stream_writes_every_match_exactly_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    rng = random.Random(20250301)
    functions = {"hold": holding(tmp_path)}
    rows = spark.createDataFrame([*RULES, *BAD_RULES], "id string, selector string, priority int")
    done = compile(rows, tmp_path / "index", functions=functions, parts=2)
    assert (done.subscriptions, done.rejected) == (len(RULES), len(BAD_RULES))
    files = [_file(rng, number) for number in range(FILES)]
    _write(tmp_path / "events", files)

    def turn(number: int) -> None:
        frame = spark.createDataFrame(CHANGES[number], "change string, id string, selector string")
        done = change(frame, tmp_path / "index", functions=functions)
        assert (done.version, done.rejected) == (number + 2, 1)
        (tmp_path / f"go-{number + 1}").touch()

    stream = KilledStream(tmp_path, "tests.spark.match.stream_job")
    try:
        for target in _targets(rng, 1, 0, LIVE):
            stream.kill_at(target, rng)
        stream.wait(tmp_path / "holding-1")
        turn(0)
        for target in _targets(rng, 2, LIVE, DEAD):
            stream.kill_at(target, rng)
        stream.wait(tmp_path / "holding-2")
        stream.kill()
        turn(1)
        stream.start()
        for target in _targets(rng, 0, DEAD, LAST):
            stream.kill_at(target, rng)
        (tmp_path / "go-3").touch()
        stream.wait(tmp_path / "done")
    finally:
        stream.end()
    assert stream.kills == KILLS
    found = Counter[Row]()
    for row in spark.read.parquet(str(tmp_path / "out")).collect():
        assert (row.error is None) == (row.subscription is not None)
        found[row.n if row.error is None else row.broken, row.subscription, row.index_version] += 1
    expected, unread = _expected(tmp_path, files, functions)
    lost, extra = expected - found, found - expected
    differences = lost.total() + extra.total()
    assert differences == 0, (lost, extra)
    assert unread == 2 * FILES and versions(tmp_path / "index") == [1, 2, 3]
    record(
        "spark-stream-kills",
        kills=stream.kills,
        in_flight=stream.in_flight,
        events=sum(map(len, files)),
        rows=found.total(),
        unreadable=unread,
        versions=3,
        differences=differences,
    )


def _targets(rng: random.Random, turn: int, first: int, last: int) -> list[int]:
    """Micro-batches to kill at, in order: a third of those that are not at a known point."""
    kills = len(range(turn, KILLS - 1, 3))
    return sorted(rng.randrange(first, last) for _ in range(kills))


def _file(rng: random.Random, number: int) -> list[str]:
    stop = {LIVE: {"stop": 1}, DEAD: {"stop": 2}, LAST: {"stop": 3}}.get(number, {})
    lines = []
    for n in range(number * EVENTS, (number + 1) * EVENTS):
        event: dict[str, object] = {"n": n, "a": rng.randrange(8), "b": rng.randrange(500) / 10}
        if rng.random() < 0.7:
            event["name"] = rng.choice("xyz") + str(n)
        lines.append(json.dumps(event | stop))
    lines[rng.randrange(EVENTS)] = f"this is not JSON: {number}"
    lines.insert(rng.randrange(EVENTS), json.dumps({"n": number, "a": "one"}))
    return lines


def _write(folder: Path, files: list[list[str]]) -> None:
    folder.mkdir()
    for number, lines in enumerate(files):
        path = folder / f"{number:04d}.json"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + number,) * 2)  # the order in which they are read


def _expected(
    folder: Path, files: list[list[str]], functions: dict[str, Callable[[object], int]]
) -> tuple[Counter[Row], int]:
    """Return the expected output, and the number of unreadable events.

    The version of each file is known: rules change while, or after, one of its tasks had begun.
    """
    rows = Counter[Row]()
    unread = 0
    for number, lines in enumerate(files):
        version = 1 + (number > LIVE) + (number > DEAD)
        at = resolve(folder / "index", version).folder
        with Matcher.open(at, functions, read_only=True) as matcher:
            for line in lines:
                event = _read(line)
                if event is None:
                    unread += 1
                    rows[line, None, version] += 1
                    continue
                for id in matcher.match(event):
                    rows[event["n"], str(id), version] += 1
    return rows, unread


def _read(line: str) -> dict[str, object] | None:
    with contextlib.suppress(ValueError):
        event: dict[str, object] = json.loads(line)
        if isinstance(event["a"], int):
            return event
    return None
