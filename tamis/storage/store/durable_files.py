"""Atomic and durable writes: a file is complete or absent, also after a power cut.

A file is written under another name, synced and renamed; the name itself is durable once its folder
has been synced too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

# The suffix of files that are not complete.
UNFINISHED = ".tmp"


def write_file(path: Path, content: bytes) -> None:
    """Create or replace a file atomically."""
    unfinished = path.with_name(path.name + UNFINISHED)
    write_synced(unfinished, [content])
    os.replace(unfinished, path)
    sync_folder(path.parent)


def write_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file and wait until its content is on disk; its name may not be on disk yet."""
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or a folder; mapped content stays readable until it is unmapped."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
