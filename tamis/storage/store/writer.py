"""The writer of a store: it appends to the log and commits versions."""

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

_IN_DOUBT = "a write failed half-way; open it again to recover what is on disk"


class Writer:
    """The writer of an open store; it is thread-safe.

    Attributes:
        view: The current version.
    """

    def __init__(self, folder: Path, loaded: LoadedVersion, right: WriterLock, sync: bool) -> None:
        """Continue after the last writer, and remove its leftovers."""
        self.view = loaded.view
        self._folder = folder
        self._manifest = loaded.manifest
        self._next_file = loaded.manifest.next_file
        self._writer_lock = right
        self._sync = sync
        self._refusal = ""
        # Held by a commit from start to end.
        self._committing = Lock()
        # Held while a batch is appended and while a commit switches versions, but not while the
        # files of a commit are written: appends do not wait for these. Acquired after the other.
        self._lock = Lock()
        remove_leftovers(folder, loaded.manifest)
        log = folder / loaded.manifest.logs[-1].name
        self._log = LogWriter(log, loaded.position, loaded.log_size)

    @property
    def position(self) -> int:
        """The position after the last change."""
        return self._log.position

    def append(self, batch: Sequence[Change]) -> int:
        """Append a batch to the log; return the position after it."""
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
        """Create a new version; return it."""
        with self._committing:
            with self._lock:
                self._check_writable()
                check_edit(self.view, self.position, drop, removed.keys(), covers)
            segments = {self._new_name("segment"): segment for segment in add}
            folders = {name: self._new_name("removed") for name in removed}
            created = {*segments, *folders.values()}
            try:
                for name, (arrays, about) in segments.items():
                    write_arrays(self._folder / name, arrays, about)
                for name, folder in folders.items():
                    write_arrays(self._folder / folder, {REMOVED: removed[name]}, {})
                unneeded = self._publish(self._edit(segments, drop, folders, covers, meta), created)
            except BaseException:
                self._discard(created)
                raise
            self._discard(unneeded)
            return self.view

    def close(self) -> None:
        """Sync the log, so that all changes are on disk, and release the lock."""
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
        """Return a commit whose files are written; opening them verifies their checksums."""
        added = tuple(open_segment(self._folder, name) for name in segments)
        arrays = {name: (file, open_removed(self._folder, file)) for name, file in removed.items()}
        return Edit(added, drop, arrays, covers, meta)

    def _publish(self, edit: Edit, created: set[str]) -> set[str]:
        """Switch to the next version; return the files that only the previous one needs."""
        with self._lock:
            self._check_writable()
            view = next_view(self.view, edit)
            logs = self._next_logs(view.covered, created)
            # A manifest holds the size of a log, so the log must be on disk before it.
            self._log.sync()
            before = self._manifest
            manifest = next_manifest(before, edit, view, logs, self._next_file)
            write_manifest(self._folder, manifest)
            # Until the switch is complete, on disk and in memory, errors leave the store in doubt.
            self._refusal = _IN_DOUBT
            switch_current(self._folder, manifest)
            if logs[-1] != before.logs[-1]:
                self._log.close()
                self._log = LogWriter(self._folder / logs[-1].name, self.position, HEADER_SIZE)
            self._manifest = manifest
            self.view = view
            self._refusal = ""
            return before.files - manifest.files

    def _next_logs(self, covered: int, created: set[str]) -> list[LogPart]:
        """Return the logs of the next version; start a new one if `covered` advances."""
        logs = self._manifest.logs
        if covered == self._manifest.covered:
            return logs
        fresh = LogPart(self._new_name("log"), self.position)
        created.add(fresh.name)
        create_log(self._folder / fresh.name, fresh.first)
        return next_logs(logs, self._log.size, covered, fresh)

    def _new_name(self, kind: str) -> str:
        self._next_file += 1
        return f"{kind}-{self._next_file - 1:06d}"

    def _check_writable(self) -> None:
        if refusal := self._refusal_reason():
            raise InputError(f"cannot be written to: {refusal}", str(self._folder))

    def _refusal_reason(self) -> str:
        """Return why the store cannot be written to; empty if it can."""
        if not self._writer_lock.is_ours:
            return "it was opened before this process was forked; this is a fork of the writer"
        return self._refusal or (_IN_DOUBT if self._log.in_doubt else "")

    def _discard(self, files: set[str]) -> None:
        """Remove files that no version needs; the next writer removes what remains."""
        if self._refusal == _IN_DOUBT:
            return
        # Keep the files of the manifest: an interrupt may come after the commit is complete.
        for name in files - self._manifest.files:
            with suppress(OSError):
                remove(self._folder / name)
                remove(self._folder / (name + UNFINISHED))
