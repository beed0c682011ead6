"""Tamis against SQLite."""

import sqlite3

import pytest

from tests.oracles.compare import Difference, Fails, Trial
from tests.oracles.sqlite import WITHOUT, SqlitePrinter, load
from tests.soak import count, record

PAIRS = 20_000
SELECTORS = count(350, 10_000)

DIFFERENCES = [
    Difference("x IS NULL", {"x": float("nan")}, False, "(9e999 - 9e999) IS NULL", True),
    Difference("n + 1 IS NULL", {"n": 2**63 - 1}, True, "(9223372036854775807 + 1) IS NULL", False),
    Difference("7 / 2 = 3.5", {}, True, "7 / 2 = 3.5", False),
    Difference("7.5 % 2 = 1.5", {}, True, "7.5 % 2 = 1.5", False),
    Difference("a LIKE 'A'", {"a": "a"}, False, "'a' LIKE 'A'", True),
    Difference(r"a LIKE '\%'", {"a": "%"}, True, r"'%' LIKE '\%'", False),
    Difference("a ILIKE 'É'", {"a": "é"}, True, "lower('é') LIKE lower('É')", False),
    Difference("least(a, 1) = 1", {}, True, "min(NULL, 1) = 1", None),
    Difference("b = 1", {"b": True}, None, "TRUE = 1", True),
    Difference("n = '5'", {"n": 5}, None, "5 = '5'", False),
    Difference("abs(n) > 0", {"n": -(2**63)}, None, "abs(-9223372036854775808) > 0", Fails),
]


@pytest.mark.parametrize("seed", [1, 2])
def test_same_truth(seed: int) -> None:
    trial = Trial.make(SqlitePrinter(), WITHOUT, seed, events=60, selectors=SELECTORS)
    connection = sqlite3.connect(":memory:")
    load(connection, trial.events)
    trial.ask(connection.execute)
    connection.close()
    trial.conclude(PAIRS, absent=frozenset({"RLike", "NOT RLike"}))
    record(f"oracle-sqlite-{seed}", pairs=trial.pairs)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.selector)
def test_known_differences_are_as_listed(difference: Difference) -> None:
    connection = sqlite3.connect(":memory:")
    difference.check(
        lambda sql: connection.execute(f"SELECT {sql}").fetchone()[0], sqlite3.OperationalError
    )
    connection.close()
