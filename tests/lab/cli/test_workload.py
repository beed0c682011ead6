"""`tamis workload`: files that `tamis match` reads, and the description beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tamis_lab.workloads.workload_catalogue import NAMES, workload_by_name

import tamis
from tests.cli.command import run


def test_without_a_name_workloads_are_listed() -> None:
    done = run("workload")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line[0] != " "] == list(NAMES)
    assert "density=0.15 equalities=0.6" in done.stdout


@pytest.mark.parametrize(
    ("name", "format"),
    [*((name, "parquet") for name in NAMES), ("nulls", "jsonl"), ("flights", "jsonl")],
)
def test_tamis_match_reads_the_files(name: str, format: str, tmp_path: Path) -> None:
    done = run("workload", name, "-o", tmp_path, "--subscriptions", 300, "--events", 60,
               "--seed", 5, "--format", format)  # fmt: skip
    assert done.exit_code == 0 and done.stdout == ""
    assert done.stderr.startswith("300 subscriptions and 60 events in ")
    answers = run("match", "-s", tmp_path / f"subscriptions.{format}",
                  "-e", tmp_path / f"events.{format}", "-q").stdout.splitlines()  # fmt: skip
    found = sum(len(json.loads(line)["matches"]) for line in answers)
    assert len(answers) == 60
    about = json.loads((tmp_path / "workload.json").read_text())
    # JSON has no timestamps, and some alerts of `flights` are about these.
    assert name == "flights" or about["measured"]["selectivity"] == pytest.approx(found / 18_000)
    assert (about["workload"], about["seed"], about["subscriptions"]) == (name, 5, 300)
    assert (about["event_count"], about["version"]) == (60, tamis.__version__)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        f"events.{format}", f"subscriptions.{format}", "workload.json",
    ]  # fmt: skip


def test_the_files_hold_the_workload(tmp_path: Path) -> None:
    run("workload", "nulls", "-o", tmp_path, "--subscriptions", 50, "--events", 70_000, "-q",
        "--set", "density=0.5")  # fmt: skip
    listed = workload_by_name("nulls", subscriptions=50, parameters={"density": 0.5})
    assert pq.read_table(tmp_path / "events.parquet").equals(listed.table(0, 70_000))
    assert pq.read_table(tmp_path / "subscriptions.parquet").equals(listed.subscriptions(0, 50))


def test_snps_and_smpe_are_as_requested(tmp_path: Path) -> None:
    done = run("workload", "atree2004", "-o", tmp_path, "--set", "predicates=6", "--set",
               "relation=>", "--snps", 0.4, "--smpe", 0.3, "--subscriptions", 1000)  # fmt: skip
    assert done.exit_code == 0 and "snps" in done.stderr
    about = json.loads((tmp_path / "workload.json").read_text())
    assert about["asked"] == {"snps": 0.4, "smpe": 0.3}
    assert about["measured"]["snps"] == pytest.approx(0.4, abs=0.02)
    assert about["measured"]["smpe"] == pytest.approx(0.3, abs=0.03)  # of fewer events
    assert about["parameters"]["predicates"] == 6 and about["events"]["scale"] > 1
    # What it says makes the same again.
    listed = workload_by_name(
        "atree2004", about["seed"], 1000, about["parameters"], about["events"]
    )
    assert pq.read_table(tmp_path / "events.parquet").equals(listed.table(0, 10_000))


def test_parameters_of_every_kind(tmp_path: Path) -> None:
    for name, setting, value in [
        ("bloom2008", "predicates=1,1", [1, 1]),
        ("selective", "predicates=4", 4),
        ("selective", "predicates=none", None),
        ("bdd2001", "form=grammar", "grammar"),
        ("bdd2001", "density=0.25", 0.25),
    ]:
        run("workload", name, "-o", tmp_path, "--subscriptions", 5, "--events", 5, "--set", setting)
        about = json.loads((tmp_path / "workload.json").read_text())
        assert about["parameters"][setting.split("=")[0]] == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["selectve"], "did you mean 'selective'?"),
        (["selective", "--set", "widht=3"], "did you mean 'width'?"),
        (["selective", "--set", "width=wide"], "width: must be a whole number, not 'wide'"),
        (["selective", "--set", "width"], "--set takes KEY=VALUE"),
        (["selective", "--set", "width=5000"], "width: must be 1 or more, and less than `values`"),
        (["bloom2008", "--set", "pairs=3"], "pairs: takes 2 numbers, such as 1,10"),
        (["selective", "--snps", "0.3"], "snps: only atree2004 has this option"),
        (["atree2004", "--snps", "0.99"], "can be reached"),
        (["atree2004", "--smpe", "0.1", "--set", "scale=2"], "scale: is computed from"),
        (["flights", "--events", "400000"], "flights has 336,776 events, not 400,000"),
        (["nulls", "--master", "local"], "--master needs --spark"),
        (["nulls", "--spark", "--format", "jsonl"], "--spark writes Parquet only"),
    ],
)
def test_invalid_arguments_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run("workload", *arguments, "--out", tmp_path)
    told = " ".join(done.stderr.replace("│", " ").split())
    assert done.exit_code == 2 and message in told
    assert not list(tmp_path.iterdir())


def test_an_output_folder_is_required() -> None:
    done = run("workload", "nulls")
    assert done.exit_code == 2 and "--out DIR" in done.stderr
