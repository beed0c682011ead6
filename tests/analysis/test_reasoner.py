"""Proofs are never contradicted, events are confirmed, and known cases are decided."""

import sys

import pytest
from hypothesis import given, settings

from tamis.analysis import Reasoner
from tamis.analysis.cell_diagrams import Diagrams
from tamis.analysis.verdicts import Verdict, analyse_selector
from tamis.errors import InputError
from tamis.language import evaluate, parse
from tamis.schema import Schema
from tests import strategies
from tests.soak import count

REASONER = Reasoner()


@given(strategies.bool_exprs(2), strategies.bool_exprs(2), strategies.events())
@settings(max_examples=count(60, 5_000), deadline=None)
def test_every_answer_holds_for_any_event(first: object, second: object, event: dict) -> None:
    """Any type in any attribute, arithmetic, patterns: an answer may be missing, never wrong."""
    matching, missing = REASONER.matching(first), REASONER.missing(first)
    telling, differing = REASONER.telling(first, second), REASONER.differing(first, second)
    truths = [evaluate(selector, event) is True for selector in (first, second)]
    assert not (matching.found is False and truths[0])
    assert not (missing.found is False and not truths[0])
    assert not (telling.found is False and truths[0] and not truths[1])
    assert not (differing.found is False and truths[0] is not truths[1])
    if matching.event is not None:
        assert evaluate(first, matching.event) is True
    if telling.event is not None:
        assert evaluate(first, telling.event) is True
        assert evaluate(second, telling.event) is not True
    analysis = analyse_selector(first, REASONER)
    if analysis.simplification is not None:
        assert (evaluate(analysis.simplification.selector, event) is True) is truths[0]
    if analysis.verdict is Verdict.SOMETIMES:
        assert all(evaluate(first, shown) is True for shown in analysis.events)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("x < 5 AND x > 9", False),
        ("x > 1 AND x < 2", True),
        ("x = 1 AND x = '1'", False),
        ("x < 'a' AND x > 5", False),
        ("n > 9007199254740992 AND n < 9007199254740993", False),
        ("n > 9007199254740992 AND n < 9007199254740994", True),
        ("s LIKE 'ab%' AND s NOT LIKE 'a%'", False),
        ("s LIKE '%a' AND s LIKE 'b%' AND NOT contains(s, 'ba')", True),
        ("contains('DE,FR', s) AND s = 'IT'", False),
        ("s ILIKE 'ab' AND s = 'aB'", True),
        ("array_contains(t, 1) AND array_contains(t, 'x')", False),
        ("array_contains(t, 1) AND NOT array_contains(t, 2)", True),
        ("b AND NOT b", False),
        ("b = TRUE AND b = 1", False),
        ("x IN (1, NULL) AND x <> 1", False),
        ("x NOT IN (1, NULL)", False),
        ("x IS NULL AND x = 1", False),
        ("user = 'x' AND user.city = 'y'", False),
        ("user IS NOT NULL AND user.city = 'y'", True),
        ("user IS NULL AND user.city IS NOT NULL", False),
        ("a + b < 5 AND a + b > 9", False),
        ("a + b > 5 AND a < 1 AND b < 100", True),
        ("a < b AND b < a", False),
        ("a < b AND b > a", True),
        ("a * 2 = 14 AND abs(a) > 5", True),
        ("contains(a, b) AND b = 'x'", True),
        ("SUM(a, b, c) = 10 AND a = 3", True),
        ("t < TIMESTAMP '2024-01-01' AND t > DATE '2023-12-31'", True),
        ("AT LEAST 2 OF (x = 1, x = 2, x = 3)", False),
        ("AT LEAST 2 OF (x = 1, x < 2, y)", True),
        ("x = 1 XOR x = 1", False),
        ("s RLIKE 'x+' AND s LIKE '%x%'", True),
        ("s RLIKE 'x+' AND s NOT RLIKE 'x+'", False),
        ("s RLIKE '^x' AND s LIKE 'y%'", None),
        ("FALSE", False),
        ("NULL", False),
        ("1 + 1 = 2", True),
    ],
)  # fmt: skip
def test_matching_is_decided(selector: str, found: bool | None) -> None:
    assert REASONER.matching(parse(selector)).found is found


@pytest.mark.parametrize(
    ("inner", "outer", "found"),
    [
        ("x = 10", "x > 8", False),
        ("x > 8", "x = 10", True),
        ("x BETWEEN 2 AND 3", "x IN (2, 3)", True),
        ("s = 'abc'", "s LIKE 'ab%'", False),
        ("s LIKE 'ab%'", "startswith(s, 'a')", False),
        ("a = 1 AND b = 2", "b = 2", False),
        ("a = 1", "a = 1 OR c", False),
        ("NOT (a = 1 OR b = 1)", "a <> 1", False),
        ("a + b > 5", "a + b > 3", False),
        ("a < b", "a <= b", False),
        ("a < b", "b > a", False),
        ("x <> 5", "x IS NOT NULL", False),
        ("x IS NOT NULL", "x <> 5 OR x = 5", True),
    ],
)  # fmt: skip
def test_covering_is_decided(inner: str, outer: str, found: bool) -> None:
    answer = REASONER.telling(parse(inner), parse(outer))
    assert answer.found is found
    if answer.event is not None:
        assert evaluate(parse(inner), answer.event) is True
        assert evaluate(parse(outer), answer.event) is not True


def test_declared_types_narrow_the_answer() -> None:
    gap = parse("x > 1 AND x < 2")
    assert Reasoner(Schema({"x": "INT"})).matching(gap).found is False
    assert Reasoner(Schema({"x": "DBL"})).matching(gap).found is True
    either = parse("x < 5 OR x >= 5")
    assert Reasoner(Schema({"x": "INT"}), "total").missing(either).found is False
    assert Reasoner(Schema({"x": "INT"}), "sql").missing(either).event == {}
    assert Reasoner(Schema({"x": ("INT", 3)}), "default").missing(either).found is False


def test_strict_requires_the_attributes_named_in_the_text() -> None:
    strict = Reasoner(semantics="strict")
    plain, wordy = parse("y"), parse("y AND (x OR NOT x)")
    assert strict.telling(plain, wordy).event == {"y": True}
    assert strict.telling(wordy, plain).found is False
    assert strict.matching(parse("x IS NULL")).found is False


def test_events_of_a_total_schema_have_all_attributes() -> None:
    schema = Schema({"a": "INT", "t": "TIMESTAMP", "tags": "LIST<STR>"})
    event = Reasoner(schema, "total").matching(parse("a = 1")).event
    assert event is not None and event.keys() == {"a", "t", "tags"}


def test_functions_are_not_called() -> None:
    def never(value: object) -> object:
        raise AssertionError("called")

    functions = {"f": never}
    assert REASONER.matching(parse("f(x) > 1 AND f(x) < 1", functions)).found is False
    assert REASONER.matching(parse("f(x) > 1", functions)).found is None
    assert analyse_selector(parse("f(x)", functions), REASONER).verdict is Verdict.UNDECIDED


def test_a_diagram_that_is_too_large_is_undecided() -> None:
    many = " AND ".join(f"a{n} = {n}" for n in range(500))
    assert REASONER.matching(parse(f"NOT ({many})")).found is None


def test_cells_are_encoded_as_they_are_decoded() -> None:
    diagrams = Diagrams()
    odd = diagrams.cells(0, 2, [False, True, False])
    found = list(diagrams.assignments(odd))
    assert found == [{0: False, 1: True}]
    assert diagrams.cells(0, 2, [True, True, True]) == diagrams.true


def test_without_cudd_pure_python_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dd.cudd", None)
    reasoner = Reasoner(diagrams=Diagrams())
    assert reasoner.matching(parse("x < 5 AND x > 9")).found is False
    assert reasoner.telling(parse("x > 8 OR y"), parse("x = 10 OR y")).event == {"x": 9}


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("dd", "dd.cudd", "dd.autoref"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'tamis\[bdd\]'"):
        Diagrams()
