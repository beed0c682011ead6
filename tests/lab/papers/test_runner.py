"""Points are measured in their own processes; failures are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tamis_lab.papers import engine_points, runner
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Point

THESIS = {"subscriptions": 300, "predicates": 6, "round_s": 0.0, "snps": 0.375}
EQUAL = THESIS | {"relation": "=", "smpe": 0.0025}
TREE = Point("thesis", EQUAL | {"engine": "atree"})
COUNTING = Point("thesis", EQUAL | {"engine": "counting"})
IMPOSSIBLE = Point("thesis", THESIS | {"engine": "atree", "relation": "=", "smpe": 0.99})
SLOW = Point("bdd nodes", {"queries": 100_000, "order": "attribute"}, limit=1.0)


def test_a_run_is_recorded_and_resumed(tmp_path: Path) -> None:
    told: list[int] = []
    results = Results.open(tmp_path / "results.jsonl")
    points = [TREE, COUNTING, IMPOSSIBLE, SLOW, TREE]
    runner.run(points, results, lambda done, of, point: told.append(of))
    assert told == [4] * 4  # each point once
    assert len(results.workloads) == 2  # the same for both engines, and one that is not there

    tree, counting = results.metrics(TREE), results.metrics(COUNTING)
    assert tree is not None and counting is not None
    assert tree["events_per_s tvp low"] <= tree["events_per_s tvp"]
    assert tree["bytes tvp"] < tree["bytes general"] == tree["bytes zero-suppression"]
    assert tree["smpe"] == pytest.approx(counting["smpe"]) == pytest.approx(0.0025, abs=0.002)
    assert tree["snps_internal"] == pytest.approx(0.375, abs=0.02)

    assert "can be reached" in str(results.lines[IMPOSSIBLE.key]["failed"])
    assert "1 seconds" in str(results.lines[SLOW.key]["failed"])
    machine = results.lines[TREE.key]["machine"]
    assert isinstance(machine, dict) and machine["cores"]

    again = Results.open(tmp_path / "results.jsonl")
    assert {point.key for point in again.missing(points)} == {IMPOSSIBLE.key, SLOW.key}


def test_an_engine_may_refuse_a_workload() -> None:
    asked = {"subscriptions": 100, "events": 8, "round_s": 0.0}
    for engine, metrics in (("gryphon", {"refused"}), ("counting", {"refused"})):
        found = engine_points.measure_engine({"engine": engine, "workload": "texts", **asked})
        assert set(found) == metrics
    found = engine_points.measure_engine({"engine": "counting", "workload": "selective", **asked})
    assert "refused" not in found and found["events_per_s low"] <= found["events_per_s"]  # type: ignore[operator]
