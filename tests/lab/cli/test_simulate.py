"""`tamis simulate`, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_command_writes_lines_and_a_report(tmp_path: Path, spark: object) -> None:
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    out = tmp_path / "out.jsonl"
    done = run(
        "simulate", "--brokers", 8, "--subscriptions", 200, "--events", 100, "--topology",
        "line,star", "--m", 512, "--out", out, "--report", tmp_path / "page",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "sweep: " in done.stderr and "written: " in done.stderr
    assert len([row for row in done.stdout.splitlines() if " covering " in row]) == 2
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds.count("strategy") == 8 and kinds.count("sweep") == 2 * 2 * 10
    assert len({line["deliveries_in_all"] for line in lines if line["kind"] == "strategy"}) == 1
    assert {file.name for file in (tmp_path / "page").iterdir()} == {
        "report.md", "traffic.svg", "tables.svg", "hops.svg",
        "filters-8-200-100-m512-k4-seed2008.svg",
    }  # fmt: skip
