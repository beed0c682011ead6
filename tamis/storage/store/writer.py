"""The one writer of a store: it appends to the log and switches from version to version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from tamis.errors import InputError
from tamis.storage.store.arrays import Array, write_arrays
from tamis.storage.store.durable_files import UNFINISHED, remove
from tamis.storage.store.edit import Edit, check_edit, next_logs, next_manifest, next_view
from tamis.storage.store.leftovers import remove_leftovers
from tamis.storage.store.lock import WriterLock
from tamis.storage.store.log import HEADER_SIZE, LogWriter, create_log
from tamis.storage.store.log_frames import Change
from tamis.storage.store.manifest import LogPart, switch_current, write_manifest
from tamis.storage.store.view import REMOVED, LoadedVersion, View, open_removed, open_segment

_IN_DOUBT = "a write failed half-way; open it again to see what is on disk"


class Writer:
    """The writer of a store that is open; from several threads if need be.

    Attributes:
        view: The current version.
    """

    def __init__(self, folder: Path, loaded: LoadedVersion, right: WriterLock, sync: bool) -> None:
        """Go on where the last writer stopped, and clean up after it."""
        self.view = loaded.view
        self._folder = folder
        self._manifest = loaded.manifest
        self._next_file = loaded.manifest.next_file
        self._writer_lock = right
        self._sync = sync
        self._refusal = ""
        # Held by a commit from beginning to end.
        self._committing = Lock()
        # Held while a batch is appended and while a commit switches over, but not while the files
        # of a commit are written: nobody waits for those. Taken after the other one.
        self._lock = Lock()
        remove_leftovers(folder, loaded.manifest)
        log = folder / loaded.manifest.logs[-1].name
        self._log = LogWriter(log, loaded.position, loaded.log_size)

    @property
    def position(self) -> int:
        """The position after the last change."""
        return self._log.position

    def append(self, batch: Sequence[Change]) -> int:
        """Add a batch to the log; gives the position after it."""
        with self._lock:
            self._check_writable()
            return self._log.append(batch, self._sync) if batch else self._log.position

    def commit(
        self,
        add: Sequence[tuple[Mapping[str, Array], Mapping[str, object]]],
        drop: set[str],
        removed: Mapping[str, Array],
        covers: int | None,
        meta: dict[str, object] | None,
    ) -> View:
        """Make a new version."""
        with self._committing:
            with self._lock:
                self._check_writable()
                check_edit(self.view, self.position, drop, removed.keys(), covers)
            segments = {self._new_name("segment"): segment for segment in add}
            folders = {name: self._new_name("removed") for name in removed}
            made = {*segments, *folders.values()}
            try:
                for name, (arrays, about) in segments.items():
                    write_arrays(self._folder / name, arrays, about)
                for name, folder in folders.items():
                    write_arrays(self._folder / folder, {REMOVED: removed[name]}, {})
                unneeded = self._publish(self._edit(segments, drop, folders, covers, meta), made)
            except BaseException:
                self._discard(made)
                raise
            self._discard(unneeded)
            return self.view

    def close(self) -> None:
        """Let go of everything. What was appended is on disk then, synced or not."""
        with self._committing, self._lock:
            try:
                if not self._refusal_reason():
                    self._log.sync()
            finally:
                self._refusal = "it is closed"
                self._log.close()
                self._writer_lock.release()

    def _edit(
        self,
        segments: Iterable[str],
        drop: set[str],
        removed: Mapping[str, str],
        covers: int | None,
        meta: dict[str, object] | None,
    ) -> Edit:
        """A commit whose files are written; opening them checks that they were written right."""
        added = tuple(open_segment(self._folder, name) for name in segments)
        arrays = {name: (file, open_removed(self._folder, file)) for name, file in removed.items()}
        return Edit(added, drop, arrays, covers, meta)

    def _publish(self, edit: Edit, made: set[str]) -> set[str]:
        """Switch to the next version; gives the files that only the one before needs."""
        with self._lock:
            self._check_writable()
            view = next_view(self.view, edit)
            logs = self._next_logs(view.covered, made)
            # A manifest that says how long a log is must not be on disk before the log is.
            self._log.sync()
            before = self._manifest
            manifest = next_manifest(before, edit, view, logs, self._next_file)
            write_manifest(self._folder, manifest)
            # Until all is done, on disk and here, whatever happens leaves the store in doubt.
            self._refusal = _IN_DOUBT
            switch_current(self._folder, manifest)
            if logs[-1] != before.logs[-1]:
                self._log.close()
                self._log = LogWriter(self._folder / logs[-1].name, self.position, HEADER_SIZE)
            self._manifest = manifest
            self.view = view
            self._refusal = ""
            return before.files - manifest.files

    def _next_logs(self, covered: int, made: set[str]) -> list[LogPart]:
        """The logs of the next version; a new one if the changes of the old ones get in the way."""
        logs = self._manifest.logs
        if covered == self._manifest.covered:
            return logs
        fresh = LogPart(self._new_name("log"), self.position)
        made.add(fresh.name)
        create_log(self._folder / fresh.name, fresh.first)
        return next_logs(logs, self._log.size, covered, fresh)

    def _new_name(self, kind: str) -> str:
        self._next_file += 1
        return f"{kind}-{self._next_file - 1:06d}"

    def _check_writable(self) -> None:
        if refusal := self._refusal_reason():
            raise InputError(f"cannot be written to: {refusal}", str(self._folder))

    def _refusal_reason(self) -> str:
        """Why nothing can be written; empty if it can."""
        if not self._writer_lock.is_ours:
            return "it was opened by the process that this one is a fork of"
        return self._refusal or (_IN_DOUBT if self._log.in_doubt else "")

    def _discard(self, files: set[str]) -> None:
        """Remove files that no version needs; what cannot be removed the next writer will."""
        if self._refusal == _IN_DOUBT:
            return
        # Not what is needed: an interrupt may come when the commit is done already.
        for name in files - self._manifest.files:
            with suppress(OSError):
                remove(self._folder / name)
                remove(self._folder / (name + UNFINISHED))
