"""The experiments run and yield their figures; speed is not tested."""

import json
from pathlib import Path

import pytest
from tamis_lab.bench import atree, comparison

from tests.cli.command import run

SIZES = {"operators": 60, "values": 20, "priorities": 300, "baselines": 60}


@pytest.fixture(autouse=True)
def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atree, "EVENTS", 40)
    monkeypatch.setattr(comparison, "ROUNDS", 2)
    monkeypatch.setattr(comparison, "calibrate_count", lambda do, most, seconds: min(most, 40))


@pytest.mark.parametrize("name", atree.EXPERIMENTS)
def test_an_experiment(name: str) -> None:
    experiment, _, _ = atree.EXPERIMENTS[name]
    said: list[str] = []
    rows = list(experiment(SIZES.get(name, 1000), said.append))
    assert rows and said
    assert all(row.keys() == rows[0].keys() for row in rows)
    rates = [value for row in rows for key, value in row.items() if key.endswith("per_s")]
    assert rates and all(isinstance(rate, float) and rate > 0 for rate in rates)


def test_nothing_is_left_after_deletion() -> None:
    assert {row["nodes_left"] for row in atree.maintenance(500, lambda _: None)} == {0}


@pytest.mark.parametrize("predicates", atree.SHARED)
def test_the_conjunctive_workload_is_that_of_the_thesis(predicates: int) -> None:
    """§5.4: SNPS within 35 to 40 %, SMPE within 0.1 to 1 %."""
    workload = atree.conjunctions(10_000, predicates)
    engine, _ = atree.load_engine(workload)
    _, internal = engine.tree.sharing(range(10_000))
    assert 0.35 <= internal <= 0.40
    codes, _ = engine.match_codes(workload.events(500, matching=1.0))
    assert 0.001 <= len(codes) / 500 / 10_000 <= 0.01


def test_the_command_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("bench", "atree", "nonsense")
    assert done.exit_code != 0 and "unknown experiment 'nonsense'" in done.stderr
    monkeypatch.setattr(atree, "EXPERIMENTS", {"values": (atree.values, 20, 20)})
    done = run("bench", "atree", "--out", tmp_path / "atree.json")
    assert done.exit_code == 0 and "values" in done.stdout
    kept = json.loads((tmp_path / "atree.json").read_text())
    assert [row["filter"] for row in kept["experiments"]["values"]] == [
        "general",
        "zero-suppression",
        "tvp",
    ]
