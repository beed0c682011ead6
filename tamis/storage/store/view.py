"""A version of a store, opened: the segments that its manifest names and the changes after them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tamis.errors import IndexCorrupt
from tamis.storage.store.arrays import Array, open_arrays
from tamis.storage.store.log import replay
from tamis.storage.store.log_frames import Change
from tamis.storage.store.manifest import Manifest, SegmentPart, current_file, read_manifest

# The one array in the folder of what was removed from a segment.
REMOVED = "removed"


class MappedSegment(NamedTuple):
    """Arrays that never change, mapped from disk, and what the caller said about them."""

    name: str
    arrays: Mapping[str, Array]
    meta: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class View:
    """A version of a store. It stays as it is, and readable, whatever is committed after it.

    Attributes:
        version: From 1.
        covered: The segments hold what the changes up to this position did.
        meta: The caller's.
        segments: In the order in which they were added.
        removals: For every segment the array of what was removed from it, or None.
    """

    version: int
    covered: int
    meta: Mapping[str, object]
    segments: tuple[MappedSegment, ...]
    removals: Mapping[str, Array | None]


class LoadedVersion(NamedTuple):
    """A view, the changes after it, their end, and the size of the log that grows."""

    manifest: Manifest
    view: View
    changes: list[Change]
    position: int
    log_size: int


def load_current(folder: Path) -> LoadedVersion:
    """Open the current version, also while a writer commits the next ones.

    Raises:
        IndexCorrupt: A file is missing or damaged, or of another format.
    """
    while True:
        file = current_file(folder)
        try:
            return _load(folder, read_manifest(folder, file))
        except IndexCorrupt:
            # A commit removes the files of the version before it.
            if current_file(folder) == file:
                raise


def open_segment(folder: Path, name: str) -> MappedSegment:
    """Map a segment of a store."""
    return MappedSegment(name, *open_arrays(folder / name))


def open_removed(folder: Path, name: str) -> Array:
    """Map the array of what was removed from a segment."""
    return open_arrays(folder / name)[0][REMOVED]


def _load(folder: Path, manifest: Manifest) -> LoadedVersion:
    view = View(
        manifest.version,
        manifest.covered,
        manifest.meta,
        tuple(open_segment(folder, part.name) for part in manifest.segments),
        {part.name: _segment_removals(folder, part) for part in manifest.segments},
    )
    changes: list[Change] = []
    for part in manifest.logs:
        found = replay(folder / part.name, part.first, part.size)
        changes += found.changes
    del changes[: manifest.covered - manifest.logs[0].first]
    return LoadedVersion(manifest, view, changes, found.position, found.size)


def _segment_removals(folder: Path, part: SegmentPart) -> Array | None:
    return None if part.removed is None else open_removed(folder, part.removed)
