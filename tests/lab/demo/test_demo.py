"""The demo as a small, real process: it succeeds, checks itself and leaves only a report."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.soak import only_in_soak

pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).parents[3]
VOID = {"meta"}


def _command(out: Path) -> list[str]:
    small = ["--alerts", "1000", "--events", "3000"]
    return [sys.executable, "-m", "tamis_lab.demo", "--out", str(out), *small]


def _environment(scratch: Path) -> dict[str, str]:
    scratch.mkdir()
    return os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}


def _left_of_ours(scratch: Path) -> list[str]:
    return [path.name for path in scratch.iterdir() if path.name.startswith("tamis-")]


class Balanced(HTMLParser):
    """Checks that tags are balanced, and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1


def test_a_small_demo_succeeds_and_writes_a_report(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    done = subprocess.run(
        _command(tmp_path / "report"),
        env=_environment(scratch),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""  # Java and Spark have nothing to say
    assert "checked 2,000 events: equal" in done.stdout
    assert "checked 100,000 pairs of alert and event: equal" in done.stdout
    assert "20 were rejected" in done.stdout
    # Every micro-batch has its line, and the second half is matched by version 2.
    lines = re.findall(r"^ +(\d+) +\d+ Jan .* v([12]) *$", done.stdout, re.M)
    assert [int(number) for number, _ in lines] == [1, 2, 3, 4]
    assert [version for _, version in lines][-2:] == ["2", "2"]
    assert _left_of_ours(scratch) == []
    report = (tmp_path / "report" / "index.html").read_text()
    assert str(Path("report", "index.html")) in done.stdout
    seen = Balanced()
    seen.feed(report)
    assert seen.open == [] and seen.count["svg"] == 3
    # Self-contained: nothing is fetched.
    assert not re.search(r"https?://|<script|<link|\bsrc=", report)


@only_in_soak
def test_ctrl_c_stops_it_cleanly(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    with subprocess.Popen(
        [*_command(tmp_path / "report")],
        env=_environment(scratch),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as in a terminal all processes get the signal
    ) as process:
        assert process.stdout and process.stderr
        for line in process.stdout:
            if line.startswith("changing alerts"):
                break
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(timeout=120) == 130
    assert said.rstrip().endswith("stopped") and "Traceback" not in said
    assert "Exception" not in said
    assert _left_of_ours(scratch) == [] and not (tmp_path / "report").exists()


@pytest.mark.parametrize("wrong", [["--events", "10"], ["--alerts", "0"], ["--events", "400000"]])
def test_sizes_out_of_range_are_refused(wrong: list[str]) -> None:
    command = [sys.executable, "-m", "tamis_lab.demo", *wrong]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2 and wrong[0] in done.stderr
