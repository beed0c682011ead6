"""kill -9 at random times: every acknowledged change is there, and at most one batch more."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.index import Store
from tests.index.contents import check_tidy
from tests.index.crasher import COLUMNS
from tests.soak import count, record

ROOT = Path(__file__).parents[2]
KILLS = count(8, 200)
# A store goes through this many kills; then there is a new one, as they grow.
KILLS_PER_STORE = 25


class Said(NamedTuple):
    """The last that the process said, or that was known before."""

    position: int
    version: int


def test_kill(tmp_path: Path) -> None:
    rng = random.Random(20240611)
    changes = commits = 0
    for kill in range(KILLS):
        path = tmp_path / f"store-{kill // KILLS_PER_STORE}"
        if kill % KILLS_PER_STORE == 0:
            Store.create(path).close()
            known = Said(0, 1)
        said = run_and_kill(path, known, rng, sync=kill % 4 == 3)
        found = check(path, said)
        changes += found.position - known.position
        commits += found.version - known.version
        known = found
    assert changes > KILLS and commits > KILLS // 2
    record("index-kills", kills=KILLS, changes=changes, commits=commits)


def run_and_kill(path: Path, known: Said, rng: random.Random, sync: bool) -> Said:
    """Let a process work on a store for a while."""
    command = [sys.executable, "-m", "tests.index.crasher", str(path), str(rng.getrandbits(32))]
    with subprocess.Popen(
        command + ["sync"] * sync, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        # Imports take longest, and are of no interest.
        assert process.stdout.readline() == b"start 0\n", process.stderr.read().decode()
        time.sleep(rng.uniform(0, 0.25))
        process.kill()
        lines = process.stdout.read().decode().splitlines()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGKILL
    last = {"position": known.position, "version": known.version}
    for line in lines:
        what, number = line.split()
        assert int(number) > last[what]
        last[what] = int(number)
    return Said(**last)


def check(path: Path, said: Said) -> Said:
    """Look at what was left."""
    with Store.open(path) as store:
        check_tidy(path)
        number, first, size = (column(store, place) for place in range(3))
        position = len(number)
        assert store.position == position
        assert (number == np.arange(1, position + 1)).all()
        # Batches are whole: each begins where it says, and the next one where it ends.
        begins = np.flatnonzero(number == first)
        assert (np.repeat(number[begins], size[begins]) == first).all()
        # The one that was being written when the kill came may be there, or not.
        more = position - said.position
        assert more == 0 or (more == size[-1] and first[-1] == said.position + 1)
        assert said.version <= store.version <= said.version + 1
        for segment in store.segments:
            rows = store.removed[segment.name]
            assert rows is None or (rows == segment.arrays["number"][::2]).all()
            assert segment.meta == {"rows": len(segment.arrays["number"])}
        return Said(position, store.version)


def column(store: Store, place: int) -> np.ndarray:
    """One of the numbers of each change, in segments and after them."""
    rest = np.array([change[place] for change in store.changes], np.int64)
    return np.concatenate([*(one.arrays[COLUMNS[place]] for one in store.segments), rest])
