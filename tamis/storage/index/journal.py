"""An open index behind a matcher: every change is logged, and segments follow in the background.

A change is applied first and logged then; if it cannot be logged it is undone. So at any moment
the engine has all that the log has, which makes it plain what a segment covers: when the draft is
sealed, everything up to the end of the log is in segments. The other way round a change that is
logged but not applied yet would have to be told apart. The price is that an event may match a
subscription some microseconds before it is safe.

A segment may hold more than it covers, and what was removed from it may be ahead of the log's
beginning too. That does no harm, as changes are replayed for what they come to: the last word on an
id is in the log, and it is the last.
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

# Seconds between two checkpoints: while much is added most segments are soon merged into others.
PAUSE = 0.5
# When so many changes are in the log alone, the draft is sealed: who only removes never fills it.
BEHIND = 1 << 14
# So many changes are worth a segment when the index is closed; fewer are replayed as fast.
WORTH = 256


class SegmentRecord(NamedTuple):
    """A segment on disk: its name there, its key, and how many were removed from it."""

    name: str
    key: str
    removed: int


class Journal:
    """What makes the changes of a matcher last.

    Attributes:
        lock: Held during a change, from applying it until it is logged.
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
        """Go on from what is in the store, all of which the engine has.

        Args:
            store: The index.
            engine: What is to be kept.
            about: What the index says about the matcher.
            kept: The segments of the engine that are in the index.
            refusal: Why there can be no changes; empty if there can.
            extra_subscriptions: Gives the subscriptions that the engine does not have: id,
                selector, priority.
        """
        self._store, self._engine, self._metadata, self._kept = store, engine, about, kept
        self._refusal, self._extra_subscriptions = refusal, extra_subscriptions
        self.lock = RLock()
        # Held by a checkpoint, from beginning to end; taken before the other one.
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
        """Nobody else may change anything meanwhile, and no checkpoint begins.

        Raises:
            InputError: There can be no changes.
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
        """The engine has other segments; it is locked."""
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
                # Nothing is lost: all of it is in the log. The next one tries again.
                self._failure = error

    def checkpoint(self, seal: bool = False) -> None:
        """Bring the segments on disk up to those of the engine, with the draft too if `seal`."""
        with self._committing:
            with self.lock:
                # Before the snapshot: a thread that matches may seal the draft at any time.
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
        """Write what is worth it into segments, and let another write.

        Raises:
            InputError, OSError: That could not be written; the log has it.
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
