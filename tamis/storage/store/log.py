"""The log: changes that no segment holds yet, in order.

A file of frames (`log_frames.py`) behind a header of 40 bytes: the format, the position of the
first change, and a checksum. The header is on disk before any manifest names the log, so it is
never torn. Positions count changes since the creation of the store: position n is "after the first
n changes".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import xxhash

from tamis.errors import IndexCorrupt
from tamis.storage.store.durable_files import write_file
from tamis.storage.store.log_frames import Change, decode, encode
from tamis.storage.store.sealed_json import FORMAT, check_format

_NAMED = struct.Struct("<24sQ")
_CHECKSUM = struct.Struct("<Q")
HEADER_SIZE = _NAMED.size + _CHECKSUM.size


class LogContents(NamedTuple):
    """The content of a log: its changes, the position after them, and the size up to there."""

    changes: list[Change]
    position: int
    size: int


def create_log(path: Path, first: int) -> None:
    """Create a log that starts at position `first`; it is on disk when this returns."""
    write_file(path, _header(first))


def replay(path: Path, first: int, size: int | None = None) -> LogContents:
    """Read a log.

    Args:
        path: The log.
        first: The position of its first change.
        size: Its size in bytes, if it is no longer appended to. Then its end cannot be torn;
            without a size, a torn batch at the end is ignored.

    Raises:
        IndexCorrupt: It is missing or damaged, or of another format.
    """
    log = _read(path, first)
    if size is not None and len(log) != size:
        raise IndexCorrupt(path, f"holds {len(log):,} bytes instead of {size:,}")
    changes: list[Change] = []
    end = HEADER_SIZE
    while end < len(log):
        frame = decode(path, log, end, first + len(changes))
        if frame is None:
            break
        changes += frame.changes
        end = frame.end
    if size is not None and end != size:
        raise IndexCorrupt(path, f"is truncated: the batch at byte {end} is incomplete")
    return LogContents(changes, first + len(changes), end)


class LogWriter:
    """Appends to a log. Not thread-safe.

    Attributes:
        path: The log.
        position: The position after the last change.
        size: The size of the log in bytes.
        in_doubt: Whether a write failed, so that the end of the log is unknown until a replay.
    """

    def __init__(self, path: Path, position: int, size: int) -> None:
        """Open a log that was replayed up to `position`; cut off a torn batch after it."""
        self.path = path
        self.position = position
        self.size = size
        self.in_doubt = False
        self._file = path.open("ab", buffering=0)
        if os.fstat(self._file.fileno()).st_size > size:
            self._file.truncate(size)
            self.sync()

    def append(self, changes: Sequence[Change], sync: bool) -> int:
        """Write a batch, and wait until it is on disk if `sync`; return the position after it.

        Raises:
            InputError: A change is not a tuple, or does not survive msgpack.
        """
        frame = encode(changes, self.position)
        # Set first, because an interrupt may come between any two of these lines.
        self.in_doubt = True
        left = memoryview(frame)
        # Usually one system call; a full disk or gigabytes need more.
        while left:
            left = left[self._file.write(left) :]
        if sync:
            self.sync()
        self.position += len(changes)
        self.size += len(frame)
        self.in_doubt = False
        return self.position

    def sync(self) -> None:
        """Wait until everything is on disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _header(first: int) -> bytes:
    named = _NAMED.pack(b"tamis-index %d log\n" % FORMAT, first)
    return named + _CHECKSUM.pack(xxhash.xxh3_64_intdigest(named))


def _read(path: Path, first: int) -> bytes:
    try:
        log = path.read_bytes()
    except FileNotFoundError:
        raise IndexCorrupt(path, "is missing") from None
    check_format(path, log[: _NAMED.size])
    if log[:HEADER_SIZE] != _header(first):
        raise IndexCorrupt(path, f"is damaged, or not the log that starts at change {first}")
    return log
