"""Run the command line in tests: in this process, which is fast, or as a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from tamis.cli import app

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(*args: object, stdin: str | bytes | None = None) -> Result:
    """Run in this process; stdout and stderr are not terminals."""
    return CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, catch_exceptions=False)


def environment(**more: str) -> dict[str, str]:
    plain = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "COLUMNS")}
    return {**plain, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "tamis", *map(str, args)]


def run_process(*args: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run as a process of its own, outside of the project's folder."""
    return subprocess.run(
        command(*args), input=stdin, capture_output=True, encoding="utf-8", timeout=60,
        env=environment(), cwd="/",
    )  # fmt: skip
