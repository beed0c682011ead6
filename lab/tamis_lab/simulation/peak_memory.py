"""The most memory that this process and all below it have had together."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tamis_lab.harness.process_memory import proportional_memory

_LOOK = 1.0  # seconds


class PeakMemory:
    """Looks now and then; what is shared is counted once.

    Attributes:
        bytes: The most so far; 0 where the system does not say.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.bytes = 0
        self._done = threading.Event()

    @contextmanager
    def watch(self) -> Iterator[PeakMemory]:
        """Look while something runs."""
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
    """A process, and all that descend from it."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name, which is in brackets and may have anything in it: state, parent.
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # it has ended
            continue
        below.setdefault(parent, []).append(int(stat.parent.name))
    found, pending = [], [root]
    while pending:
        process = pending.pop()
        found.append(process)
        pending += below.get(process, [])
    return found
