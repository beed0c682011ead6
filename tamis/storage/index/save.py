"""An engine into a new index, and out of one."""

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
    """Write a new index: it is there whole, or not at all.

    What is `beside` the engine comes along: id, selector, priority.

    Raises:
        InputError: Something is there already.
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
    """A store, and what it says about its matcher."""

    store: Store
    metadata: IndexMetadata


def open_index(path: str | Path, read_only: bool, sync: bool) -> IndexHandle:
    """Open an index.

    Raises:
        InputError: It is no index of a matcher.
        IndexLocked: It is to be written to, and another writer has it open.
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
    """Put the segments of an index into an engine that has none; gives where each is kept.

    Raises:
        IndexCorrupt: They are not those that there should be, or have another layout.
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
        raise InputError("something is there already", str(folder))


def _ordered_segments(path: Path, view: View, keys: list[str]) -> list[StoredSegment]:
    by_key: Mapping[object, StoredSegment] = {one.meta.get("key"): one for one in view.segments}
    if sorted(keys) != sorted(map(str, by_key)):
        raise IndexCorrupt(path, "does not have the segments that it should have")
    return [by_key[key] for key in keys]


def _to_engine_segment(one: StoredSegment, view: View) -> PackedSegment:
    removed = view.removals[one.name]
    arrays = one.arrays if removed is None else {**one.arrays, REMOVED: removed}
    return PackedSegment(arrays, one.meta)
