"""One writer at a time, over all processes; the lock of a process that dies is let go of."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tamis.errors import IndexLocked

LOCK = "LOCK"


class WriterLock:
    """The right to write to a store."""

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            IndexLocked: Somebody has it, in this process or another.
        """
        self._process = os.getpid()
        self._file = (folder / LOCK).open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise IndexLocked(folder) from None

    @property
    def is_ours(self) -> bool:
        """Whether this process took it: a fork has the same file open, but not the right."""
        return os.getpid() == self._process

    def release(self) -> None:
        """Let go of it, for forks too; a fork lets go of its copy only."""
        if self.is_ours and not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()
