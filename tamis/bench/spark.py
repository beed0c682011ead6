"""Tamis on Spark, end to end: Parquet in, Parquet out; and what people do without it."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tamis.bench.fresh import in_fresh_process
from tamis.bench.measure import Experiments, Report, Row
from tamis.spark import compile, match, session
from tamis.spark.memory import workers_memory
from tamis.workloads.selective import Selective

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame, SparkSession

SUBSCRIPTIONS = 100_000
FILE_EVENTS = 500_000
WARM_EVENTS = 200_000
GROWTH_EVENTS = 1_000_000
# A way that takes longer than this on few events is not asked about more.
PATIENCE = 60.0


def matching(size: int, say: Report) -> Iterator[Row]:
    """Events against 100,000 selective subscriptions: the id and a list of ids come out."""
    with _spark(2) as (spark, folder):
        _put_events(folder / "events", size)
        _put_events(folder / "few", WARM_EVENTS)
        _compile(spark, folder, SUBSCRIPTIONS)
        say(f"{size:,} events, {SUBSCRIPTIONS:,} subscriptions …")
        ways: dict[str, Callable[[DataFrame], DataFrame]] = {
            "events read and written, no matching": lambda events: events.select("id"),
            "through Python and back, no matching": lambda events: events.mapInArrow(
                _only_ids, "id bigint"
            ),
            "lists": lambda events: match(
                events, folder / "index", keep=["id"], hide=["id"], form="lists", errors=None
            ).drop("index_version"),
            "pairs": lambda events: match(events, folder / "index", keep=["id"], hide=["id"]),
        }
        for name, way in ways.items():
            begun = time.perf_counter()
            _written(way(_read(spark, folder / "few")), folder)
            first = time.perf_counter() - begun
            # A dozen rows for every event: fewer events are enough.
            source, events = ("few", WARM_EVENTS) if name == "pairs" else ("events", size)
            seconds = []
            for _ in range(3):
                begun = time.perf_counter()
                _written(way(_read(spark, folder / source)), folder)
                seconds.append(time.perf_counter() - begun)
            yield {
                "way": name,
                "subscriptions": SUBSCRIPTIONS,
                "events": events,
                "events_per_s": events / statistics.median(seconds),
                "slowest": events / max(seconds),
                "fastest": events / min(seconds),
                "first_run_s": first,
                "rows_out": _read(spark, folder / "out").count(),
            }


def _only_ids(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.select(["id"])


def compiling(size: int, say: Report) -> Iterator[Row]:
    """From selectors in Parquet to an index."""
    with _spark(2) as (spark, folder):
        for count in (size // 10, size):
            say(f"{count:,} selectors …")
            shutil.rmtree(folder / "index", ignore_errors=True)
            done = _compile(spark, folder, count)
            yield {
                "subscriptions": count,
                "seconds": done,
                "selectors_per_s": count / done,
                "index_mb": _size(folder / "index") / 1e6,
            }


def today(size: int, say: Report) -> Iterator[Row]:
    """What a Spark user does without Tamis: an expression per rule; rules joined with events."""
    with _spark(2) as (spark, folder):
        for rules in [n for n in (100, 1_000, 10_000) if n <= size]:
            workload = Selective(subscriptions=rules)
            texts = list(workload.selectors())
            _compile(spark, folder, rules)
            tests = spark.createDataFrame(_exploded(texts))
            ways: dict[str, Callable[[DataFrame], DataFrame]] = {
                "tamis": lambda events: match(
                    events, folder / "index", keep=["id"], hide=["id"], errors=None
                ).select("id", "subscription"),
                "an expression per rule": partial(_by_expressions, texts),
                "predicates joined and counted": partial(_by_join, tests, workload.attributes),
            }
            found: dict[str, Row] = {}
            for name, way in ways.items():
                found[name] = _as_many_as_it_takes(spark, folder, way, name, rules, say)
            for row in found.values():
                ratio = _rate_of(found["tamis"]) / _rate_of(row) if row["events_per_s"] else None
                yield {**row, "tamis_is_times": ratio}


def _rate_of(row: Row) -> float:
    return float(row["events_per_s"])  # type: ignore[arg-type]


def _as_many_as_it_takes(
    spark: SparkSession,
    folder: Path,
    way: Callable[[DataFrame], DataFrame],
    name: str,
    rules: int,
    say: Report,
) -> Row:
    """The rate on as many events as take some seconds."""
    row: Row = {"rules": rules, "way": name, "events": 0, "events_per_s": 0.0, "pairs": None}
    for events in (1_000, 10_000, 100_000):
        _put_events(folder / "events", events)
        say(f"{name}, {rules:,} rules, {events:,} events …")
        seconds = []
        try:
            for _ in range(2):  # the first compiles
                begun = time.perf_counter()
                _written(way(_read(spark, folder / "events")), folder)
                seconds.append(time.perf_counter() - begun)
                if seconds[-1] > PATIENCE:
                    break
        except Exception as error:  # Spark's own, e.g. of code that is too large
            return {**row, "failed": type(error).__name__}
        took = min(seconds)
        pairs = _read(spark, folder / "out").count()
        row |= {"events": events, "events_per_s": events / took, "pairs": pairs / events}
        if took > 3.0:
            break
    return row


def _by_expressions(texts: list[str], events: DataFrame) -> DataFrame:
    chosen = ", ".join(f"IF({text}, {n}, NULL)" for n, text in enumerate(texts))
    return events.selectExpr("id", f"explode(array_compact(array({chosen}))) AS subscription")


def _by_join(tests: DataFrame, attributes: int, events: DataFrame) -> DataFrame:
    cells = ", ".join(f"'a{a}', a{a}" for a in range(attributes))
    melted = events.selectExpr("id", f"stack({attributes}, {cells}) AS (attribute, value)")
    joined = melted.join(tests, "attribute").where("value BETWEEN low AND high")
    counted = joined.groupBy("id", "subscription", "wanted").count()
    return counted.where("count = wanted").select("id", "subscription")


def _exploded(texts: list[str]) -> pa.Table:
    rows = []
    for n, text in enumerate(texts):
        tests = text.replace(" BETWEEN ", " = ").replace(" AND a", " ∧ a").split(" ∧ ")
        for test in tests:
            attribute, values = test.split(" = ")
            low, _, high = values.partition(" AND ")
            rows.append((n, attribute, int(low), int(high or low), len(tests)))
    names = ["subscription", "attribute", "low", "high", "wanted"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def growth(size: int, say: Report) -> Iterator[Row]:
    """Time and memory by subscriptions and executors."""
    for executors in (1, 2):
        for count in [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= size]:
            say(f"{count:,} subscriptions, {executors} executor threads …")
            yield in_fresh_process(grown, count, executors)


def grown(count: int, executors: int) -> Row:
    """Match a million events, in a process and a session of its own."""
    with _spark(executors) as (spark, folder):
        _put_events(folder / "events", GROWTH_EVENTS)
        compile_s = _compile(spark, folder, count)
        before = workers_memory()
        seconds = []
        for _ in range(3):
            begun = time.perf_counter()
            events = _read(spark, folder / "events")
            found = match(
                events, folder / "index", keep=["id"], hide=["id"], form="lists", errors=None
            )
            _written(found.drop("index_version"), folder)
            seconds.append(time.perf_counter() - begun)
        memory = workers_memory()
        return {
            "subscriptions": count,
            "executors": executors,
            "compile_s": compile_s,
            "match_s": min(seconds),
            "events_per_s": GROWTH_EVENTS / min(seconds),
            "index_mb": _size(folder / "index") / 1e6,
            "worker_private_mb": memory.private / 1e6,
            "worker_shared_mb": memory.shared / 1e6,
            "before_private_mb": before.private / 1e6,
        }


# -- parts ----------------------------------------------------------------------------------------


@contextmanager
def _spark(executors: int) -> Iterator[tuple[SparkSession, Path]]:
    spark = session(
        "tamis bench",
        # Of code that is too large to be compiled it would print pages.
        **{
            "spark.master": f"local[{executors}]",
            "spark.driver.memory": "4g",
            "spark.log.level": "OFF",
        },
    )
    try:
        with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
            yield spark, Path(folder)
    finally:
        spark.stop()


def _put_events(folder: Path, count: int) -> None:
    """Write events of the selective workload, a file for every half a million."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, first in enumerate(range(0, count, FILE_EVENTS)):
        rows = min(FILE_EVENTS, count - first)
        workload = Selective(subscriptions=1, seed=2025 + number)
        columns = {
            path[0]: found[0].data.cast(pa.int32())
            for path, found in workload.events(rows).columns.items()
        }
        ids = pa.array(np.arange(first, first + rows))
        pq.write_table(pa.table({"id": ids, **columns}), folder / f"{number:05d}.parquet")


def _compile(spark: SparkSession, folder: Path, count: int) -> float:
    """Seconds from Parquet to an index."""
    shutil.rmtree(folder / "subscriptions", ignore_errors=True)
    (folder / "subscriptions").mkdir()
    texts = Selective(subscriptions=count).selectors()
    first = 0
    while chunk := list(islice(texts, FILE_EVENTS // 4)):
        ids = pa.array(np.arange(first, first + len(chunk)))
        table = pa.table({"id": ids, "selector": chunk})
        pq.write_table(table, folder / "subscriptions" / f"{first:09d}.parquet")
        first += len(chunk)
    if not (folder / "few").exists():
        _put_events(folder / "few", WARM_EVENTS)
    sample = _read(spark, folder / "few").drop("id")
    return compile(_read(spark, folder / "subscriptions"), folder / "index", sample=sample).seconds


def _read(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(folder.as_uri())


def _written(frame: DataFrame, folder: Path) -> None:
    frame.write.mode("overwrite").parquet((folder / "out").as_uri())


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


EXPERIMENTS: Experiments = {
    "match": (matching, 1_000_000, 5_000_000),
    "compile": (compiling, 100_000, 1_000_000),
    "today": (today, 1_000, 10_000),
    "growth": (growth, 100_000, 1_000_000),
}
