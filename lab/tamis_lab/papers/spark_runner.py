"""Like `runner`, as a pipeline on Spark: workloads, then points, then a table of results.

Points that run at the same time slow each other down. Seconds are processor time; still, on one
machine one task at a time is best. On a cluster each executor takes its share.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tamis_lab.harness.measure import Row
from tamis_lab.harness.spark_setup import spark_session
from tamis_lab.papers import runner
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Point
from tamis_lab.spark.sweep import map_inputs, write_results

WAVE = 8  # points of each task before results are written: an interruption costs no more


def run(points: Sequence[Point], results: Results, progress: runner.Progress, tasks: int) -> None:
    """Measure all points that have no result yet, `tasks` at a time."""
    missing = sorted(results.missing(points), key=lambda point: point.size)
    with spark_session(tasks) as (spark, _):
        for first in range(0, len(missing), WAVE * tasks):
            wave = missing[first : first + WAVE * tasks]
            progress(first, len(missing), wave[0])
            asked = {
                key: {"kind": point.kind, "parameters": dict(wanted), "limit": point.limit}
                for point in wave
                for key, wanted in runner.workload_of(point)
                if key not in results.workloads
            }
            lines = map_inputs(
                spark, workload_line, [{"key": k, **v} for k, v in asked.items()], tasks
            )
            for line in lines:
                results.add(line)
            work = [
                {
                    "kind": point.kind,
                    "parameters": dict(point.parameters),
                    "limit": point.limit,
                    "prepared": runner.prepared_workload(point, results),
                }
                for point in wave
            ]
            for line in map_inputs(spark, run_line, work, tasks):
                results.add(line)


def workload_line(asked: dict[str, Any]) -> Row:
    """Find a workload, in a worker."""
    point = Point(asked["kind"], asked["parameters"], asked["limit"])
    return runner.workload_line(asked["key"], point, asked["parameters"])


def run_line(asked: dict[str, Any]) -> Row:
    """Measure a point, in a worker and a process of its own."""
    point = Point(asked["kind"], asked["parameters"], asked["limit"])
    return runner.measure_point(point, asked["prepared"])


def write_table(results: Results, folder: Path) -> None:
    """Write all results as a Parquet table, a row for each metric."""
    with spark_session(1) as (spark, _):
        write_results(spark, list(results.lines.values()), folder)
