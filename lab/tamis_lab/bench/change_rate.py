"""Changes one by one: how many per second, alone and while another thread matches."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from tamis.engines import ENGINES, Engine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.matches import Id
from tamis_lab.bench.insertion import parse_in_chunks, seconds_to_add, seconds_to_remove
from tamis_lab.harness.measure import Row
from tamis_lab.workloads.selective import SelectiveWorkload

# Engines that can change in one thread while another matches; the others share a lock.
CONCURRENT = frozenset({"block"})
IDLE_SECONDS = 2.0
# Events that are matched at a time: large batches, as for throughput.
BATCH = 1 << 16
TURN = 100  # changes before the lock is released
MOST_SECONDS = 30.0  # for a series of changes: with a lock, some engines would take very long

T = TypeVar("T")


class BackgroundMatcher:
    """A thread that matches a batch over and over, and counts the events."""

    def __init__(self, engine: Engine, batch: EventBatch, lock: AbstractContextManager[object]):
        """Match this batch repeatedly, with the lock held each time."""
        self._engine = engine
        self._batch = batch
        self._lock = lock
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._events = 0
        self._failure: BaseException | None = None

    def __enter__(self) -> BackgroundMatcher:
        """Start the thread."""
        self._begun = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the thread, and raise what it raised."""
        self._stopped.set()
        self._thread.join()
        self.events_per_s = self._events / (time.perf_counter() - self._begun)
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while True:  # at least once, however short the time is
                with self._lock:
                    self._engine.match(self._batch).event_counts()
                self._events += len(self._batch)
                if self._stopped.is_set():
                    return
                time.sleep(0)  # lets other threads take the lock
        except BaseException as error:
            self._failure = error


def change_rates(name: str, size: int) -> Iterator[Row]:
    """Additions and removals per second: half of them alone, half while a thread matches."""
    engine = ENGINES[name]()
    workload = SelectiveWorkload(subscriptions=size)
    texts = workload.selectors()
    batch = workload.events(BATCH)
    engine.add(Subscription.of(size, "a0 = -1"))  # so that the kernels are compiled
    engine.match(batch)
    half = size // 2
    row: Row = {"engine": name, "subscriptions": half}

    added: list[ChangeBatch] = []
    for chunk in parse_in_chunks(islice(texts, half)):
        added += change_in_batches(chunk, partial(seconds_to_add, engine), nullcontext())
    with BackgroundMatcher(engine, batch, nullcontext()) as idle:
        time.sleep(IDLE_SECONDS)
    removed = change_in_batches(
        _random_half(range(half)), partial(seconds_to_remove, engine), nullcontext()
    )
    found = _per_second(added, removed) | {"events_per_s": idle.events_per_s}
    yield row | {"way": "alone"} | found | {"visible": _visibility(engine)}

    lock = nullcontext() if name in CONCURRENT else threading.Lock()
    # Parsed in advance: parsing would take interpreter time from both threads.
    rest = [subscription for chunk in parse_in_chunks(texts, first=half) for subscription in chunk]
    with BackgroundMatcher(engine, batch, lock) as during:
        added = change_in_batches(rest, partial(seconds_to_add, engine), lock)
    ids = _random_half(range(half, half + sum(turn.changes for turn in added)))
    with BackgroundMatcher(engine, batch, lock):
        removed = change_in_batches(ids, partial(seconds_to_remove, engine), lock)
    found = _per_second(added, removed) | {"events_per_s": during.events_per_s}
    way = "while matching" if name in CONCURRENT else "while matching, by a lock"
    yield row | {"way": way} | found | {"visible": _visibility(engine)}


class ChangeBatch(NamedTuple):
    """A number of changes, and how long they took, including the wait for the lock."""

    changes: int
    seconds: float


def change_in_batches(
    items: list[T], change: Callable[[list[T]], object], lock: AbstractContextManager[object]
) -> list[ChangeBatch]:
    """Make changes, a hundred at a time, until all are made or the time is up."""
    turns: list[ChangeBatch] = []
    end = time.perf_counter() + MOST_SECONDS
    for start in range(0, len(items), TURN):
        part = items[start : start + TURN]
        begun = time.perf_counter()
        with lock:
            change(part)
        turns.append(ChangeBatch(len(part), time.perf_counter() - begun))
        if time.perf_counter() > end:
            break
    return turns


def _random_half(ids: range) -> list[int]:
    """Return half of the ids, in random order."""
    return random.Random(1).sample(ids, max(1, len(ids) // 2))


def _per_second(added: list[ChangeBatch], removed: list[ChangeBatch]) -> Row:
    return {
        "added_per_s": _rate(added),
        "slowest_hundred_per_s": min(turn.changes / turn.seconds for turn in added),
        "removed_per_s": _rate(removed),
    }


def _rate(turns: list[ChangeBatch]) -> float:
    return sum(turn.changes for turn in turns) / sum(turn.seconds for turn in turns)


def _visibility(engine: Engine) -> str:
    """Return whether the next call sees a change."""
    id: Id = -1
    event = EventBatch.of([{"a0": -2}])
    engine.add(Subscription.of(id, "a0 = -2"))
    there = engine.match(event).of_event(0)
    engine.remove(id)
    return "yes" if (there, engine.match(event).of_event(0)) == ([id], []) else "NO"
