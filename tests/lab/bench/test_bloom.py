"""The experiments run and yield their figures; speed is not tested."""

import json
from pathlib import Path

import pytest
from tamis_lab.bench import bloom
from tamis_lab.bench.bloom_plots import draw

from tests.cli.command import run
from tests.soak import only_in_soak

SIZES = {"predicates": 30, "probability": 2_000, "routing": 20, "false-positives": 100}


@pytest.fixture(autouse=True)
def few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bloom, "EVENTS", 30)


def rows_of(name: str) -> list[dict[str, object]]:
    experiment, _, _ = bloom.EXPERIMENTS[name]
    said: list[str] = []
    rows = list(experiment(SIZES[name], said.append))
    assert rows and said and all(row.keys() == rows[0].keys() for row in rows)
    return rows


@only_in_soak
def test_figures_are_drawn(tmp_path: Path) -> None:
    found = {name: rows_of(name) for name in bloom.EXPERIMENTS}
    for row in found["predicates"]:
        assert row["bits_per_event"] <= 2 * row["predicates_per_event"]
        assert row["wire_bytes"] < row["bytes_16"] + 12
    for row in found["probability"]:
        deviation = 5 * max(row["deviation"], 3 / SIZES["probability"]) + 8 / 2 ** row["log2_m"]
        assert abs(row["measured"] - row["equation_10"]) < deviation
    structures = {row["structure"] for row in found["routing"]}
    assert structures >= {"bfposet + sbstree", "bfposet", "sbstree", "bloom"}
    assert all(row["insertion_s"] > 0 and row["matching_s"] > 0 for row in found["routing"])
    for row in found["false-positives"]:
        assert row["false_negatives"] == 0
    pytest.importorskip("matplotlib")  # the rest was looked at without it
    files = draw(found, tmp_path / "plots")
    assert [file.stem for file in files] == [f"figure-{n}" for n in (4, 5, 6, 7, 8)]
    assert all(file.read_text().startswith("<?xml") for file in files)


def test_as_many_matches_as_the_paper_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """§6.3: 130,000 notifications of 10,000 events by 1,000 subscriptions."""
    monkeypatch.setattr(bloom, "EVENTS", 100)
    rows = list(bloom.false_positives(1_000, lambda _: None))
    (row,) = [r for r in rows if (r["log2_m"], r["k"], r["subscriptions"]) == (14, 4, 1_000)]
    right = row["notified"] - row["false_positives"]
    assert 11 <= right / 1_000 <= 15
    assert row["paper_notified"] == 130_000


def test_the_command_writes_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("bench", "bloom", "nonsense")
    assert done.exit_code != 0 and "unknown experiment 'nonsense'" in done.stderr
    monkeypatch.setattr(bloom, "EXPERIMENTS", {"predicates": (bloom.predicates, 30, 30)})
    monkeypatch.setattr(bloom, "warm_up", lambda: None)
    done = run("bench", "bloom", "--out", tmp_path / "bloom.json")
    assert done.exit_code == 0 and "predicates" in done.stdout
    kept = json.loads((tmp_path / "bloom.json").read_text())
    assert len(kept["experiments"]["predicates"]) == 36
