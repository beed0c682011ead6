"""Spark: a Boolean column per rule, a thousand per query, on one core."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tamis.language.expr import Like, StringTest
from tamis_lab.harness.process_memory import peak_memory
from tamis_lab.harness.spark_setup import read, spark_session
from tamis_lab.peers.infix import Sql
from tamis_lab.peers.peer import TABLE, Outcome, Peer, missing_package, package_version
from tamis_lab.peers.peer_rates import add_rules
from tamis_lab.peers.peer_workload import read_rules
from tamis_lab.peers.python_peers import process_runner
from tamis_lab.peers.rule_chunks import Chunk, chunks

NAME = "spark"
# Columns per query: many more would exhaust Spark's memory.
COLUMNS = 1_000


class SparkSql(Sql):
    """Spark SQL; the language of Tamis is a superset of it."""

    peer = NAME

    def number(self, value: int | float) -> str:
        """A plain number with a point would be a DECIMAL."""
        return f"{value!r}D" if isinstance(value, float) else f"{value}L"

    def text(self, value: str) -> str:
        """A backslash escapes."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def text_test(self, e: StringTest) -> str:
        """The functions have the same names."""
        return f"{e.function}({self.value(e.text)}, {self.value(e.part)})"

    def like(self, e: Like) -> str:
        """The escape character is one UTF-16 unit."""
        if e.ignore_case or not e.escape.isascii():
            raise self.refuse("ILIKE, or an escape character that is not ASCII")
        return f"{self.value(e.operand)} LIKE {self.text(e.pattern)} ESCAPE {self.text(e.escape)}"


def contest(folder: str, build: float, match: float, sample: int) -> Outcome:
    """Select the rules as Boolean columns and drop the rows: writing them would cost more.

    The first runs of a query, on the sample, compile it and count as building. Then all events are
    matched once.
    """
    with spark_session(1) as (spark, _):
        events = read(spark, Path(folder, TABLE)).coalesce(1).cache()
        count = events.count()
        few = events.limit(sample).coalesce(1).cache()
        few.count()
        answers: list[list[int]] = [[] for _ in range(sample)]
        queries: list[tuple[list[int], list[str]]] = []

        def add(chunk: Chunk) -> None:
            ids, texts = chunk
            columns = [f"({text}) AS r{n}" for n, text in enumerate(texts)]
            for answer, row in zip(answers, few.selectExpr(*columns).collect(), strict=True):
                answer += [number for number, true in zip(ids, row, strict=True) if true]
            _drop_rows(few.selectExpr(*columns))  # so that this query is compiled too
            queries.append((ids, columns))

        _, build_s = add_rules(chunks(read_rules(Path(folder)), COLUMNS), add, build)
        begun = time.perf_counter()
        for _, columns in queries:
            _drop_rows(events.selectExpr(*columns))
        match_s = time.perf_counter() - begun
        memory = peak_memory() + sum(map(peak_memory, _child_processes()))
        return {
            "rules": sum(len(ids) for ids, _ in queries),
            "build_s": build_s,
            "events": count,
            "match_s": match_s,
            "answers": answers,
            "peak_mb": memory / 1e6,
        }


def _drop_rows(rows: Any) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _child_processes() -> list[int]:
    """Return the child processes: Spark's Java."""
    try:
        tasks = list(Path("/proc/self/task").iterdir())
        return [int(n) for task in tasks for n in (task / "children").read_text().split()]
    except OSError:
        return []


SPARK = Peer(
    name=NAME,
    about="Spark, expr per rule",
    takes="DataFrame",
    unavailable=lambda: missing_package("'tamis[spark]'", "pyspark"),
    version=lambda: package_version("pyspark"),
    translate=SparkSql.translate,
    run=process_runner(contest),
)
