"""Processes that are killed at work: each is forked off one that has everything loaded.

To start Python, import and load kernels takes some seconds, and is of no interest. What is forked
off opens its files itself, and is killed with SIGKILL, like any other process.
"""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from select import select
from types import TracebackType

ROOT = Path(__file__).parents[1]
START = "start"


class Killed:
    """For `with`: a process that runs a module, which calls `serve`."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def __enter__(self) -> "Killed":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _, complaints = self._process.communicate()
        assert (self._process.returncode, complaints) == (0, "")

    def after(self, seconds: float, *arguments: object) -> list[str]:
        """Let a process work with some arguments, and kill it so long after it said START.

        Returns:
            What it has said since.
        """
        self._send(list(arguments))
        first = self._read()
        assert first == START, first + "\n" + self._process.communicate()[1]
        time.sleep(seconds)
        self._send("kill")
        lines = list(iter(self._read, ""))
        ended = lines.pop() if lines else ""
        assert ended == _ended(-signal.SIGKILL), ended + "\n" + self._process.communicate()[1]
        return lines

    def _send(self, what: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def _read(self) -> str:
        """The next line; an empty one after that which says how it ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")


def serve(work: Callable[..., None]) -> None:
    """Fork processes off, one at a time, as they are asked for on the standard input."""
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            _work(work, json.loads(line))
        ended = 0
        while not ended and not select([sys.stdin], [], [], 0.05)[0]:
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            sys.stdin.readline()
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        say(_ended(os.waitstatus_to_exitcode(status)) + "\n")


def say(line: str) -> None:
    """Say something in one write, so that a line is there or is not."""
    os.write(1, f"{line}\n".encode())


def _work(work: Callable[..., None], arguments: list[object]) -> None:
    try:
        work(*arguments)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)


def _ended(code: int) -> str:
    return f"ended {code}"
