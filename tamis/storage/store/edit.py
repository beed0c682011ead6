"""The edit of a commit, and the version after it. Nothing here accesses the disk."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from tamis.errors import InputError
from tamis.storage.store.arrays import Array
from tamis.storage.store.manifest import LogPart, Manifest, SegmentPart
from tamis.storage.store.view import MappedSegment, View


@dataclass(frozen=True, slots=True)
class Edit:
    """What a commit changes.

    Attributes:
        add: New segments.
        drop: The names of segments to drop.
        removed: By the name of a segment: the folder of the array of its removals, and the array.
        covers: The position up to which the segments now hold all changes; None if unchanged.
        meta: The caller's metadata; None if unchanged.
    """

    add: tuple[MappedSegment, ...]
    drop: Set[str]
    removed: Mapping[str, tuple[str, Array]]
    covers: int | None
    meta: dict[str, object] | None


def check_edit(
    view: View, position: int, drop: Set[str], removed: Set[str], covers: int | None
) -> None:
    """Reject a commit that does not fit the version it is based on.

    Raises:
        InputError: It names a segment or a position that does not exist.
    """
    names = {segment.name for segment in view.segments}
    for name in sorted((drop | removed) - names):
        raise InputError(f"the store has no segment {name!r}")
    for name in sorted(drop & removed):
        raise InputError(f"segment {name!r} is dropped, so nothing can be removed from it")
    if covers is not None and not view.covered <= covers <= position:
        raise InputError(
            f"a commit must cover a position from {view.covered} to {position}, not {covers}"
        )


def next_view(view: View, edit: Edit) -> View:
    """Return the version after a commit."""
    segments = [segment for segment in view.segments if segment.name not in edit.drop]
    segments += edit.add
    removed = {segment.name: view.removals.get(segment.name) for segment in segments}
    removed |= {name: array for name, (_, array) in edit.removed.items()}
    return View(
        view.version + 1,
        view.covered if edit.covers is None else edit.covers,
        view.meta if edit.meta is None else edit.meta,
        tuple(segments),
        removed,
    )


def next_manifest(
    manifest: Manifest, edit: Edit, view: View, logs: list[LogPart], next_file: int
) -> Manifest:
    """Return the manifest of the version after a commit."""
    folders = {part.name: part.removed for part in manifest.segments}
    folders |= {name: folder for name, (folder, _) in edit.removed.items()}
    segments = [SegmentPart(segment.name, folders.get(segment.name)) for segment in view.segments]
    return Manifest(view.version, view.covered, segments, logs, next_file, dict(view.meta))


def next_logs(logs: list[LogPart], size: int, covers: int, fresh: LogPart) -> list[LogPart]:
    """Return the logs after a commit: those that hold a change after `covers`, then the new one.

    Args:
        logs: The logs before the commit; the last one is closed by it.
        size: The size of the last one.
        covers: The position up to which changes are no longer needed.
        fresh: The new log, which later changes are appended to.
    """
    sealed = [*logs[:-1], LogPart(logs[-1].name, logs[-1].first, size)]
    ends = [part.first for part in [*sealed[1:], fresh]]
    return [part for part, end in zip(sealed, ends, strict=True) if end > covers] + [fresh]
