"""Contents for a store; and all contents of a store as plain values that can be compared."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.storage.store import Store
from tamis.storage.store.manifest import current_file, read_manifest


class Contents(NamedTuple):
    version: int
    covered: int
    meta: object
    segments: list[object]
    removed: list[object]
    changes: list[object]


def small(*numbers: int) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """A segment."""
    return {"n": np.array(numbers)}, {"count": len(numbers)}


def contents(store: Store) -> Contents:
    """Return the contents on disk: call it on a store that was just opened."""
    view = store.view
    segments = [
        (name, {key: array.tolist() for key, array in arrays.items()}, meta)
        for name, arrays, meta in view.segments
    ]
    removed = [
        (name, None if rows is None else rows.tolist()) for name, rows in view.removals.items()
    ]
    return Contents(view.version, view.covered, view.meta, segments, removed, store.changes)


def on_disk(path: Path) -> Contents:
    with Store.open(path, writable=False) as store:
        return contents(store)


def check_tidy(path: Path) -> None:
    """Check that the folder holds only files that the current version needs."""
    manifest = read_manifest(path, current_file(path))
    assert {file.name for file in path.iterdir()} == manifest.files | {"CURRENT", "LOCK"}


def put(path: Path, place: int, byte: int) -> None:
    """Change a byte of a file, in place: a file system waits for the disk when one is rewritten."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))
