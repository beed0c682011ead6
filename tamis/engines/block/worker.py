"""A background thread that merges and rebuilds segments while there is anything to do."""

from __future__ import annotations

from threading import Thread

from tamis.engines.block.contents import Contents
from tamis.engines.block.maintenance import UpkeepStep, next_step
from tamis.engines.block.segment.segment import merge_segments, rebuild_segment

# The longest that `add` waits for the worker, in seconds.
_PATIENCE = 0.1


class Worker:
    """Maintenance in the background.

    It builds segments without holding the lock, from copies of what was alive. The thread ends
    under the same lock under which it saw that no work is left, so `wake` never mistakes a thread
    that is about to end for one that will do the work.
    """

    def __init__(self, contents: Contents) -> None:
        """Create a worker; its thread starts with the first `wake`."""
        self._contents = contents
        self._thread: Thread | None = None
        self._failure: Exception | None = None

    def next_step(self) -> UpkeepStep | None:
        """Return the next step, if there is any; the caller holds the lock."""
        held = self._contents
        return next_step(held.stack.segments, held.recent.has_events, held.recent.is_quiet)

    def wake(self) -> None:
        """Start the thread if there is work and it is not running."""
        with self._contents.lock:
            idle = self._thread is None or not self._thread.is_alive()
            if idle and self.next_step() is not None:
                self._failure = None
                self._thread = Thread(target=self._run, name="tamis-upkeep", daemon=True)
                self._thread.start()

    def wait_briefly(self) -> None:
        """Let the thread catch up a little: every event searches every segment."""
        thread = self._thread
        if thread is not None:
            thread.join(_PATIENCE)

    def wait(self) -> Exception | None:
        """Wait until the thread ends; return the exception if it failed."""
        thread = self._thread
        if thread is not None:
            thread.join()
        return self._failure

    def _run(self) -> None:
        try:
            while self._step():
                pass
        except Exception as error:
            self._failure = error
            raise  # for `threading.excepthook`: `wait` may never be called

    def _step(self) -> bool:
        """Do the next step; return whether there was one."""
        held = self._contents
        with held.lock:
            work = self.next_step()
            if work is None:
                self._thread = None
                return False
            old = held.stack.segments[work.place : work.place + 1 + work.merge]
            before = [segment.alive.copy() for segment in old]
            sample = held.sample()
        if work.merge:
            new, *kept = merge_segments(old[0], old[1], before, sample)
        else:
            new, *kept = rebuild_segment(old[0], before[0], sample)
        with held.lock:
            if all(segment in held.stack.segments for segment in old):
                held.swap(old, new, kept)
        return True
