"""What a Spark user does without Tamis, and how many times as fast Tamis is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.spark import match
from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Report, Row
from tamis_lab.harness.spark_setup import (
    put_events,
    read,
    seconds_to_compile,
    spark_session,
    write_output,
)
from tamis_lab.workloads.selective import SelectiveWorkload

if TYPE_CHECKING:
    from tamis.spark.session import DataFrame

TAMIS, EXPRESSIONS, JOIN = "tamis", "an expression per rule", "predicates joined and counted"
# Seconds: a method slower than the first gets no more events; at the second it is killed.
ENOUGH, PATIENCE = 20.0, 240.0


def plain_spark(size: int, say: Report) -> Iterator[Row]:
    """What a Spark user does without Tamis: an expression per rule, or rules joined with events."""
    for rules in [n for n in (100, 1_000, 10_000) if n <= size]:
        found: list[Row] = []
        for way in (TAMIS, EXPRESSIONS, JOIN):
            say(f"{way}, {rules:,} rules …")
            row: Row = {"rules": rules, "way": way, "events": 0, "events_per_s": 0.0}
            try:
                row |= run_in_fresh_process(rate, way, rules, limit=PATIENCE)
            except subprocess.TimeoutExpired:
                row["failed"] = f"took longer than {PATIENCE:.0f} s"
            found.append(row)
        for row in found:
            ratio = _rate(found[0]) / _rate(row) if _rate(row) else None
            yield {**row, "tamis_is_times": ratio}


def _rate(row: Row) -> float:
    return float(row["events_per_s"])  # type: ignore[arg-type]


def rate(way: str, rules: int) -> Row:
    """Measure events per second, the better of two runs, on as many events as take some seconds."""
    row: Row = {}
    texts = list(SelectiveWorkload(subscriptions=rules).selectors())
    with spark_session(2) as (spark, folder):
        run: Callable[[DataFrame], DataFrame]
        if way == TAMIS:
            seconds_to_compile(spark, folder, rules)
            run = partial(match, index=folder / "index", keep=["id"], hide=["id"], errors=None)
        elif way == EXPRESSIONS:
            run = partial(_match_by_expressions, texts)
        else:
            tests = spark.createDataFrame(_test_rows(texts))
            run = partial(_match_by_join, tests, SelectiveWorkload(subscriptions=1).attributes)
        for events in (1_000, 10_000, 100_000, 1_000_000):
            put_events(folder / "events", events)
            seconds = []
            try:
                for _ in range(2):  # the first run compiles
                    begun = time.perf_counter()
                    write_output(run(read(spark, folder / "events")), folder)
                    seconds.append(time.perf_counter() - begun)
                    if seconds[-1] > 2 * ENOUGH:
                        break
            except Exception as error:  # Spark's, for example if the code is too large
                return {**row, "failed": type(error).__name__}
            took = min(seconds)
            row = {"events": events, "events_per_s": events / took, "seconds": took}
            if took > ENOUGH:
                break
    return row


def _match_by_expressions(texts: list[str], events: DataFrame) -> DataFrame:
    """Select a Boolean column per rule: for a list of them Spark took more than four gigabytes."""
    return events.selectExpr("id", *(f"{text} AS r{n}" for n, text in enumerate(texts)))


def _match_by_join(tests: DataFrame, attributes: int, events: DataFrame) -> DataFrame:
    cells = ", ".join(f"'a{a}', a{a}" for a in range(attributes))
    melted = events.selectExpr("id", f"stack({attributes}, {cells}) AS (attribute, value)")
    joined = melted.join(tests, "attribute").where("value BETWEEN low AND high")
    counted = joined.groupBy("id", "subscription", "wanted").count()
    return counted.where("count = wanted").select("id", "subscription")


def _test_rows(texts: list[str]) -> pa.Table:
    rows = []
    for n, text in enumerate(texts):
        tests = text.replace(" BETWEEN ", " = ").replace(" AND a", " ∧ a").split(" ∧ ")
        for test in tests:
            attribute, values = test.split(" = ")
            low, _, high = values.partition(" AND ")
            rows.append((n, attribute, int(low), int(high or low), len(tests)))
    names = ["subscription", "attribute", "low", "high", "wanted"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
