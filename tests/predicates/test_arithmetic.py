"""Numbers at the limits of their types, and arithmetic on them, compared with the oracle."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.events.batch import EventBatch
from tamis.language import parse
from tamis.language.evaluate import value_of
from tamis.language.expr import (
    Arithmetic,
    Attribute,
    Between,
    Call,
    Comparison,
    In,
    Literal,
    Negate,
    Not,
)
from tamis.predicates.term_values import Sheet, TermColumn
from tamis.values import Type, type_of
from tests.predicates.oracle import check
from tests.strategies import COMPARISONS

A = Attribute(("a",))
EDGES = sorted(
    {
        sign * near
        for base in (0, 1, 2**31, 2**53, 2**62, 2**63 - 1024)
        for near in range(base - 2, base + 3)
        for sign in (1, -1)
    }
    | {2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1}
)
DOUBLES = [
    *(float(edge) for edge in EDGES),
    *(math.nextafter(float(edge), side) for edge in EDGES for side in (math.inf, -math.inf)),
    *(0.5, -0.5, -0.0, 1e19, -1e19, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan),
]
# Infinity and NaN cannot be written; these are how they come to be constants.
INFINITE = Arithmetic("*", Literal.of(1e308), Literal.of(10))
NAN = Arithmetic("-", INFINITE, INFINITE)


def numbers() -> st.SearchStrategy[object]:
    integers = st.one_of(st.sampled_from(EDGES), st.integers(-(2**63), 2**63 - 1))
    return st.one_of(integers, st.sampled_from(DOUBLES), st.floats(allow_nan=True))


def constants() -> st.SearchStrategy[object]:
    finite = numbers().filter(math.isfinite).map(Literal.of)
    return st.one_of(finite, finite, finite, st.sampled_from([INFINITE, NAN, Negate(INFINITE)]))


def conditions_on_a() -> st.SearchStrategy[object]:
    literals = numbers().filter(math.isfinite).map(Literal.of)
    positive = st.one_of(
        st.builds(Comparison, st.sampled_from(COMPARISONS), st.just(A), constants()),
        st.builds(Between, st.just(A), constants(), constants()),
        st.builds(In, st.just(A), st.lists(literals, min_size=1, max_size=4).map(tuple)),
    )
    return st.one_of(positive, positive.map(Not))


@given(
    st.lists(conditions_on_a(), min_size=1, max_size=30),
    st.lists(numbers(), min_size=1, max_size=30),
)
def test_comparisons_at_type_limits_equal_the_oracle(interned, values) -> None:
    check(interned, [{"a": value} for value in values])


@pytest.mark.parametrize("op", COMPARISONS)
def test_every_limit_compared_with_every_limit(op) -> None:
    literals = [Literal.of(c) for c in (*EDGES, *DOUBLES) if math.isfinite(c)]
    interned = [Comparison(op, A, c) for c in (*literals, INFINITE, NAN)]
    check(interned, [{"a": value} for value in (*EDGES, *DOUBLES)])


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60))
def test_many_overlapping_intervals_equal_the_oracle(pairs) -> None:
    interned = [Between(A, Literal.of(min(p)), Literal.of(max(p))) for p in pairs]
    check(interned, [{"a": value / 2} for value in range(-2, 84)])


OPERANDS = [*EDGES[::3], *DOUBLES[::7], 3, -7, 0, 0.0, -0.0, math.nan, math.inf, "text", None, True]


# The last that fit into 64 bits, and the first that do not.
PRODUCTS = [(7, 1317624576693539401), (-(2**62), 2), (2**62, 2), (-(2**63), -1), (-(2**63), 1)]


@pytest.mark.parametrize("op", "+-*/%")
def test_arithmetic_equals_the_oracle(op) -> None:
    events = [{"a": a, "b": b} for a, b in itertools.product(OPERANDS, OPERANDS)]
    events += [{"a": a, "b": b} for a, b in PRODUCTS]
    same_values(Arithmetic(op, A, Attribute(("b",))), events)


@pytest.mark.parametrize("function", ["least", "greatest", "sum", "avg"])
@pytest.mark.parametrize("text", [[], ["text"]])
def test_functions_of_several_numbers_equal_the_oracle(function, text) -> None:
    some = [
        3,
        3.0,
        -0.0,
        0,
        2**63 - 1,
        2.0**63,
        2**53 + 1,
        2.0**53,
        math.nan,
        math.inf,
        None,
        *text,
    ]
    events = [{"a": a, "b": b, "c": c} for a, b, c in itertools.product(some, repeat=3)]
    same_values(Call(function, (A, Attribute(("b",)), Attribute(("c",)))), events)


@pytest.mark.parametrize("text", ["-a", "abs(a)", "least(a)", "sum(a)", "avg(a)", "sum(a, -a) / 2"])
def test_functions_of_one_equal_the_oracle(text) -> None:
    expr = parse(f"{text} = 1").left
    same_values(expr, [{"a": a} for a in (*EDGES, *DOUBLES, "text", None, [1], {}, True)])


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_of_two_attributes_equal_the_oracle(op) -> None:
    """Numbers with numbers, numbers with other types, and other types with each other."""
    some = [*EDGES[::4], *DOUBLES[::5], math.nan, "x", "y", True, False, None, [1], {}]
    events = [{"a": a, "b": b} for a, b in itertools.product(some, some)]
    b = Attribute(("b",))
    halves = [Arithmetic("/", A, Literal.of(2)), Call("greatest", (A, b))]
    between = [Between(A, Literal.of(1), b), Between(A, b, Literal.of("x")), Between(b, A, A)]
    tests = [Comparison(op, A, b), Comparison(op, halves[0], b), Comparison(op, halves[1], b)]
    check([*tests, *between, *map(Not, between), *map(Not, tests)], events)


def same_values(expr: object, events: list[dict[str, object]]) -> None:
    """Check that the derived column equals the oracle's values, including type and sign of zero."""
    found = [[] for _ in events]
    for cells in Sheet(EventBatch.of(events)).cells(expr):
        for row in range(len(events)):
            if cells.valid is None or cells.valid[row]:
                found[row].append((cells.type, repr(plain(cells, row))))
    assert all(len(row) <= 1 for row in found)
    wanted = [value_of(expr, event) for event in events]
    assert found == [[] if v is None else [(type_of(v), repr(v))] for v in wanted]


def plain(cells: TermColumn, row: int) -> object:
    if cells.type is Type.STR:
        return cells.data.values[cells.data.codes[row]]
    value = cells.data[row].item()
    return bool(value) if cells.type is Type.BOOL else value
