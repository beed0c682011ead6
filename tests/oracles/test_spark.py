"""Tamis against Spark: both of its ways to evaluate, its WHERE, and selectors as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis.language.expr import (
    Arithmetic,
    ArrayContains,
    AtLeast,
    BoolExpr,
    Call,
    Literal,
    Negate,
    Xor,
    walk,
)
from tests.oracles.columns import to_arrow
from tests.oracles.compare import Difference, Fails, Trial
from tests.oracles.spark import WITHOUT, SparkPrinter
from tests.soak import count, record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

PAIRS = count(10_000, 20_000)
SELECTORS = count(160, 1_500)
GROUP = 40

_WIDE = 2**53 + 1
_LEAST = -(2**63)
DIFFERENCES = [
    Difference(
        "n = 9007199254740992.0", {"n": _WIDE}, False,
        "9007199254740993L = 9007199254740992.0D", True,
    ),
    Difference(
        "n IN (9007199254740992, 0.5)", {"n": _WIDE}, False,
        "9007199254740993L IN (9007199254740992L, 0.5D)", True,
    ),
    Difference(
        "greatest(n, x) % 2 = 1", {"n": _WIDE}, True,
        "greatest(9007199254740993L, CAST(NULL AS DOUBLE)) % 2 = 1", False,
    ),
    Difference("n = '5'", {"n": 5}, None, "5 = '5'", True),
    Difference("n = 'five'", {"n": 5}, None, "5 = 'five'", Fails),
    Difference("b = 1", {"b": True}, None, "TRUE = 1", Fails),
    Difference("n + 1 > 0", {"n": 2**63 - 1}, None, "9223372036854775807L + 1 > 0", Fails),
    Difference("n / 0 > 0", {"n": 1}, None, "1 / 0 > 0", Fails),
    Difference("abs(n) > 0", {"n": _LEAST}, None, "abs(-9223372036854775808L) > 0", Fails),
    Difference(
        "n + 9223372036854775807 + m > 0", {"n": 1, "m": -1}, None,
        "(SELECT try_add(try_add(id, 9223372036854775807L), id - 2) > 0 FROM range(1, 2))", True,
    ),
    Difference("0.1 + 0.2 = 0.3", {}, False, "0.1 + 0.2 = 0.3", True),
    Difference("2147483647 + 1 > 0", {}, True, "2147483647 + 1 > 0", Fails),
    Difference("least(n) = 1", {"n": 1}, True, "least(1) = 1", Fails),
    Difference("a RLIKE 'a$'", {"a": "a\n"}, False, "'a\n' RLIKE 'a$'", True),
    Difference("a RLIKE '^.$'", {"a": "\r"}, True, "'\r' RLIKE '^.$'", False),
    Difference(r"a RLIKE '\s'", {"a": "\x0b"}, False, "'\x0b' RLIKE r'\\s'", True),
    Difference("a RLIKE '(?i)É'", {"a": "é"}, True, "'é' RLIKE '(?i)É'", False),
    Difference(r"a = '\t'", {"a": "\\t"}, True, r"'\\t' = '\t'", False),
    Difference("a LIKE '😀%' ESCAPE '😀'", {"a": "%"}, True, "'%' LIKE '😀%' ESCAPE '😀'", Fails),
    Difference(
        "array_contains(l, NULL)", {"l": [1]}, None, "array_contains(array(1), NULL)", Fails
    ),
    Difference("b XOR FALSE", {"b": True}, True, "TRUE XOR FALSE", Fails),
    Difference("missing IS NULL", {}, True, "missing IS NULL", Fails),
    Difference(
        "TIMESTAMP '2024-05-01T08:00Z' = DATE '2024-05-01'", {}, False,
        "TIMESTAMP '2024-05-01T08:00Z' = DATE '2024-05-01'", Fails,
    ),
]  # fmt: skip


@pytest.fixture
def in_order(spark: SparkSession) -> Iterator[None]:
    """Without the rule that takes `try_add(try_add(a, 1), b)` for `try_add(try_add(a, b), 1)`.

    What overflows, and so is NULL, depends on the order.
    """
    rule = "org.apache.spark.sql.catalyst.optimizer.ReorderAssociativeOperator"
    spark.conf.set("spark.sql.optimizer.excludedRules", rule)
    yield
    spark.conf.unset("spark.sql.optimizer.excludedRules")


@pytest.fixture
def compiling(spark: SparkSession, compiled: bool) -> Iterator[None]:
    """Spark as people have it; elsewhere in our tests it compiles nothing."""
    names = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
    before = {name: spark.conf.get(name) for name in names}
    for name, value in names.items() if compiled else ():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


def _loaded(spark: SparkSession, trial: Trial, folder: Path | None) -> DataFrame:
    """The events: what is in memory the optimizer interprets, what is in files is compiled."""
    frame = spark.createDataFrame(to_arrow(trial.events))
    if folder is None:
        return frame
    frame.coalesce(1).write.parquet(str(folder / "events"))
    return spark.read.parquet(str(folder / "events"))


@pytest.mark.usefixtures("in_order", "compiling")
@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_same_truth(spark: SparkSession, tmp_path: Path, compiled: bool) -> None:
    trial = Trial.make(
        SparkPrinter(), WITHOUT, seed=1 + compiled, events=70, selectors=SELECTORS, depth=2
    )
    frame = _loaded(spark, trial, tmp_path if compiled else None)
    for selectors, texts in trial.groups(GROUP):
        asked = frame.selectExpr("id", *texts)
        trial.check(selectors, texts, asked.collect())
        plan = asked._jdf.queryExecution().executedPlan().toString()
        assert ("*(1) Project" in plan) is compiled
    trial.conclude(PAIRS)
    record(f"oracle-spark-{'compiled' if compiled else 'interpreted'}", pairs=trial.pairs)


@pytest.mark.usefixtures("in_order")
def test_where_selects_the_matching_events(spark: SparkSession, tmp_path: Path) -> None:
    many = count(20, 60)
    trial = Trial.make(SparkPrinter(), WITHOUT, seed=3, events=200, selectors=many, depth=2)
    frame = _loaded(spark, trial, tmp_path)
    for selectors, texts in trial.groups(1):
        found = frame.where(texts[0]).select("id").collect()
        trial.check_where(selectors[0], texts[0], (row.id for row in found))
    assert not trial.faults, trial.faults[0]


def test_selectors_are_spark_sql_as_they_are(spark: SparkSession) -> None:
    trial = Trial.make(SparkPrinter(), WITHOUT, seed=4, events=100, selectors=700, depth=2)
    trial.selectors = [selector for selector in trial.selectors if _is_spark(selector)]
    trial.selectors = trial.selectors[: PAIRS // 100]
    frame = _loaded(spark, trial, None)
    for selectors, _ in trial.groups(GROUP):
        texts = [str(selector) for selector in selectors]
        trial.check(selectors, texts, frame.selectExpr("id", *texts).collect())
    assert not trial.faults, trial.faults[0]
    assert trial.pairs == PAIRS


def _is_spark(selector: BoolExpr) -> bool:
    """Whether its text means the same to Spark: no arithmetic, and nothing that Spark lacks."""
    if "\\" in str(selector):
        return False
    for e in walk(selector):
        if isinstance(e, Arithmetic | Negate | Xor | AtLeast):
            return False
        if isinstance(e, Call) and (e.function in ("abs", "sum", "avg") or len(e.arguments) < 2):
            return False
        if isinstance(e, ArrayContains) and isinstance(e.item, Literal) and e.item.value is None:
            return False
    return True


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda d: d.selector)
def test_known_differences_are_as_listed(spark: SparkSession, difference: Difference) -> None:
    from pyspark.errors import PySparkException

    difference.check(lambda sql: spark.sql(f"SELECT {sql}").collect()[0][0], PySparkException)
