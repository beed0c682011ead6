"""Tamis on Spark, end to end: from Parquet to Parquet."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.spark import match
from tamis_lab.bench.spark_shards import shards
from tamis_lab.bench.spark_today import plain_spark
from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.harness.spark_setup import (
    WARM_EVENTS,
    put_events,
    read,
    seconds_to_compile,
    size_of,
    spark_session,
    write_output,
)
from tamis_lab.spark.worker_memory import workers_memory

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame

SUBSCRIPTIONS = 100_000
GROWTH_EVENTS = 1_000_000


def matching(size: int, say: Report) -> Iterator[Row]:
    """Events against 100,000 selective subscriptions, into lists of ids and into pairs."""
    with spark_session(2) as (spark, folder):
        put_events(folder / "events", size)
        put_events(folder / "few", WARM_EVENTS)
        seconds_to_compile(spark, folder, SUBSCRIPTIONS)
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
            write_output(way(read(spark, folder / "few")), folder)
            first = time.perf_counter() - begun
            # There are a dozen rows for every event: fewer events are enough.
            source, events = ("few", WARM_EVENTS) if name == "pairs" else ("events", size)
            seconds = []
            for _ in range(3):
                begun = time.perf_counter()
                write_output(way(read(spark, folder / source)), folder)
                seconds.append(time.perf_counter() - begun)
            yield {
                "way": name,
                "subscriptions": SUBSCRIPTIONS,
                "events": events,
                "events_per_s": events / statistics.median(seconds),
                "slowest": events / max(seconds),
                "fastest": events / min(seconds),
                "first_run_s": first,
                "rows_out": read(spark, folder / "out").count(),
            }


def _only_ids(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.select(["id"])


def compiling(size: int, say: Report) -> Iterator[Row]:
    """From selectors in Parquet to an index."""
    with spark_session(2) as (spark, folder):
        for count in (size // 10, size):
            say(f"{count:,} selectors …")
            shutil.rmtree(folder / "index", ignore_errors=True)
            done = seconds_to_compile(spark, folder, count)
            yield {
                "subscriptions": count,
                "seconds": done,
                "selectors_per_s": count / done,
                "index_mb": size_of(folder / "index") / 1e6,
            }


def growth(size: int, say: Report) -> Iterator[Row]:
    """Time and memory by subscriptions and executor threads."""
    for executors in (1, 2):
        for count in [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= size]:
            say(f"{count:,} subscriptions, {executors} executor threads …")
            yield run_in_fresh_process(growth_row, count, executors)


def growth_row(count: int, executors: int) -> Row:
    """Match a million events, in a process and a session of their own."""
    with spark_session(executors) as (spark, folder):
        put_events(folder / "events", GROWTH_EVENTS)
        compile_s = seconds_to_compile(spark, folder, count)
        before = workers_memory()
        seconds = []
        for _ in range(3):
            begun = time.perf_counter()
            events = read(spark, folder / "events")
            found = match(
                events, folder / "index", keep=["id"], hide=["id"], form="lists", errors=None
            )
            write_output(found.drop("index_version"), folder)
            seconds.append(time.perf_counter() - begun)
        memory = workers_memory()
        return {
            "subscriptions": count,
            "executors": executors,
            "compile_s": compile_s,
            "match_s": min(seconds),
            "events_per_s": GROWTH_EVENTS / min(seconds),
            "index_mb": size_of(folder / "index") / 1e6,
            "worker_private_mb": memory.private / 1e6,
            "worker_shared_mb": memory.shared / 1e6,
            "before_private_mb": before.private / 1e6,
        }


EXPERIMENTS: Experiments = {
    "match": (matching, 1_000_000, 5_000_000),
    "compile": (compiling, 100_000, 1_000_000),
    "today": (plain_spark, 1_000, 10_000),
    "growth": (growth, 100_000, 1_000_000),
    "shards": (shards, 100_000, 1_000_000),
}
