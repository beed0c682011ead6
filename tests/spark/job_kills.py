"""Streaming jobs that are killed at random times and restarted."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


class KilledStream:
    """A streaming job, in a session of its own so that all its processes can be killed.

    It is a module whose first argument is a folder, where it has its `checkpoint`, and where it
    touches `started` when its query has started.

    Attributes:
        kills: How often it was killed.
        in_flight: How often that was in the middle of a micro-batch.
    """

    def __init__(self, folder: Path, module: str, *arguments: str) -> None:
        self._folder = folder
        self._command = [sys.executable, "-m", module, str(folder), *arguments]
        self.kills = self.in_flight = 0
        self.start()

    def start(self) -> None:
        (self._folder / "started").unlink(missing_ok=True)
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill_at(self, target: int, rng: random.Random) -> None:
        """Kill it soon after this many micro-batches, and restart it."""
        self.wait(self._folder / "started")
        if target:
            self.wait(self._folder / "checkpoint" / "commits" / str(target - 1))
        time.sleep(rng.uniform(0, 0.8))
        self.kill()
        self.start()

    def wait(self, path: Path) -> None:
        end = time.monotonic() + 300
        while not path.exists():
            said = (self._folder / "log").read_text(errors="replace")[-3000:]
            assert self._process.poll() is None or path.exists(), said
            assert time.monotonic() < end, f"{path.name} did not come: {said}"
            time.sleep(0.01)

    def kill(self) -> None:
        assert self._process.poll() is None, "it was done too early"
        self.end()
        self.kills += 1
        offsets, commits = (
            {name for name in os.listdir(self._folder / "checkpoint" / log) if name.isdigit()}
            for log in ("offsets", "commits")
        )
        self.in_flight += offsets != commits

    def end(self) -> None:
        """Kill the driver, its JVM and the workers, which form their own process group."""
        if self._process.poll() is None:
            mine = self._process.pid
            listed = subprocess.run(["ps", "-eo", "pgid=,sid="], capture_output=True, check=True)
            pairs = [line.split() for line in listed.stdout.splitlines()]
            groups = {int(group) for group, session in pairs if int(session) == mine}
            for group in sorted(groups, key=lambda group: group != mine):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
        self._process.wait()
