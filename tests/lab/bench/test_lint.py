"""The experiments of `tamis bench lint` run and yield their figures; speed is not tested."""

import json
from pathlib import Path

import pytest
from tamis_lab.bench.lint import EXPERIMENTS, RULES, lint_workload

from tests.cli.command import run


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_yields_a_row(name: str) -> None:
    row = lint_workload(name, 60)
    assert row["workload"] == name and row["subscriptions"] == 60
    assert row["seconds"] > 0 and row["peak_mb"] > 0 and set(RULES) <= row.keys()


def test_the_verb_keeps_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"flights": (EXPERIMENTS["flights"][0], 40, 40)}
    monkeypatch.setattr("tamis_lab.bench.lint.EXPERIMENTS", small)
    out = tmp_path / "lint.json"
    assert run("bench", "lint", "flights", "--out", out).exit_code == 0
    kept = json.loads(out.read_text())
    assert kept["bench"] == "lint" and kept["experiments"]["flights"][0]["subscriptions"] == 40
