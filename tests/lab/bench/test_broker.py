"""`tamis bench broker` runs and yields its figures; speed is not tested."""

import json
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="pip install 'tamis[broker]'")

from tests.cli.command import run


def test_the_verb_keeps_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tamis_lab.bench import broker

    small = {"throughput": (broker.throughput, 2_000, 2_000)}
    monkeypatch.setattr(broker, "EXPERIMENTS", small)
    monkeypatch.setattr(broker, "_ROUNDS", 1)
    monkeypatch.setattr(broker, "_SECONDS", 0.3)
    out = tmp_path / "broker.json"
    done = run("bench", "broker", "--out", out)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(out.read_text())["experiments"]["throughput"]
    assert row["events_per_s"] > 0 and row["floor_events_per_s"] > 0
    assert 0 < row["latency_p50_ms"] <= row["latency_p99_ms"]
