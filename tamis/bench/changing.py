"""Changes one by one: how many a second, alone and while another thread matches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

import numpy as np

from tamis.bench.adding import CHUNK, parsed_in_chunks, seconds_to_add, seconds_to_remove
from tamis.bench.measure import Row
from tamis.engines import ENGINES, Engine
from tamis.engines.subscription import Subscription
from tamis.events import EventBatch
from tamis.matches import Id
from tamis.workloads.selective import Selective

# Engines that may be changed in one thread while another matches; the rest take turns at a lock.
CONCURRENT = frozenset({"block"})
IDLE_SECONDS = 2.0
TURN = 100  # changes between which a thread without a lock of its own lets others in


class Matching:
    """A thread that matches a batch over and over, and counts the events."""

    def __init__(self, engine: Engine, batch: EventBatch, lock: AbstractContextManager[object]):
        """Match this batch, holding the lock each time."""
        self._engine = engine
        self._batch = batch
        self._lock = lock
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._events = 0
        self._failure: BaseException | None = None

    def __enter__(self) -> Matching:
        """Begin."""
        self._begun = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and raise what the thread raised."""
        self._stopped.set()
        self._thread.join()
        self.events_per_s = self._events / (time.perf_counter() - self._begun)
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while True:  # once at least, however short the time is
                with self._lock:
                    self._engine.match(self._batch).event_counts()
                self._events += len(self._batch)
                if self._stopped.is_set():
                    return
                time.sleep(0)  # or nobody else would get the lock
        except BaseException as error:
            self._failure = error


def changed(name: str, size: int) -> Iterator[Row]:
    """Additions and removals per second; half of the subscriptions while nothing else happens."""
    engine = ENGINES[name]()
    workload = Selective(subscriptions=size)
    texts = workload.selectors()
    batch = workload.events(2048)
    engine.add(Subscription.of(size, "a0 = -1"))  # so that there is something to compile for
    engine.match(batch)
    chunk = max(1, min(CHUNK, size // 4))
    alone = islice(texts, size // 2)
    added = [(len(part), seconds_to_add(engine, part)) for part in parsed_in_chunks(alone, chunk)]
    with Matching(engine, batch, nullcontext()) as idle:
        time.sleep(IDLE_SECONDS)
    removed = _some(size // 2)
    row: Row = {"engine": name, "subscriptions": size // 2}
    yield row | {
        "way": "alone",
        **_per_second(added),
        "removed_per_s": len(removed) / seconds_to_remove(engine, removed),
        "events_per_s": idle.events_per_s,
        "visible": _visible(engine),
    }
    lock = nullcontext() if name in CONCURRENT else threading.Lock()
    # Parsed beforehand: parsing would take its share of the interpreter from both.
    parts = list(parsed_in_chunks(texts, chunk, size // 2))
    with Matching(engine, batch, lock) as during:
        added = [(len(part), _add_in_turns(engine, part, lock)) for part in parts]
    removed = [id + size // 2 for id in _some(size - size // 2)]
    with Matching(engine, batch, lock):
        begun = time.perf_counter()
        for start in range(0, len(removed), TURN):
            with lock:
                seconds_to_remove(engine, removed[start : start + TURN])
        took = time.perf_counter() - begun
    yield row | {
        "way": "while matching" if name in CONCURRENT else "while matching, by a lock",
        **_per_second(added),
        "removed_per_s": len(removed) / took,
        "events_per_s": during.events_per_s,
        "visible": _visible(engine),
    }


def _add_in_turns(
    engine: Engine, part: list[Subscription], lock: AbstractContextManager[object]
) -> float:
    """Seconds to add them, and to wait for the lock."""
    begun = time.perf_counter()
    for start in range(0, len(part), TURN):
        with lock:
            seconds_to_add(engine, part[start : start + TURN])
    return time.perf_counter() - begun


def _some(size: int) -> list[int]:
    """Half of so many, in random order."""
    return np.random.default_rng(1).permutation(size)[: max(1, size // 2)].tolist()  # type: ignore[no-any-return]


def _per_second(added: list[tuple[int, float]]) -> Row:
    return {
        "added_per_s": sum(count for count, _ in added) / sum(seconds for _, seconds in added),
        "slowest_chunk_per_s": min(count / seconds for count, seconds in added),
    }


def _visible(engine: Engine) -> str:
    """Whether the next call sees a change."""
    id: Id = -1
    event = EventBatch.of([{"a0": -2}])
    engine.add(Subscription.of(id, "a0 = -2"))
    there = engine.match(event).of_event(0)
    engine.remove(id)
    return "yes" if (there, engine.match(event).of_event(0)) == ([id], []) else "NO"
