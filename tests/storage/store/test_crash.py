"""kill -9 at random times: every acknowledged change survives, and at most one batch more."""

import random
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.storage.store import Store
from tests.process_kills import Killed
from tests.soak import count, record
from tests.storage.store.contents import check_tidy
from tests.storage.store.crasher import COLUMNS

KILLS = count(8, 200)
# The number of kills per store; then a new one is created, because stores grow.
KILLS_PER_STORE = 25


class Said(NamedTuple):
    """Return the last report of the process, or what was known before."""

    position: int
    version: int


def test_acknowledged_changes_survive_a_kill(tmp_path: Path) -> None:
    rng = random.Random(20240611)
    changes = commits = 0
    with Killed("tests.storage.store.crasher") as killed:
        for kill in range(KILLS):
            path = tmp_path / f"store-{kill // KILLS_PER_STORE}"
            if kill % KILLS_PER_STORE == 0:
                Store.create(path).close()
                known = Said(0, 1)
            seconds, seed, sync = rng.uniform(0, 0.25), rng.getrandbits(32), kill % 4 == 3
            found = check(path, last_of(killed.after(seconds, str(path), seed, sync), known))
            changes += found.position - known.position
            commits += found.version - known.version
            known = found
    assert changes > KILLS and commits > KILLS // 2
    record("index-kills", kills=KILLS, changes=changes, commits=commits)


def last_of(lines: list[str], known: Said) -> Said:
    """Return the last report of each kind."""
    last = {"position": known.position, "version": known.version}
    for line in lines:
        what, number = line.split()
        assert int(number) > last[what]
        last[what] = int(number)
    return Said(**last)


def check(path: Path, said: Said) -> Said:
    """Check what the kill left."""
    with Store.open(path) as store:
        check_tidy(path)
        number, first, size = (column(store, place) for place in range(3))
        position = len(number)
        assert store.position == position
        assert (number == np.arange(1, position + 1)).all()
        # Batches are complete: each starts at its position, and the next one where it ends.
        begins = np.flatnonzero(number == first)
        assert (np.repeat(number[begins], size[begins]) == first).all()
        # The batch that was being written during the kill may be present or not.
        more = position - said.position
        assert more == 0 or (more == size[-1] and first[-1] == said.position + 1)
        assert said.version <= store.version <= said.version + 1
        for segment in store.segments:
            rows = store.removals[segment.name]
            assert rows is None or (rows == segment.arrays["number"][::2]).all()
            assert segment.meta == {"rows": len(segment.arrays["number"])}
        return Said(position, store.version)


def column(store: Store, place: int) -> np.ndarray:
    """Return one number of each change, in segments and after them."""
    rest = np.array([change[place] for change in store.changes], np.int64)
    return np.concatenate([*(one.arrays[COLUMNS[place]] for one in store.segments), rest])
