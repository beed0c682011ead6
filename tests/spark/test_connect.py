"""Spark Connect: the same calls through a client that has no JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import environment

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# What a Connect client imports, and plain pyspark does not install.
NEEDED = ("pyspark", "grpc", "grpc_status", "google.rpc", "zstandard")


def test_all_calls_work_through_connect(tmp_path: Path) -> None:
    for name in NEEDED:
        pytest.importorskip(name, reason="pip install 'tamis[spark]' brings what Connect needs")
    script = Path(__file__).parent / "connect_session.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, timeout=400,
        env=environment(), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["session"].startswith("pyspark.sql.connect")
    assert found["compiled"] == [1, 2, 1] and found["rejects"] == [["?", 3]]
    low = [[a, "low", 1] for a in range(5)]
    odd = [[a, "odd", 1] for a in range(1, 10, 2)]
    assert found["batch"] == sorted(low + odd)
    assert found["changed"] == 2
    assert found["stream"] == [[a, "low", 2] for a in range(5)]
    assert found["backtest"] == [0, 5]
