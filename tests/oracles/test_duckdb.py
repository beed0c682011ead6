"""Tamis against DuckDB."""

import duckdb
import pytest

from tests.oracles.columns import to_arrow
from tests.oracles.compare import Difference, Fails, Trial
from tests.oracles.duckdb import WITHOUT, DuckdbPrinter
from tests.soak import count, record

PAIRS = 20_000
SELECTORS = count(350, 10_000)

_WIDE = 2**53 + 1
_LEAST = -(2**63)
DIFFERENCES = [
    Difference(
        "n = 9007199254740992.0", {"n": _WIDE}, False,
        "9007199254740993::BIGINT = 9007199254740992.0::DOUBLE", True,
    ),
    Difference("n = '5'", {"n": 5}, None, "5 = '5'", True),
    Difference(
        "n + 1 > 0", {"n": 2**63 - 1}, None, "abs(9223372036854775807 + 1::BIGINT) > 0", Fails
    ),
    Difference("n % 0 > 0", {"n": 1}, None, "1 % 0 > 0", Fails),
    Difference("x / 0 IS NULL", {"x": 1.0}, True, "(1.0::DOUBLE / 0) IS NULL", False),
    Difference("x % 0 IS NULL", {"x": 1.0}, True, "(1.0::DOUBLE % 0::DOUBLE) IS NULL", False),
    Difference(
        "n % -1 = 0", {"n": _LEAST}, True, "(-9223372036854775808)::BIGINT % -1::BIGINT = 0", Fails
    ),
    Difference("-n > 0", {"n": _LEAST}, None, "-((-9223372036854775808)::BIGINT) > 0", True),
    Difference("array_contains(l, 2)", {"l": [None]}, None, "list_contains([NULL], 2)", False),
    Difference(r"a LIKE '\%'", {"a": "%"}, True, r"'%' LIKE '\%'", False),
    Difference("a LIKE 'é%' ESCAPE 'é'", {"a": "%"}, True, "'%' LIKE 'é%' ESCAPE 'é'", Fails),
    Difference("a ILIKE 'A%' ESCAPE 'A'", {"a": "ab"}, True, "'ab' ILIKE 'A%' ESCAPE 'A'", False),
    Difference("a ILIKE 'ΑΣ'", {"a": "ας"}, True, "'ας' ILIKE 'ΑΣ'", False),
    Difference("a ILIKE 'i'", {"a": "İ"}, False, "'İ' ILIKE 'i'", True),
    Difference("0.1 + 0.2 = 0.3", {}, False, "0.1 + 0.2 = 0.3", True),
    Difference("2147483647 + 1 > 0", {}, True, "abs(2147483647 + 1) > 0", Fails),
]  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
def test_same_truth(seed: int) -> None:
    trial = Trial.make(DuckdbPrinter(), WITHOUT, seed, events=60, selectors=SELECTORS)
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("arrow", to_arrow(trial.events))
    connection.execute("CREATE TABLE events AS SELECT * FROM arrow")
    trial.ask(lambda query: connection.execute(query).fetchall())
    connection.close()
    trial.conclude(PAIRS)
    record(f"oracle-duckdb-{seed}", pairs=trial.pairs)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.selector)
def test_known_differences_are_as_listed(difference: Difference) -> None:
    connection = duckdb.connect(config={"threads": 1})
    difference.check(lambda sql: connection.execute(f"SELECT {sql}").fetchone()[0], duckdb.Error)
    connection.close()
