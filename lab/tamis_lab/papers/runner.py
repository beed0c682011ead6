"""Run the points of figures, one after the other, one process each, and record the results."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.harness.measure import Row, machine
from tamis_lab.papers.kinds import KINDS, measure, prepare
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Point

# Called before each point: how many are done, of how many, and the point.
Progress = Callable[[int, int, Point], None]


def run(points: Sequence[Point], results: Results, progress: Progress) -> None:
    """Measure all points that have no result yet; the largest last: they may take too long."""
    missing = sorted(results.missing(points), key=lambda point: point.size)
    for done, point in enumerate(missing):
        progress(done, len(missing), point)
        for key, asked in workload_of(point):  # prepared once for all points that share it
            if key not in results.workloads:
                results.add(workload_line(key, point, asked))
        results.add(measure_point(point, prepared_workload(point, results)))


def measure_point(point: Point, prepared: Row | None) -> Row:
    """Measure a point and return its line; a timeout or an error is recorded as `failed`."""
    line: Row = {
        "table": "runs",
        "key": point.key,
        "kind": point.kind,
        "parameters": dict(point.parameters),
    }
    begun = time.perf_counter()
    if prepared is not None and "failed" in prepared:
        return line | {"failed": prepared["failed"]}
    try:
        extra = () if prepared is None else (prepared,)
        line["metrics"] = _run_isolated(measure, point, point.parameters, *extra)
    except subprocess.TimeoutExpired:
        line["failed"] = f"took longer than {point.limit:,.0f} seconds"
    except subprocess.CalledProcessError as error:
        line["failed"] = _failure_reason(error)
    return line | {"seconds": time.perf_counter() - begun, "machine": machine()}


def workload_of(point: Point) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the key and the parameters of the workload to prepare for a point; none, or one."""
    kind = KINDS[point.kind]
    if kind.prepare is None:
        return []
    asked = kind.workload_parameters(point.parameters)
    return [(f"{point.kind} {json.dumps(asked, sort_keys=True)}", asked)]


def workload_line(key: str, point: Point, asked: Mapping[str, Any]) -> Row:
    """Prepare a workload and return its line, which holds the workload or why it failed."""
    begun = time.perf_counter()
    try:
        found = _run_isolated(prepare, point, asked)
    except subprocess.TimeoutExpired:
        found = {"failed": f"found no such workload in {point.limit:,.0f} seconds"}
    except subprocess.CalledProcessError as error:
        found = {"failed": _failure_reason(error)}
    return {
        "table": "workloads",
        "key": key,
        "asked": dict(asked),
        "found": found,
        "seconds": time.perf_counter() - begun,
    }


def prepared_workload(point: Point, results: Results) -> Row | None:
    """Return the prepared workload of a point; None if it needs none."""
    for key, _ in workload_of(point):
        return results.workloads[key]
    return None


def _run_isolated(function: Callable[..., Row], point: Point, *given: Mapping[str, Any]) -> Row:
    arguments = [dict(each) for each in given]
    found: Row = run_in_fresh_process(
        function, point.kind, *arguments, limit=point.limit, memory=_memory(), quiet=True
    )
    return found


def _memory() -> int:
    """Return the largest address space for a point: the physical memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _failure_reason(error: subprocess.CalledProcessError) -> str:
    said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
    return said[-1] if said else f"ended with {error.returncode}"
