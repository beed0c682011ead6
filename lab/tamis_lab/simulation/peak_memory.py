"""Peak memory of this process and its descendants together."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis_lab.harness.process_memory import proportional_memory

_LOOK = 1.0  # seconds


class PeakMemory:
    """Samples the memory regularly; shared pages are counted once.

    Attributes:
        bytes: The peak so far; 0 if unknown.
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.bytes = 0
        self._done = threading.Event()

    @contextmanager
    def watch(self) -> Iterator[PeakMemory]:
        """Sample while the block runs."""
        look = threading.Thread(target=self._sample, daemon=True)
        look.start()
        try:
            yield self
        finally:
            self._done.set()
            look.join()

    def _sample(self) -> None:
        while True:
            self.bytes = max(self.bytes, sum(map(proportional_memory, _process_tree(os.getpid()))))
            if self._done.wait(_LOOK):
                return


def _process_tree(root: int) -> list[int]:
    """Return a process and its descendants."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name, which is in brackets and may contain anything: state, parent.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # the process has ended
            continue
        below.setdefault(parent, []).append(int(stat.parent.name))
    found, pending = [], [root]
    while pending:
        process = pending.pop()
        found.append(process)
        pending += below.get(process, [])
    return found
