"""A store on disk: immutable segments, a log of the changes after them, one writer, many readers.

Every change is in the log when `append` returns. A commit atomically replaces changes by segments
that hold them. docs/internals/architecture.md describes the files and their guarantees.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from tamis.errors import InputError
from tamis.storage.store.arrays import Array
from tamis.storage.store.durable_files import UNFINISHED, remove, sync_folder
from tamis.storage.store.lock import WriterLock
from tamis.storage.store.log import create_log
from tamis.storage.store.log_frames import Change
from tamis.storage.store.manifest import LogPart, Manifest, switch_current, write_manifest
from tamis.storage.store.sealed_json import check_meta
from tamis.storage.store.view import LoadedVersion, MappedSegment, View, load_current
from tamis.storage.store.writer import Writer


class Store:
    """An open store. It is thread-safe.

    Attributes:
        path: Its folder.
    """

    def __init__(self, path: Path, loaded: LoadedVersion, writer: Writer | None) -> None:
        """Use `Store.create` or `Store.open` instead."""
        self.path = path
        self._loaded = loaded._replace(changes=[])
        self._writer = writer
        # The position before the changes that were found on opening, and these changes.
        self._found = loaded.view.covered, loaded.changes

    @classmethod
    def create(
        cls, path: str | Path, meta: Mapping[str, object] | None = None, *, sync: bool = True
    ) -> Store:
        """Create an empty store, and open it for writing.

        Args:
            path: The folder, which must not exist or must be empty.
            meta: Any value that JSON can hold.
            sync: As for `open`.

        Raises:
            InputError: The path exists, or `meta` is not JSON.
        """
        _create_folder(Path(path).resolve(), check_meta(meta or {}))
        return cls.open(path, sync=sync)

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = True, sync: bool = True) -> Store:
        """Open a store, and verify all checksums.

        Args:
            path: Its folder.
            writable: Acquire the lock, cut off a torn batch at the end of the log, and remove the
                files of unfinished commits. Otherwise nothing on disk changes, and the store shows
                the version that is current now, whatever a writer commits later.
            sync: `append` waits until changes are on disk. Otherwise they survive a crash of the
                process, but a power cut may lose or damage those after the last commit. A commit
                always waits.

        Raises:
            InputError: The folder does not exist.
            IndexLocked: The store is opened for writing, and another writer has it open.
            IndexCorrupt: A file is missing or damaged, or of another format.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise InputError("there is no index here", str(path))
        if not writable:
            return cls(folder, load_current(folder), None)
        right = WriterLock(folder)
        try:
            loaded = load_current(folder)
            return cls(folder, loaded, Writer(folder, loaded, right, sync))
        except BaseException:
            right.release()
            raise

    # -- Reading ----------------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """Version, metadata, segments and removals of one commit; a view never changes."""
        return self._loaded.view if self._writer is None else self._writer.view

    @property
    def version(self) -> int:
        """The number of the version, from 1."""
        return self.view.version

    @property
    def meta(self) -> Mapping[str, object]:
        """The metadata of the last commit that had any."""
        return self.view.meta

    @property
    def segments(self) -> tuple[MappedSegment, ...]:
        """The segments, in order of addition."""
        return self.view.segments

    @property
    def removals(self) -> Mapping[str, Array | None]:
        """By segment, the array of its removals, or None."""
        return self.view.removals

    @property
    def changes(self) -> list[Change]:
        """The changes that were found when the store was opened and that no commit covers.

        The first has number `view.covered + 1`. Changes appended since are not included.
        """
        # In this order: the view may advance meanwhile, and is never behind `_found`.
        before, changes = self._found
        return changes[self.view.covered - before :]

    @property
    def position(self) -> int:
        """The number of changes ever appended: the position after the last one."""
        return self._loaded.position if self._writer is None else self._writer.position

    # -- Writing ----------------------------------------------------------------------------------

    def append(self, changes: Iterable[Change]) -> int:
        """Append a batch of changes to the log: after a crash all of them are present, or none.

        Args:
            changes: Tuples of values that msgpack can hold.

        Returns:
            The position after them, for the `covers` of a commit.

        Raises:
            InputError: A change has another type, or the store cannot be written to.
        """
        return self._require_writer().append(list(changes))

    def commit(
        self,
        add: Iterable[tuple[Mapping[str, Array], Mapping[str, object]]] = (),
        drop: Iterable[str] = (),
        removed: Mapping[str, Array] | None = None,
        covers: int | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> int:
        """Create a new version atomically.

        Other threads may append meanwhile, and commit too: commits are serialised.

        Args:
            add: The arrays and the metadata of new segments.
            drop: The names of segments to drop.
            removed: By the name of a segment, the array of its removals, which replaces the
                previous one.
            covers: The position up to which changes are in the segments and are no longer
                replayed.
            meta: New metadata of the store.

        Returns:
            The number of the version, which is on disk.

        Raises:
            InputError: A segment or a position does not exist, an array or metadata cannot be
                written, or the store cannot be written to. Nothing has changed.
        """
        checked = None if meta is None else check_meta(meta)
        view = self._require_writer().commit(list(add), set(drop), removed or {}, covers, checked)
        before, changes = self._found
        if view.covered > before:
            self._found = view.covered, changes[view.covered - before :]
        return view.version

    def close(self) -> None:
        """Release the lock. What was read stays readable, and closing again does nothing."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Store:
        """Return the store; `with` closes it at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise InputError("is open for reading only", str(self.path))
        return self._writer


def _create_folder(folder: Path, meta: dict[str, object]) -> None:
    """Create an empty store under another name and rename it, so that it is never incomplete."""
    unfinished = folder.with_name(f".{folder.name}-{token_hex(4)}{UNFINISHED}")
    unfinished.mkdir(parents=True)
    log = LogPart("log-000001", first=0)
    manifest = Manifest(1, 0, [], [log], next_file=2, meta=meta)
    try:
        create_log(unfinished / log.name, log.first)
        write_manifest(unfinished, manifest)
        switch_current(unfinished, manifest)
        os.rename(unfinished, folder)
    except OSError as error:
        remove(unfinished)
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise InputError("already exists; choose another path", str(folder)) from error
        raise
    sync_folder(folder.parent)
