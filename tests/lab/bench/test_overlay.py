"""The bench of routing on a line measures what it says."""

import pytest
from tamis_lab.bench import overlay

from tests.soak import only_in_soak


def test_one_evaluation_with_edge_routing_and_one_per_broker_without(monkeypatch) -> None:
    monkeypatch.setattr(overlay, "_EVENTS", 20)
    monkeypatch.setattr(overlay, "_ROUNDS", 1)
    found = list(overlay.line(60, lambda text: None))
    rows = {row["strategy"]: row for row in found if row["batch"] == 1}
    many = {row["strategy"]: row for row in found if row["batch"] > 1}
    for name, row in rows.items():
        for what in ("evaluations_per_event", "brokers_per_event", "to_the_end", "told"):
            assert many[name][what] == row[what]
    assert rows["edge"]["evaluations_per_event"] == 1
    for name in ("covering", "siena", "siena, by block"):
        assert rows[name]["evaluations_per_event"] == rows[name]["brokers_per_event"] > 1
        assert rows[name]["told"] <= rows["edge"]["told"]
        assert rows[name]["filter_bytes"] == 0
    assert rows["edge"]["filter_bytes"] > 0


@only_in_soak
def test_over_nats(monkeypatch) -> None:
    pytest.importorskip("nats", reason="pip install 'tamis[broker]'")
    from tamis_lab.bench import overlay_nats

    for name, value in {"_ROUTINGS": ("edge",), "_OTHERS": 20, "_ROUNDS": 1, "_SINGLE": 3}.items():
        monkeypatch.setattr(overlay_nats, name, value)
    rows = list(overlay_nats.nodes(40, lambda text: None))
    assert [row["links"] for row in rows] == [0, 1, 2]
    for row in rows:
        assert row["events_per_s"] > 0 and 0 < row["latency_p50_ms"] <= row["latency_p99_ms"]
