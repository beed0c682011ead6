"""Explanations: the tree, the values seen, and the smallest set that was missing."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.explain import Explanation
from tamis.language import evaluate, parse
from tamis.language.expr import predicates


def explained(selector: str, event: dict[str, object], **arguments) -> Explanation:
    matcher = tamis.Matcher(**arguments)
    matcher.add("s", selector)
    return matcher.explain("s", event)


def test_prints_as_a_tree() -> None:
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


def test_a_match_misses_nothing() -> None:
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
        # One predicate in two places: the least is found by looking at both together.
        ("(a OR b) AND (b OR c)", {}, [("b", True)]),
        ("(a AND b OR c AND d) AND (a AND e OR c AND d)", {}, [("c", True), ("d", True)]),
        ("a AND NOT a", {"a": True}, []),
        ("a AND FALSE", {}, []),
        ("a = 1 AND 1 = 2", {"a": 1}, []),
    ],
)
def test_the_smallest_set(selector, event, missing) -> None:
    found = explained(selector, event)
    assert [(change.predicate, change.wanted) for change in found.missing] == missing


def test_strict_shows_what_is_not_there() -> None:
    found = explained("y AND (x OR NOT x)", {"y": True}, semantics="strict")
    assert not found.matches
    assert "x IS NOT NULL" in str(found)


def test_default_shows_what_was_filled_in() -> None:
    found = explained("a > 5", {}, schema={"a": ("INT", 3)}, semantics="default")
    assert found.missing[0].values == {"a": 3}


def test_as_plain_data() -> None:
    found = explained("t > TIMESTAMP '2024-01-01' AND u = 1", {"u": {"x": 1}}).to_dict()
    assert found["matches"] is False
    tree = found["tree"]
    assert [part["values"] for part in tree["parts"]] == [{"t": None}, {"u": "Opaque.OPAQUE"}]


@st.composite
def propositions(draw, depth: int = 3):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from("abcde"))
    kind = draw(st.sampled_from(["AND", "OR", "XOR", "NOT", "OF"]))
    if kind == "NOT":
        return f"(NOT {draw(propositions(depth - 1))})"
    parts = [draw(propositions(depth - 1)) for _ in range(draw(st.integers(2, 3)))]
    if kind == "OF":
        return f"AT LEAST {draw(st.integers(1, len(parts)))} OF ({', '.join(parts)})"
    return "(" + f" {kind} ".join(parts) + ")"


@given(
    propositions(),
    st.fixed_dictionaries({n: st.sampled_from([True, False, None]) for n in "abcde"}),
)
def test_no_smaller_set_would_do(selector, event) -> None:
    expr = parse(selector)
    found = explained(selector, event)
    assert found.matches is (evaluate(expr, event) is True)
    if found.matches:
        return
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
