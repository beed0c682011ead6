"""Tamis against DuckDB."""

import duckdb
import pytest

from tests.oracles.columns import to_arrow
from tests.oracles.compare import Trial
from tests.oracles.duckdb import WITHOUT, DuckdbPrinter

PAIRS = 20_000


@pytest.mark.parametrize("seed", [1, 2])
def test_same_truth(seed: int) -> None:
    trial = Trial.make(DuckdbPrinter(), WITHOUT, seed, events=60, selectors=600)
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("arrow", to_arrow(trial.events))
    connection.execute("CREATE TABLE events AS SELECT * FROM arrow")
    for selectors, texts in trial.groups(50):
        query = f"SELECT id, {', '.join(texts)} FROM events"
        trial.check(selectors, texts, connection.execute(query).fetchall())
        for selector, text in zip(selectors, texts, strict=True):
            found = connection.execute(f"SELECT id FROM events WHERE {text}").fetchall()
            trial.check_where(selector, text, (id for (id,) in found))
    connection.close()
    trial.conclude(PAIRS)
