"""The experiments run and yield their figures; speed is not tested."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tamis_lab.bench import bdd

from tests.cli.command import run


@pytest.fixture(autouse=True)
def few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bdd, "MESSAGES", 60)
    monkeypatch.setattr(bdd, "ROUNDS", 1)


@pytest.mark.parametrize("name", bdd.EXPERIMENTS)
def test_an_experiment(name: str) -> None:
    experiment, _, _ = bdd.EXPERIMENTS[name]
    said: list[str] = []
    rows = list(experiment(40, said.append))
    assert rows and said
    assert all(row.keys() == rows[0].keys() for row in rows)


def test_nodes_and_restriction_agree_with_the_paper() -> None:
    """The paper: 7.2 nodes per query and 4.4 after restriction, at 25,000; more of few queries."""
    first, *_, last = bdd.nodes(1200, lambda _: None)
    assert 7 < last["nodes_before"] / 1200 < 9 and last["factor"] > 1.6  # type: ignore[operator]
    assert last["nodes_after"] / first["nodes_after"] == pytest.approx(4, abs=0.4)  # type: ignore[operator]


def test_the_order_of_variables_hardly_matters() -> None:
    rows = list(bdd.orders(400, lambda _: None))
    assert [row["order"] for row in rows] == ["attribute", "frequency", "random"]
    assert all(0.9 < row["against_attribute"] < 1.1 for row in rows)  # type: ignore[operator]


def test_figures_of_the_paper_stand_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bdd, "PAPER_NODES", {40: (300, 200)})
    monkeypatch.setattr(bdd, "STEPS", 1)
    (row,) = bdd.nodes(40, lambda _: None)
    assert (row["paper_before"], row["paper_after"], row["paper_factor"]) == (300, 200, 1.5)
    assert {len(seconds) for seconds in bdd.PAPER_SECONDS.values()} == {len(bdd.DENSITIES) + 1}


def test_the_command_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("bench", "bdd", "nonsense")
    assert done.exit_code != 0 and "unknown experiment 'nonsense'" in done.stderr
    small = {name: (experiment, 40, 40) for name, (experiment, _, _) in bdd.EXPERIMENTS.items()}
    monkeypatch.setattr(bdd, "EXPERIMENTS", small)
    done = run("bench", "bdd", "--out", tmp_path / "bdd.json")
    assert done.exit_code == 0 and "restriction divides them by" in done.stdout
    kept = json.loads((tmp_path / "bdd.json").read_text())
    assert kept["experiments"].keys() == small.keys() and len(kept["shapes"]) > 3


def test_the_figures_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {name: (experiment, 40, 40) for name, (experiment, _, _) in bdd.EXPERIMENTS.items()}
    monkeypatch.setattr(bdd, "EXPERIMENTS", small)
    done = run("bench", "bdd", "--plots", tmp_path)
    if find_spec("matplotlib"):
        assert done.exit_code == 0 and "<svg" in (tmp_path / "bdd.svg").read_text()
    else:
        assert done.exit_code != 0 and "pip install 'tamis-lab[bench]'" in done.stderr
