"""Versions of a store: a manifest names all files of one, and `CURRENT` names the manifest.

Manifests never change. The next version is complete, under its own name, before `CURRENT` is
switched to it by a rename: a reader that opens the store finds the old version or the new one.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from tamis.errors import IndexCorrupt
from tamis.storage.store.sealed_json import read_sealed, write_sealed

CURRENT = "CURRENT"


class LogPart(msgspec.Struct, frozen=True):
    """A log, the position of its first change, and its size; None for the one in use."""

    name: str
    first: int
    size: int | None = None


class SegmentPart(msgspec.Struct, frozen=True):
    """The folder of a segment, and that of the array of its removals, if any."""

    name: str
    removed: str | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The files of a version of a store.

    Attributes:
        version: The number of the version, from 1.
        covered: The position up to which the segments hold all changes.
        segments: The segments in order of addition.
        logs: The logs of the changes after `covered`, and perhaps some before; the last is in use.
        next_file: The first number that no file name has used.
        meta: The caller's metadata.
    """

    version: int
    covered: int
    segments: list[SegmentPart]
    logs: list[LogPart]
    next_file: int
    meta: dict[str, object]

    @property
    def file(self) -> str:
        """The name of the manifest's own file."""
        return f"manifest-{self.version:06d}"

    @property
    def files(self) -> set[str]:
        """The names of all files of the version, including the manifest."""
        removed = {part.removed for part in self.segments if part.removed is not None}
        segments = {part.name for part in self.segments}
        return {self.file} | {part.name for part in self.logs} | segments | removed


class _Current(msgspec.Struct, frozen=True):
    manifest: str


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest, without switching to it."""
    write_sealed(folder / manifest.file, manifest)


def switch_current(folder: Path, manifest: Manifest) -> None:
    """Make an existing manifest the current one."""
    write_sealed(folder / CURRENT, _Current(manifest.file))


def current_file(folder: Path) -> str:
    """Return the name of the current manifest.

    Raises:
        IndexCorrupt: `CURRENT` is missing or damaged.
    """
    return read_sealed(folder / CURRENT, _Current).manifest


def read_manifest(folder: Path, file: str) -> Manifest:
    """Read a manifest by its name.

    Raises:
        IndexCorrupt: It is missing or damaged, or names another version.
    """
    manifest = read_sealed(folder / file, Manifest)
    if manifest.file != file:
        raise IndexCorrupt(folder / file, f"is {manifest.file} under another name")
    return manifest
