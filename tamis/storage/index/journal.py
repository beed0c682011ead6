"""The journal of a matcher with an index: it logs changes, and writes segments in the background.

A change is applied first and then logged; if it cannot be logged, it is undone. So at any moment
the engine has every change that is in the log, and it is clear what a segment covers: when the
draft is sealed, everything up to the end of the log is in segments. In the other order, changes
that are logged but not yet applied would need special treatment. The cost is that an event may
match a subscription some microseconds before it is durable.

A segment may hold changes beyond the position it covers, and so may the array of its removals. That
is harmless because replaying changes is idempotent: the last change of an id in the log decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex
from threading import Event, Lock, RLock, Thread
from typing import NamedTuple

from tamis.engines.block.engine import BlockEngine
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.segment.segment_files import REMOVED, Snapshot, removed_records
from tamis.errors import InputError
from tamis.matches import Id
from tamis.storage.index.metadata import IndexMetadata
from tamis.storage.store import Store
from tamis.storage.store.log_frames import Change

# Seconds between two checkpoints: during bulk loads most segments are soon merged into others.
PAUSE = 0.5
# The draft is sealed when so many changes are only in the log: removals alone never fill it.
BEHIND = 1 << 14
# So many changes are written as a segment on close; fewer are replayed just as fast.
WORTH = 256


class SegmentRecord(NamedTuple):
    """A segment on disk: its name in the store, its key, and the number of removals from it."""

    name: str
    key: str
    removed: int


class Journal:
    """Makes the changes of a matcher durable.

    Attributes:
        lock: Held during a change, until it is applied and logged.
    """

    def __init__(
        self,
        store: Store,
        engine: BlockEngine,
        about: IndexMetadata,
        kept: dict[Segment, SegmentRecord],
        refusal: str,
        extra_subscriptions: Callable[[], list[tuple[Id, str, int]]] = list,
    ) -> None:
        """Continue from the state of the store, which the engine has loaded.

        Args:
            store: The index.
            engine: The engine to save.
            about: The metadata of the matcher.
            kept: The segments of the engine that are in the index.
            refusal: Why changes are refused; empty if they are not.
            extra_subscriptions: Returns the subscriptions that the engine does not hold, such as
                sequences: id, selector, priority.
        """
        self._store, self._engine, self._metadata, self._kept = store, engine, about, kept
        self._refusal, self._extra_subscriptions = refusal, extra_subscriptions
        self.lock = RLock()
        # Held by a checkpoint from start to end; acquired before the other one.
        self._committing = Lock()
        self._covers = store.view.covered
        self._seal_due = False
        self._due, self._stopped = Event(), Event()
        self._starting = Lock()
        self._worker: Thread | None = None
        self._failure: Exception | None = None
        if not refusal:
            engine.watcher = self._on_new_segments

    # -- changes ----------------------------------------------------------------------------------

    @contextmanager
    def lock_changes(self) -> Iterator[None]:
        """Lock out other changes and checkpoints.

        Raises:
            InputError: Changes are refused.
        """
        with self.lock:
            if self._refusal:
                raise InputError(self._refusal, str(self._store.path))
            yield

    def append(self, changes: Sequence[Change]) -> None:
        """Log changes that have been applied, all or none."""
        position = self._store.append(changes)
        if position - self._covers > BEHIND and not self._seal_due:
            self._seal_due = True
            self._wake()

    # -- checkpoints ------------------------------------------------------------------------------

    def _on_new_segments(self, sealed: bool) -> None:
        """Schedule a checkpoint: the engine has new segments. Called while it is locked."""
        if sealed:
            self._covers = self._store.position
        self._wake()

    def _wake(self) -> None:
        self._due.set()
        with self._starting:
            if self._worker is None and not self._stopped.is_set():
                self._worker = Thread(
                    target=self._checkpoint_loop, name="tamis-checkpoint", daemon=True
                )
                self._worker.start()

    def _checkpoint_loop(self) -> None:
        while True:
            self._stopped.wait(PAUSE)
            with self._starting:
                if self._stopped.is_set() or not self._due.is_set():
                    self._worker = None
                    return
                self._due.clear()
            try:
                self.checkpoint(self._seal_due)
                self._failure = None
            except Exception as error:
                # Nothing is lost: the log has all changes. The next checkpoint tries again.
                self._failure = error

    def checkpoint(self, seal: bool = False) -> None:
        """Write the engine's segments to disk, including the draft if `seal`."""
        with self._committing:
            with self.lock:
                # Before the snapshot: a matching thread may seal the draft at any time.
                covers = self._store.position if seal else self._covers
                snapshot = self._engine.snapshot(seal)
                snapshot.unindexed.extend(self._extra_subscriptions())
            self._commit(snapshot, covers)
            if seal:
                self._seal_due = False

    def _commit(self, snapshot: Snapshot, covers: int) -> None:
        alive = dict(zip(snapshot.stack, snapshot.alive, strict=True))
        removed = {segment: removed_records(some) for segment, some in alive.items()}
        fresh = [segment for segment in snapshot.stack if segment not in self._kept]
        gone = [segment for segment in self._kept if segment not in alive]
        fewer = [s for s in alive if s in self._kept and len(removed[s]) > self._kept[s].removed]
        keys = {segment: token_hex(8) for segment in fresh}
        keys |= {segment: kept.key for segment, kept in self._kept.items()}
        about = self._metadata.with_stack([keys[s] for s in snapshot.stack], snapshot.unindexed)
        add = []
        for segment in fresh:
            arrays, meta = self._engine.pack_segment(segment)
            add.append(({**arrays, REMOVED: removed[segment]}, {**meta, "key": keys[segment]}))
        self._store.commit(
            add,
            [self._kept[segment].name for segment in gone],
            {self._kept[segment].name: removed[segment] for segment in fewer},
            covers,
            about.meta(),
        )
        names = {str(one.meta["key"]): one.name for one in self._store.segments}
        self._kept = {
            segment: SegmentRecord(names[keys[segment]], keys[segment], len(removed[segment]))
            for segment in snapshot.stack
        }

    def close(self) -> None:
        """Write a last checkpoint if it is worth it, and release the lock.

        Raises:
            InputError, OSError: The checkpoint failed; the log has all changes.
        """
        with self._starting:
            self._stopped.set()
            worker = self._worker
        if worker is not None:
            worker.join()
        with self.lock:
            refusal, self._refusal = self._refusal, "is closed"
            try:
                if not refusal:
                    self._engine.settle()
                    behind = self._store.position - self._store.view.covered
                    if behind >= WORTH or self._due.is_set() or self._failure is not None:
                        self.checkpoint(seal=behind >= WORTH)
            finally:
                self._engine.watcher = None
                self._store.close()
