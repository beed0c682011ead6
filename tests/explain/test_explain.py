"""Explanations: the tree, the values, and the smallest set of missing predicates."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.engines.subscription import Subscription
from tamis.explain.explanation import Explanation, explain
from tamis.language import evaluate, parse
from tamis.language.expr import Attribute, BoolExpr, Xor, predicates


def explained(selector: str, event: dict[str, object], **arguments) -> Explanation:
    matcher = tamis.Matcher(**arguments)
    matcher.add("s", selector)
    return matcher.explain("s", event)


def test_an_explanation_prints_as_a_tree() -> None:
    found = explained(
        "company IN ('IBM', 'Dell') AND (price <= 1000 OR NOT new)",
        {"company": "IBM", "price": 1500},
    )
    assert str(found) == (
        "s: does not match\n"
        "? AND\n"
        "├─ ✓ company IN ('IBM', 'Dell')  (company is 'IBM')\n"
        "└─ ? OR\n"
        "   ├─ ✗ price <= 1000  (price is 1500)\n"
        "   └─ ? NOT new  (new is missing)\n"
        "it would match if:\n"
        "  price <= 1000 should be true, is false  (price is 1500)"
    )


def test_a_match_has_no_missing_predicates() -> None:
    found = explained("a = 1", {"a": 1})
    assert found.matches and found.missing == () and str(found) == "s: matches\n✓ a = 1  (a is 1)"


@pytest.mark.parametrize(
    ("selector", "event", "missing"),
    [
        ("a = 1 AND b = 2 AND c = 3", {"b": 2}, [("a = 1", True), ("c = 3", True)]),
        ("a = 1 AND b = 1 OR c = 1", {}, [("c = 1", True)]),
        ("NOT (a = 1 OR b = 1)", {"a": 1, "b": 2}, [("a = 1", False)]),
        ("AT LEAST 2 OF (a, b AND c, d)", {"a": True, "b": True}, [("c", True)]),
        ("a XOR b", {"a": True, "b": True}, [("b", False)]),
        ("a XOR b XOR c", {"a": True}, [("b", False), ("c", False)]),
        # One predicate in two places: the minimum needs both together.
        ("(a OR b) AND (b OR c)", {}, [("b", True)]),
        ("(a AND b OR c AND d) AND (a AND e OR c AND d)", {}, [("c", True), ("d", True)]),
        ("(a XOR b) AND (a XOR c)", {"b": True, "c": False}, [("a", True), ("b", False)]),
        ("AT LEAST 2 OF (a, a AND b, c AND d)", {}, [("a", True), ("b", True)]),
        # Needed both ways at first; the solution is not the cheapest in every part.
        (
            "(x = 1 OR (b1 = 1 AND b2 = 1 AND b3 = 1 AND b4 = 1))"
            " AND (NOT x = 1 OR (c1 = 1 AND c2 = 1 AND c3 = 1 AND c4 = 1))"
            " AND (d1 = 1 OR e1 = 1) AND (d2 = 1 OR e2 = 1)",
            {},
            [("x = 1", True)]
            + [(f"c{i} = 1", True) for i in (1, 2, 3, 4)]
            + [("d1 = 1", True), ("d2 = 1", True)],
        ),
        # Predicates that cannot be true or false are not reported as missing.
        ("a = NULL OR b = 1 AND c = 1", {"a": 1}, [("b = 1", True), ("c = 1", True)]),
        ("a NOT IN (1, NULL) OR b = 1 AND c", {"a": 1}, [("b = 1", True), ("c", True)]),
        ("a IN (1, NULL)", {"a": 2}, [("a IN (1, NULL)", True)]),
        ("a NOT BETWEEN 1 AND NULL", {"a": 2}, [("a BETWEEN 1 AND NULL", False)]),
        ("NOT a IS NULL", {}, [("a IS NULL", False)]),
    ],
)
def test_the_smallest_set_is_found(selector, event, missing) -> None:
    found = explained(selector, event)
    assert [(change.predicate, change.wanted) for change in found.missing] == missing
    assert found.possible is True and "it would match if:" in str(found)


@pytest.mark.parametrize(
    ("selector", "event"),
    [
        ("a AND NOT a", {"a": True}),
        ("a AND FALSE", {}),
        ("a = 1 AND 1 = 2", {"a": 1}),
        ("1e308 * 10 = 1 AND a", {}),  # no attribute in it, yet not folded
        ("a = NULL", {"a": 1}),
        ("NOT a = 1 + NULL", {"a": 1}),
        ("a = 1 / 0", {"a": 1}),
        ("a NOT IN (1, NULL)", {"a": 1}),
        ("a IN (NULL)", {"a": 1}),
        ("a BETWEEN 1 AND NULL", {"a": 2}),
        ("a NOT BETWEEN NULL AND NULL", {"a": 2}),
        ("NOT (NULL BETWEEN a AND 1)", {"a": 2}),
        ("contains(a, NULL) OR NOT array_contains(b, NULL)", {"a": "x"}),
        ("(a XOR b) AND (b XOR c) AND (a XOR c)", {}),
        ("(a OR b) AND (a OR NOT b) AND (NOT a OR b) AND (NOT a OR NOT b)", {}),
    ],
)
def test_impossible_selectors_are_recognised(selector, event) -> None:
    found = explained(selector, event)
    assert not found.matches and found.missing == () and found.possible is False
    assert str(found).endswith("\nno event can match it")


def test_a_search_that_stops_leaves_it_undecided(monkeypatch) -> None:
    monkeypatch.setattr("tamis.explain.smallest_change._LOOKS", 0)
    found = explained("(a OR b) AND (a OR NOT b) AND (NOT a OR b) AND (NOT a OR NOT b)", {})
    assert found.missing == () and found.possible is None
    assert str(found).endswith("\nno small set of changes was found that would make it match")
    assert found.to_dict()["possible"] is None


@pytest.mark.parametrize(
    ("selector", "event", "possible"),
    [
        ("a = 1 AND a = 2", {"a": 1}, None),
        ("a IS NULL AND a > 5", {}, None),
        ("a > 1 AND a + b < 5", {"a": 3}, None),
        ("a = 1 AND a.b = 1", {}, None),
        ("a.b = 1 AND a = 1", {}, None),
        ("a.b = 1 AND a.c = 1", {}, True),
        # The other test does not matter, or is not used, or requires its presence only.
        ("a = 1 OR a = 2", {"a": 3}, True),
        ("a > 1 AND a < 5 AND b = 1", {"a": 3}, True),
        ("a IS NOT NULL AND a > 5", {}, True),
    ],
)
def test_tests_of_one_attribute_may_contradict_each_other(selector, event, possible) -> None:
    found = explained(selector, event)
    assert found.missing and found.possible is possible
    heading = "it would match if:" if possible else "it would match if (each test taken by itself):"
    assert heading in str(found).splitlines()


@pytest.mark.parametrize("levels", [1, 2, 90])
def test_a_deeply_nested_xor_is_explained(levels) -> None:
    selector: BoolExpr = Attribute(("d",))
    for _ in range(levels):
        selector = Xor((Attribute(("a",)), selector))
    found = explain(Subscription("s", "", 0, selector), {"a": True})
    even = levels % 2 == 0
    assert [(change.predicate, change.wanted) for change in found.missing] == [("d", even)]
    assert f"d should be {str(even).lower()}" in str(found)
    assert found.to_dict()["possible"] is True


def test_wide_selectors_are_explained() -> None:
    names = [f"a{i}" for i in range(2000)]
    for joint in (" AND ", " XOR "):
        found = explained(joint.join(names), {})
        assert [change.predicate for change in found.missing] == names
    found = explained(f"{' AND '.join(names)} AND (a7 OR b) AND (NOT a8 OR c)", {})
    assert [change.predicate for change in found.missing] == [*names, "c"]
    assert explained(f"({' OR '.join(names)}) AND NOT a0", {}).missing[1].predicate == "a1"


def test_strict_shows_missing_attributes() -> None:
    found = explained("y AND (x OR NOT x)", {"y": True}, semantics="strict")
    assert not found.matches
    assert "x IS NOT NULL" in str(found)
    assert explained("x IS NULL", {}, semantics="strict").possible is False
    assert "it would match if:" in str(explained("x = 1", {}, semantics="strict"))


def test_default_shows_filled_in_values() -> None:
    found = explained("a > 5", {}, schema={"a": ("INT", 3)}, semantics="default")
    assert found.missing[0].values == {"a": 3}


def test_to_dict_is_plain_data() -> None:
    found = explained("t > TIMESTAMP '2024-01-01' AND u = 1", {"u": {"x": 1}}).to_dict()
    assert found["matches"] is False
    tree = found["tree"]
    assert [part["values"] for part in tree["parts"]] == [{"t": None}, {"u": "OPAQUE"}]


@pytest.mark.parametrize("value", [b"x", [1.5], {"x": 1}, [[1]]])
def test_opaque_values_are_described(value) -> None:
    assert "a = 1  (a is a value of another kind)" in str(explained("a = 1", {"a": value}))


@st.composite
def propositions(draw, depth: int = 3, leaves: tuple[str, ...] = tuple("abcde")):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(leaves))
    kind = draw(st.sampled_from(["AND", "OR", "XOR", "NOT", "OF"]))
    if kind == "NOT":
        return f"(NOT {draw(propositions(depth - 1, leaves))})"
    parts = [draw(propositions(depth - 1, leaves)) for _ in range(draw(st.integers(2, 3)))]
    if kind == "OF":
        return f"AT LEAST {draw(st.integers(1, len(parts)))} OF ({', '.join(parts)})"
    return "(" + f" {kind} ".join(parts) + ")"


NAMES = "abcde"
REPEATING = (*"abcde", *"abab", "a IS NULL", "b IN (TRUE, NULL)", "TRUE", "FALSE", "NULL")


@given(
    propositions() | propositions(4, ("a", "b", "c")) | propositions(4, tuple("aabbcde")),
    st.fixed_dictionaries({n: st.sampled_from([True, False, None]) for n in NAMES}),
)
def test_no_smaller_set_exists(selector, event) -> None:
    expr = parse(selector)
    found = explained(selector, event)
    assert found.matches is (evaluate(expr, event) is True)
    if found.matches:
        return
    assert found.possible is bool(found.missing)
    if found.missing:
        changed = {**event, **{change.predicate: change.wanted for change in found.missing}}
        assert evaluate(expr, changed) is True
    below = len(found.missing) or 6
    names = sorted({str(p) for p in predicates(expr)})
    for size in range(1, min(below, len(names) + 1)):
        for chosen in combinations(names, size):
            for truths in product([True, False], repeat=size):
                assert (
                    evaluate(expr, {**event, **dict(zip(chosen, truths, strict=True))}) is not True
                )


@given(
    propositions(3, REPEATING),
    st.fixed_dictionaries({n: st.sampled_from([True, False, None]) for n in NAMES}),
)
def test_possible_is_right_about_all_events(selector, event) -> None:
    expr = parse(selector)
    found = explained(selector, event)
    others = (
        dict(zip(NAMES, values, strict=True))
        for values in product([True, False, None], repeat=len(NAMES))
    )
    if found.possible is not None:
        matching = any(evaluate(expr, other) is True for other in others)
        assert matching is found.possible
