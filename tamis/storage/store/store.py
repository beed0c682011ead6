"""A store on disk: immutable segments, a log of the changes after them, one writer, many readers.

Every change is in the log when `append` returns. A commit puts segments in the place of the changes
that they hold, in one step. docs/internals/architecture.md shows the files and says what they
promise.
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
    """A store that is open. All of it may be used from several threads.

    Attributes:
        path: Its folder.
    """

    def __init__(self, path: Path, loaded: LoadedVersion, writer: Writer | None) -> None:
        """For `Store.create` and `Store.open`, which are the ways to get one."""
        self.path = path
        self._loaded = loaded._replace(changes=[])
        self._writer = writer
        # The position before the first of the changes that were found, and these.
        self._found = loaded.view.covered, loaded.changes

    @classmethod
    def create(
        cls, path: str | Path, meta: Mapping[str, object] | None = None, *, sync: bool = True
    ) -> Store:
        """Make an empty store, and open it for writing.

        Args:
            path: Must not be there yet, or be an empty folder.
            meta: Anything that JSON can hold.
            sync: As for `open`.

        Raises:
            InputError: There is something already, or `meta` is not JSON.
        """
        _create_folder(Path(path).resolve(), check_meta(meta or {}))
        return cls.open(path, sync=sync)

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = True, sync: bool = True) -> Store:
        """Open a store, and check every byte of it.

        Args:
            path: Its folder.
            writable: Take the lock, cut off a torn batch at the end of the log, and remove what an
                unfinished commit left. Otherwise nothing on disk is touched, and what is seen is
                the version that is current now, whatever a writer commits later.
            sync: `append` waits until changes are on disk. Otherwise they survive the end of this
                process, however it comes; but a power cut may take those after the last commit, or
                damage them. A commit always waits.

        Raises:
            InputError: There is no folder.
            IndexLocked: It is to be written to, and another writer has it open.
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
        """Version, meta, segments and removed, all of one commit; it never changes."""
        return self._loaded.view if self._writer is None else self._writer.view

    @property
    def version(self) -> int:
        """The number of the version, from 1."""
        return self.view.version

    @property
    def meta(self) -> Mapping[str, object]:
        """What the last commit that gave a meta gave."""
        return self.view.meta

    @property
    def segments(self) -> tuple[MappedSegment, ...]:
        """The segments, in the order in which they were added."""
        return self.view.segments

    @property
    def removals(self) -> Mapping[str, Array | None]:
        """For every segment the array of what was removed from it, or None."""
        return self.view.removals

    @property
    def changes(self) -> list[Change]:
        """The changes that were found when the store was opened and that no commit covers.

        The first of them is number `view.covered + 1`. Those appended since are not among them.
        """
        # In this order: the view may move on meanwhile, and is never behind.
        before, changes = self._found
        return changes[self.view.covered - before :]

    @property
    def position(self) -> int:
        """How many changes were ever appended: the position after the last one."""
        return self._loaded.position if self._writer is None else self._writer.position

    # -- Writing ----------------------------------------------------------------------------------

    def append(self, changes: Iterable[Change]) -> int:
        """Add a batch of changes to the log: after a crash all of them are there, or none.

        Args:
            changes: Tuples of what msgpack can hold.

        Returns:
            The position after them, for the `covers` of a commit.

        Raises:
            InputError: A change is not of that kind, or the store cannot be written to.
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
        """Make a new version, in one step.

        Others may append meanwhile, and commit too: versions come one after the other.

        Args:
            add: The arrays and the meta of new segments.
            drop: The names of segments to leave out.
            removed: By the name of a segment, the array of what was removed from it, in the place
                of the one before.
            covers: Changes up to this position are in the segments, and are not replayed any more.
            meta: In the place of the meta before.

        Returns:
            The number of the version. It is on disk.

        Raises:
            InputError: A segment or a position is not there, an array or a meta cannot be written,
                or the store cannot be written to. Nothing has changed.
        """
        checked = None if meta is None else check_meta(meta)
        view = self._require_writer().commit(list(add), set(drop), removed or {}, covers, checked)
        before, changes = self._found
        if view.covered > before:
            self._found = view.covered, changes[view.covered - before :]
        return view.version

    def close(self) -> None:
        """Let another write. What was read stays readable, and closing again does nothing."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Store:
        """For `with`: closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _require_writer(self) -> Writer:
        if self._writer is None:
            raise InputError("is open for reading only", str(self.path))
        return self._writer


def _create_folder(folder: Path, meta: dict[str, object]) -> None:
    """Make an empty store beside its place and move it there: it is whole or not at all."""
    made = folder.with_name(f".{folder.name}-{token_hex(4)}{UNFINISHED}")
    made.mkdir(parents=True)
    log = LogPart("log-000001", first=0)
    manifest = Manifest(1, 0, [], [log], next_file=2, meta=meta)
    try:
        create_log(made / log.name, log.first)
        write_manifest(made, manifest)
        switch_current(made, manifest)
        os.rename(made, folder)
    except OSError as error:
        remove(made)
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise InputError("something is there already", str(folder)) from error
        raise
    sync_folder(folder.parent)
