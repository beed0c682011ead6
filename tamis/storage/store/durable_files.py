"""Files that are there whole or not at all, and still there after a power cut.

A file is written under another name, synced and renamed; the name itself is durable once the folder
that holds it has been synced too.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

# What ends like this was never finished.
UNFINISHED = ".tmp"


def write_file(path: Path, content: bytes) -> None:
    """Make or replace a file in one step."""
    unfinished = path.with_name(path.name + UNFINISHED)
    write_synced(unfinished, [content])
    os.replace(unfinished, path)
    sync_folder(path.parent)


def write_synced(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file and wait until it is on disk; its name may not be yet."""
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
    """Remove a file or a folder; what is mapped lives on until it is unmapped."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
