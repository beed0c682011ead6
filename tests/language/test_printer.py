"""Printed selectors are read back: special cases, and names and constants of every kind.

tests/language/test_properties.py does the same for whole selectors over a small vocabulary.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.language import parse
from tamis.language.expr import (
    And,
    Arithmetic,
    AtLeast,
    Attribute,
    Between,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RLike,
    Xor,
)
from tamis.values import INT_MAX, INT_MIN, Timestamp

A, B, C = (Attribute((name,)) for name in "abc")
ONE = Literal.of(1)

ODD = [
    (Comparison("=", Negate(ONE), Literal.of(-1)), "-(1) = -1"),
    (Comparison("=", Negate(Negate(A)), Literal.of(INT_MIN)), "- -a = -9223372036854775808"),
    (
        Comparison("<", Arithmetic("-", A, Arithmetic("-", B, Negate(C))), ONE),
        "a - (b - -c) < 1",
    ),
    (Comparison("<", Arithmetic("-", Arithmetic("-", A, B), C), ONE), "a - b - c < 1"),
    (Comparison("<", Arithmetic("*", Arithmetic("+", A, B), C), ONE), "(a + b) * c < 1"),
    (Comparison("=", Arithmetic("+", A, Literal.of(-1)), Literal.of(-0.0)), "a + -1 = -0.0"),
    (And((A, And((B, C)))), "a AND (b AND c)"),
    (And((Or((A, B)), Xor((B, C)))), "(a OR b) AND (b XOR c)"),
    (Or((And((A, B)), Xor((B, C)))), "a AND b OR b XOR c"),
    (Not(Not(A)), "NOT NOT a"),
    (Not(And((A, B))), "NOT (a AND b)"),
    (Not(Not(IsNull(A))), "NOT a IS NOT NULL"),
    (Not(Comparison("=", A, ONE)), "NOT a = 1"),
    (And((Not(Between(A, ONE, B)), C)), "a NOT BETWEEN 1 AND b AND c"),
    (Not(In(A, (Literal.of(None), Literal.of(False)))), "a NOT IN (NULL, FALSE)"),
    (Like(A, "it''%", "'", True), "a ILIKE 'it''''%' ESCAPE ''''"),
    (Not(RLike(A, r"\d'")), r"a NOT RLIKE '\d'''"),
    (AtLeast(1, (Or((A, B)),)), "AT LEAST 1 OF (a OR b)"),
    (Attribute(("null", "a.b", "`", "x")), "`null`.`a.b`.````.x"),
]


@pytest.mark.parametrize(("tree", "text"), ODD, ids=[text for _, text in ODD])
def test_special_cases_are_printed_and_read_back(tree: Expr, text: str) -> None:
    assert str(tree) == text
    assert parse(text) == tree


def texts() -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def constants() -> st.SearchStrategy[object]:
    return st.one_of(
        texts(),
        st.integers(INT_MIN, INT_MAX),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.none(),
        st.datetimes().map(Timestamp.from_datetime),
    )


@settings(max_examples=2000)
@given(st.lists(texts().filter(bool), min_size=1, max_size=3), constants())
def test_names_and_constants_are_read_back(names: list[str], constant: object) -> None:
    tree = Comparison("=", Attribute(tuple(names)), Literal.of(constant))  # type: ignore[arg-type]
    read = parse(str(tree))
    assert read == tree
    assert repr(read) == repr(tree)  # -0.0 == 0.0
