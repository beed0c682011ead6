"""A process that works on a store until it is killed, saying what has been acknowledged to it.

One thread appends batches of changes, numbered from 1, and says "position n" after each. Another
puts them into segments, merges those, and says "version v". A change is (number, number of the
first in its batch, size of the batch, filler).
"""

import random
import threading
import time

import numpy as np

from tamis.storage.store import Store
from tamis.storage.store.log_frames import Change
from tests.process_kills import START, say, serve

COLUMNS = ("number", "first", "size")


def work(path: str, seed: int, sync: bool) -> None:
    say(START)
    store = Store.open(path, sync=sync)
    pending = store.changes
    rng = random.Random(seed)
    threading.Thread(target=committing, args=(store, pending, rng.random()), daemon=True).start()
    while True:
        batch = next_batch(store.position + 1, rng)
        position = store.append(batch)
        say(f"position {position}")
        pending += batch
        time.sleep(rng.choice([0, 0, 0.0005, 0.002]))


def next_batch(first: int, rng: random.Random) -> list[Change]:
    size = rng.choice([1, 1, 2, 5, 30])
    filler = "x" * rng.choice([0, 20, 500])
    return [(number, first, size, filler) for number in range(first, first + size)]


def committing(store: Store, pending: list[Change], seed: float) -> None:
    rng = random.Random(seed)
    while True:
        time.sleep(rng.choice([0, 0.002, 0.01]))
        # Not always all of them: some came while a segment was written.
        taken = pending[: rng.randint(0, len(pending))]
        rows = np.array([change[:3] for change in taken], np.int64).reshape(-1, 3)
        merged = store.segments if len(store.segments) > 4 else ()
        columns = {
            name: np.concatenate([*(one.arrays[name] for one in merged), rows[:, place]])
            for place, name in enumerate(COLUMNS)
        }
        marked = () if merged else store.segments[-1:]
        version = store.commit(
            add=[(columns, {"rows": len(columns["number"])})],
            drop=[segment.name for segment in merged],
            removed={segment.name: segment.arrays["number"][::2] for segment in marked},
            covers=store.view.covered + len(taken),
        )
        say(f"version {version}")
        del pending[: len(taken)]


if __name__ == "__main__":
    serve(work)
