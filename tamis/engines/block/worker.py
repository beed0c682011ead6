"""A thread that merges segments and lays them out anew, while there is anything to do."""

from __future__ import annotations

from threading import Thread

from tamis.engines.block.contents import Contents
from tamis.engines.block.maintenance import UpkeepStep, next_step
from tamis.engines.block.segment.segment import merge_segments, rebuild_segment

# Who adds much waits for it so many seconds at most.
_PATIENCE = 0.1


class Worker:
    """Upkeep in the background.

    What it makes of segments it makes without the lock, of what they were a moment ago. It ends
    while it has the lock in which it saw that nothing is left, so nobody who then finds something
    to do takes it for at work.
    """

    def __init__(self, contents: Contents) -> None:
        """Begin with nobody at work."""
        self._contents = contents
        self._thread: Thread | None = None
        self._failure: Exception | None = None

    def next_step(self) -> UpkeepStep | None:
        """What is to be done next, if anything; with the lock."""
        held = self._contents
        return next_step(held.stack.segments, held.recent.has_events, held.recent.is_quiet)

    def wake(self) -> None:
        """See that somebody is at work, if there is anything to do."""
        with self._contents.lock:
            idle = self._thread is None or not self._thread.is_alive()
            if idle and self.next_step() is not None:
                self._failure = None
                self._thread = Thread(target=self._run, name="tamis-upkeep", daemon=True)
                self._thread.start()

    def wait_briefly(self) -> None:
        """Let it catch up a little: every event looks into every segment."""
        thread = self._thread
        if thread is not None:
            thread.join(_PATIENCE)

    def wait(self) -> Exception | None:
        """Wait until it ends; why it did, if it failed."""
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
            raise  # as everybody's threads do: nobody may ever ask for it

    def _step(self) -> bool:
        """Do what is to be done next; whether there was anything."""
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
