"""The lock for one writer at a time across processes; it is released when a process dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tamis.errors import IndexLocked

LOCK = "LOCK"


class WriterLock:
    """The lock that allows writing to a store."""

    def __init__(self, folder: Path) -> None:
        """Acquire the lock.

        Raises:
            IndexLocked: Another writer has it, in this process or another.
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
        """Whether this process acquired it: a fork shares the open file, but not the lock."""
        return os.getpid() == self._process

    def release(self) -> None:
        """Release the lock, for forks too; a fork only closes its copy of the file."""
        if self.is_ours and not self._file.closed:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()
