"""Save an engine into a new index, and restore it from one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from tamis.engines.block.engine import BlockEngine
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.segment.segment_files import REMOVED, LayoutMismatch, PackedSegment
from tamis.engines.block.segment.stored_leaves import Read
from tamis.errors import IndexCorrupt, InputError
from tamis.matches import Id
from tamis.storage.index.journal import Journal, SegmentRecord
from tamis.storage.index.metadata import IndexMetadata, read_metadata
from tamis.storage.store import Store, View
from tamis.storage.store.durable_files import UNFINISHED, remove, sync_folder
from tamis.storage.store.view import MappedSegment as StoredSegment


def save(
    path: str | Path,
    engine: BlockEngine,
    about: IndexMetadata,
    extra_subscriptions: Callable[[], list[tuple[Id, str, int]]] = list,
) -> None:
    """Write a new index atomically.

    Args:
        path: The folder, which must not exist or must be empty.
        engine: The engine to save.
        about: The metadata of the matcher.
        extra_subscriptions: Returns the subscriptions that the engine does not hold, such as
            sequences: id, selector, priority.

    Raises:
        InputError: The path exists.
    """
    folder = Path(path).resolve()
    _check_free(folder)
    engine.gather()
    unfinished = folder.with_name(f".{folder.name}-{token_hex(4)}{UNFINISHED}")
    try:
        with Store.create(unfinished) as store:
            Journal(store, engine, about, {}, "is being written", extra_subscriptions).checkpoint(
                seal=True
            )
        _check_free(folder)
        os.rename(unfinished, folder)
    except BaseException:
        if unfinished.exists():
            remove(unfinished)
        raise
    sync_folder(folder.parent)


class IndexHandle(NamedTuple):
    """An open store, and the metadata of its matcher."""

    store: Store
    metadata: IndexMetadata


def open_index(path: str | Path, read_only: bool, sync: bool) -> IndexHandle:
    """Open an index.

    Raises:
        InputError: It is not the index of a matcher.
        IndexLocked: It is opened for writing, and another writer has it open.
        IndexCorrupt: A file is missing or damaged, or of another format.
    """
    folder = Path(path)
    if folder.is_dir() and not any(folder.glob("manifest-*")):
        raise InputError("there is no index here", str(path))
    store = Store.open(folder, writable=not read_only, sync=sync)
    try:
        return IndexHandle(store, read_metadata(folder, store.meta))
    except BaseException:
        store.close()
        raise


def restore(opened: IndexHandle, engine: BlockEngine, read: Read) -> dict[Segment, SegmentRecord]:
    """Load the segments of an index into an empty engine; return the record of each.

    Raises:
        IndexCorrupt: Segments are missing, or have another layout.
    """
    view, path = opened.store.view, opened.store.path
    found = _ordered_segments(path, view, opened.metadata.stack)
    try:
        stack = engine.restore((_to_engine_segment(one, view) for one in found), read)
    except LayoutMismatch as error:
        reason = f"was written by another version of Tamis: a segment {error}; compile it again"
        raise IndexCorrupt(path, reason) from error
    return {
        segment: SegmentRecord(one.name, str(one.meta["key"]), segment.dead)
        for segment, one in zip(stack, found, strict=True)
    }


def _check_free(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise InputError("already exists; choose another path", str(folder))


def _ordered_segments(path: Path, view: View, keys: list[str]) -> list[StoredSegment]:
    by_key: Mapping[object, StoredSegment] = {one.meta.get("key"): one for one in view.segments}
    if sorted(keys) != sorted(map(str, by_key)):
        raise IndexCorrupt(path, "its segments are not those that its metadata names")
    return [by_key[key] for key in keys]


def _to_engine_segment(one: StoredSegment, view: View) -> PackedSegment:
    removed = view.removals[one.name]
    arrays = one.arrays if removed is None else {**one.arrays, REMOVED: removed}
    return PackedSegment(arrays, one.meta)
