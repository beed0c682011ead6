"""Installed peers agree with the oracle; the others say why they do not run."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tamis_lab.peers import contest, experiments
from tamis_lab.peers.drivers import GO, RUST, CannotBuild, Driver
from tamis_lab.peers.peer import Limits
from tamis_lab.peers.peer_catalogue import PEERS
from tamis_lab.peers.peer_tables import insert_tables
from tamis_lab.peers.peer_workload import WORKLOADS, peer_workload
from tamis_lab.peers.speed_chart import chart

from tamis.errors import InputError
from tests.cli.command import ROOT, run
from tests.soak import SOAK, only_in_soak

LITTLE = Limits(build=20.0, match=0.2, sample=50)
IN_PROCESS = ("rule-engine", "polars", "duckdb")
JAVA = ("event-ruler", "lucene-monitor")


def rows_of(peer: str, workload: str, rules: int = 100, limits: Limits = LITTLE) -> list[dict]:
    said: list[str] = []
    rows = list(contest.contests([peer], workload, [rules], said.append, limits))
    assert said and len(rows) == 1
    return rows


def check(peer: str, workload: str) -> None:
    row = rows_of(peer, workload)[0]
    if str(row["note"]).startswith("skipped"):
        pytest.skip(f"{peer}: {row['note']}")
    assert row["equal"] == "yes" and row["equal_on"] >= 1, row  # as many as there was time for
    assert row["asked"] == 100 and row["rules"] == round(100 * row["can_say"]), row
    assert row["events_per_s"] > 0 and row["build_s"] > 0 and row["peak_mb"] > 1, row
    if workload in ("equality", "selective") and peer != "quamina":
        assert row["rules"] == 100, row


@pytest.mark.parametrize("peer", ["tamis", "tamis-json", "tamis-single", *IN_PROCESS])
def test_python_peers_agree_with_the_oracle(peer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in this process, to save a second each; the next test starts a process."""
    monkeypatch.setattr("tamis_lab.peers.python_peers.run_in_fresh_process", _in_this_process)
    for workload in ("equality", "bdd2001") if peer.startswith("tamis") else ("flights", "bdd2001"):
        check(peer, workload)


def _in_this_process(function, *arguments: object, limit: float) -> object:
    return json.loads(json.dumps(function(*json.loads(json.dumps(arguments)))))


def test_a_peer_runs_in_its_own_process() -> None:
    check("rule-engine", "selective")


@pytest.mark.parametrize("peer", JAVA)
def test_java_peers_agree_with_the_oracle(peer: str) -> None:
    check(peer, "flights")


@pytest.mark.parametrize("peer", ["a-tree", "quamina"])
def test_compiled_peers_agree_with_the_oracle(peer: str) -> None:
    driver = {"a-tree": RUST, "quamina": GO}[peer]
    if not SOAK and not driver.is_built():
        pytest.skip(f"its driver takes a minute to build: `tamis bench peers {peer}` does it")
    for workload in ("equality", "flights", "bdd2001"):
        check(peer, workload)


@only_in_soak
@pytest.mark.spark
@pytest.mark.parametrize("workload", WORKLOADS)
def test_spark_agrees_with_the_oracle(workload: str) -> None:
    check("spark", workload)


@only_in_soak
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("peer", PEERS)
def test_all_peers_agree_with_the_oracle_on_more_rules(peer: str, workload: str) -> None:
    limits = Limits(build=30.0, match=1.0, sample=100)
    row = rows_of(peer, workload, 1_000, limits)[0]
    if str(row["note"]).startswith("skipped"):
        pytest.skip(f"{peer}: {row['note']}")
    assert row["equal"] == "yes", row


def test_a_wrong_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    right = PEERS["polars"]

    def wrong(folder: Path, limits: Limits) -> object:
        outcome = right.run(folder, limits)
        outcome["answers"][7].append(0)
        return outcome

    monkeypatch.setattr("tamis_lab.peers.python_peers.run_in_fresh_process", _in_this_process)
    _with(monkeypatch, "polars", run=wrong)
    assert rows_of("polars", "equality")[0]["equal"] == "NO"


def test_a_missing_peer_is_skipped_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, "polars", unavailable=lambda: "not installed: pip install polars")
    row = rows_of("polars", "equality")[0]
    assert row["note"] == "skipped: not installed: pip install polars" and row["events"] == 0


def test_a_peer_that_fails_or_falls_short_gets_no_more_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(folder: Path, limits: Limits) -> object:
        raise subprocess.CalledProcessError(3, "x", stderr=b"out of memory\nat once")

    def slow(folder: Path, limits: Limits) -> object:
        raise subprocess.TimeoutExpired("x", 12)

    _with(monkeypatch, "polars", run=fails)
    _with(monkeypatch, "duckdb", run=slow)
    _with(
        monkeypatch,
        "rule-engine",
        run=lambda *_: {
            "rules": 20, "build_s": 1.0, "events": 1, "match_s": 1.0, "answers": [[]], "peak_mb": 1,
        },
    )  # fmt: skip
    names = ["polars", "duckdb", "rule-engine"]
    rows = list(contest.contests(names, "equality", [50, 60], lambda _: None, LITTLE))
    notes = [row["note"] for row in rows]
    assert notes[:3] == [
        "failed: out of memory",
        "failed: took longer than 12 s",
        "loaded 20 of 50 rules in 20 s",
    ]
    assert notes[3] == "skipped: with 50 rules it failed: out of memory"
    assert notes[5] == "skipped: of 50 rules it loaded 20 of 50 rules in 20 s"
    assert rows[2]["equal_on"] == 1 and rows[2]["tamis_is_times"] == ""


def test_a_driver_that_cannot_be_built_says_what_the_tool_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told: list[str] = []
    driver = Driver(
        language="go",
        tools=("sh",),
        steps=lambda *_: [["sh", "-c", "echo fetching; echo 'an error: 404'; exit 1"]],
        command=lambda _: [],
        marker="done",
    )
    assert driver.unavailable() is None and not driver.is_built()
    with pytest.raises(CannotBuild, match="its driver cannot be built: sh: an error: 404"):
        driver.build(told.append)
    assert told == ["building the go driver, once …"] and not list(tmp_path.rglob("*.go"))


def test_a_driver_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    driver = Driver(
        language="go",
        tools=("no-such-tool",),
        steps=lambda _, built: [["sh", "-c", f"test -e main.go && echo x >> '{built}/done'"]],
        command=lambda _: [],
        marker="done",
    )
    assert driver.unavailable() == "not installed: no-such-tool (to build its driver)"
    assert driver.build() == driver.build() and driver.unavailable() is None
    assert (driver.folder() / "done").read_text() == "x\n"


def test_the_command_writes_rows_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis_lab.peers.python_peers.run_in_fresh_process", _in_this_process)
    monkeypatch.setattr(contest, "LIMITS", LITTLE)
    out = tmp_path / "peers.json"
    asked = ("polars", "tamis", "--workload", "equality", "--rules", 30, "--rules", 20)
    done = run("bench", "peers", *asked, "--out", out)
    assert done.exit_code == 0 and "tamis is times" in done.stdout
    kept = json.loads(out.read_text())
    rows = kept["experiments"]["equality"]
    assert [(row["peer"], row["asked"]) for row in rows] == [
        ("tamis", 20), ("polars", 20), ("tamis", 30), ("polars", 30),
    ]  # fmt: skip
    assert rows[0]["tamis_is_times"] == 1 and rows[1]["tamis_is_times"] > 0


def test_the_help_names_all_peers_and_workloads() -> None:
    text = " ".join(run("bench", "peers", "--help").stdout.split())
    assert all(name in text for name in (*PEERS, *WORKLOADS)) and "tamis-lab[bench]" in text


def test_unknown_peers_and_workloads_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown peer 'polar'; did you mean 'polars'"):
        experiments.experiments(peers=["polar"])
    with pytest.raises(InputError, match=r"unknown workload 'x'; one of equality, "):
        experiments.experiments(workloads=["x"])
    assert list(experiments.experiments()) == list(WORKLOADS)
    assert experiments.experiments(full=True)["selective"][1] == 100_000


def test_events_are_flat_and_have_only_attributes_of_rules() -> None:
    work = peer_workload("flights", 300, events=500)
    assert "plane__year" in work.kinds and "plane__year" in str(work.rules)
    assert work.table.num_rows == 500 and set(work.table.column_names) == set(work.kinds)
    assert not any(value is None for row in work.dicts() for value in row.values())
    assert work.kinds["dep_time"].nullable and not work.kinds["month"].nullable


def _with(monkeypatch: pytest.MonkeyPatch, name: str, **changed: object) -> None:
    peers = {**contest.PEERS, name: replace(contest.PEERS[name], **changed)}
    monkeypatch.setattr(contest, "PEERS", peers)


def test_the_docs_have_the_recorded_figures() -> None:
    page = (ROOT / "docs" / "evaluation" / "peers.md").read_text(encoding="utf-8")
    kept = json.loads((ROOT / "results" / "peers.json").read_text(encoding="utf-8"))
    assert insert_tables(page, kept) == page, "python -m tamis_lab.peers.peer_tables makes it anew"
    rows = [row for rows in kept["experiments"].values() for row in rows]
    assert {row["peer"] for row in rows} == set(PEERS)
    assert all(row["equal"] == "yes" for row in rows if row["events"])
    assert all(row["note"].startswith(("skipped", "failed")) for row in rows if not row["events"])


def test_the_chart_has_the_recorded_figures() -> None:
    kept = [
        json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))
        for name in ("peers.json", "block.json")
    ]
    drawn = (ROOT / "docs" / "images" / "speed.svg").read_text(encoding="utf-8")
    assert chart(*kept) == drawn, "python -m tamis_lab.peers.speed_chart draws it anew"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in kept[0]["experiments"]["selective"]:
        if row["peer"] in ("tamis", "tamis-single", "polars", "duckdb", "a-tree", "event-ruler"):
            assert f" {row['events_per_s']:,.0f}" in readme.replace("*", " "), row["peer"]
