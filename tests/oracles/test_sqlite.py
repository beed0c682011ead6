"""Tamis against SQLite."""

import sqlite3

import pytest

from tests.oracles.compare import Trial
from tests.oracles.sqlite import WITHOUT, SqlitePrinter, load

PAIRS = 20_000


@pytest.mark.parametrize("seed", [1, 2])
def test_same_truth(seed: int) -> None:
    trial = Trial.make(SqlitePrinter(), WITHOUT, seed, events=60, selectors=600)
    connection = sqlite3.connect(":memory:")
    load(connection, trial.events)
    for selectors, texts in trial.groups(50):
        query = f"SELECT id, {', '.join(texts)} FROM events"
        trial.check(selectors, texts, connection.execute(query))
        for selector, text in zip(selectors, texts, strict=True):
            found = connection.execute(f"SELECT id FROM events WHERE {text}")
            trial.check_where(selector, text, (id for (id,) in found))
    connection.close()
    trial.conclude(PAIRS, absent=frozenset({"RLike", "NOT RLike"}))
