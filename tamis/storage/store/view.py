"""An open version of a store: the segments of its manifest and the changes after them."""

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

# The one array in the folder of the removals of a segment.
REMOVED = "removed"


class MappedSegment(NamedTuple):
    """Immutable arrays, mapped from disk, and the caller's metadata about them."""

    name: str
    arrays: Mapping[str, Array]
    meta: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class View:
    """A version of a store. It never changes and stays readable after later commits.

    Attributes:
        version: The number of the version, from 1.
        covered: The position up to which the segments hold all changes.
        meta: The caller's metadata.
        segments: The segments in order of addition.
        removals: By segment, the array of its removals, or None.
    """

    version: int
    covered: int
    meta: Mapping[str, object]
    segments: tuple[MappedSegment, ...]
    removals: Mapping[str, Array | None]


class LoadedVersion(NamedTuple):
    """A view, the changes after it, the position after these, and the size of the log in use."""

    manifest: Manifest
    view: View
    changes: list[Change]
    position: int
    log_size: int


def load_current(folder: Path) -> LoadedVersion:
    """Open the current version, even while a writer commits new ones.

    Raises:
        IndexCorrupt: A file is missing or damaged, or of another format.
    """
    while True:
        file = current_file(folder)
        try:
            return _load(folder, read_manifest(folder, file))
        except IndexCorrupt:
            # A commit removes files of the previous version; then try again with the new one.
            if current_file(folder) == file:
                raise


def open_segment(folder: Path, name: str) -> MappedSegment:
    """Map a segment of a store."""
    return MappedSegment(name, *open_arrays(folder / name))


def open_removed(folder: Path, name: str) -> Array:
    """Map the array of the removals of a segment."""
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
        log = replay(folder / part.name, part.first, part.size)
        changes += log.changes
    del changes[: manifest.covered - manifest.logs[0].first]
    return LoadedVersion(manifest, view, changes, log.position, log.size)


def _segment_removals(folder: Path, part: SegmentPart) -> Array | None:
    return None if part.removed is None else open_removed(folder, part.removed)
