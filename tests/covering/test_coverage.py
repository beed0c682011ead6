"""`covers` compared with its definition: every pair of many predicates, on all relevant values."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.constraint import constraint_of
from tamis.covering.coverage import Coverage, coverage_of, covers
from tamis.language import evaluate, parse
from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    Between,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    StringTest,
    Xor,
)
from tamis.values import Timestamp, to_value
from tests.soak import count
from tests.strategies import COMPARISONS, FUNCTIONS, REGEXES, bool_exprs, events

A, B = Attribute(("a",)), Attribute(("b",))
NUMBERS = [0, -0.0, 1, 1.5, 2, 2**53, 2**53 + 1, 2.0**53, 2**63 - 1, -(2**63), 2.0**63, -9.3e18]
LETTERS = ["", "a", "ab", "abc", "b", "\ud7ff", "\U0010ffff", "a\U0010ffff"]
MOMENTS = [Timestamp(0), Timestamp(1), Timestamp(5)]
INFINITY, NAN = parse("x = 1e308 * 10").right, parse("x = 1e308 * 10 - 1e308 * 10").right


def dense(numbers: list[float]) -> list[object]:
    """Return numbers and their neighbours on either side."""
    beside = [math.nextafter(float(n), to) for n in numbers for to in (-math.inf, math.inf)]
    whole = [n + d for n in numbers if isinstance(n, int) for d in (-1, 1)]
    inside = [n for n in whole if -(2**63) <= n < 2**63]
    return [*numbers, *beside, *inside, math.inf, -math.inf, math.nan, 1.7976931348623157e308]


def dense_texts(texts: list[str]) -> list[object]:
    ends = ["", "\0", "a", "b", "\ud7ff", "\U0010ffff"]
    return [t + e for t in texts for e in ends] + ["\ue000", "A", "ba", "xabx", "bcab", "c", "cabc"]


VALUES = [
    *dense(NUMBERS),
    *dense_texts(LETTERS),
    *[Timestamp(n) for n in range(-1, 7)],
    True,
    False,
    None,
    [],
    [1],
    ["a", None],
    {},
]


def _catalogue() -> list[object]:
    """Return comparisons, ranges, sets, prefixes and tests for NULL, and the NOT of each."""
    scalars = [Literal.of(v) for v in [*NUMBERS, *LETTERS, *MOMENTS, True, False, None]]
    tests: list[object] = [
        Comparison(op, A, c) for op in COMPARISONS for c in [*scalars, INFINITY, NAN]
    ]
    numbers, letters = scalars[: len(NUMBERS)], [Literal.of(t) for t in LETTERS]
    ranges = [*product(numbers[2:7], numbers[2:7]), *product(letters[:5], letters[:5])]
    tests += [Between(A, low, high) for low, high in ranges]
    tests += [Between(A, numbers[0], letters[1]), Between(A, numbers[3], INFINITY)]
    sets = [(0, 1), (1, 1.0, 2), ("a", "b"), (1, "a"), (True, 1), (0, None), ("", "abc")]
    tests += [In(A, tuple(Literal.of(v) for v in items)) for items in sets]
    tests += [In(A, (Literal.of(False), Literal.of(True)))]
    tests += [StringTest("startswith", A, letter) for letter in letters]
    tests += [StringTest("startswith", letter, A) for letter in letters]
    tests += [Like(A, t + "%", "\\", False) for t in LETTERS]
    tests += [Like(A, "ab", "\\", False), Like(A, "%%", "\\", False), Like(A, "%", "\\", True)]
    tests += [IsNull(A), A, Literal.of(True), Literal.of(False)]
    return [*tests, *(Not(test) for test in tests)]


def _loose() -> list[object]:
    """Return tests that covering decides only partly."""
    patterns = ["%a%", "%b", "a%c", "_%", "%_", "a_", "_", "%ab%", "%a%b%", "a%b_%"]
    letters = [Literal.of(t) for t in LETTERS]
    tests: list[object] = [Like(A, p, "\\", case) for p in patterns for case in (False, True)]
    tests += [StringTest(f, A, c) for f in ("contains", "endswith") for c in letters]
    tests += [StringTest(f, c, A) for f in ("contains", "endswith") for c in letters]
    tests += [parse(f"a RLIKE '{pattern}'") for pattern in REGEXES]
    tests += [parse(f"array_contains(a, {c})") for c in ("1", "1.0", "TRUE", "'a'", "'b'")]
    tests += [parse("a + 1 > 2"), parse("a + 1 > 1"), parse("a > b")]
    return [*tests, *(Not(test) for test in tests)]


CATALOGUE, LOOSE = _catalogue(), _loose()


def truths(test: object) -> int:
    """Return the values of which it is true, as bits."""
    return sum(1 << i for i, v in enumerate(VALUES) if evaluate(test, {"a": v}) is True)


def test_a_constraint_allows_the_values_its_predicate_is_true_of() -> None:
    for test in [*CATALOGUE, *LOOSE]:
        asked = constraint_of(test)
        if asked is not None and asked[0] == A:
            allowed = sum(1 << i for i, v in enumerate(VALUES) if asked[1].allows(to_value(v)))
            assert allowed == truths(test), str(test)


def test_one_test_covers_another_unless_a_value_refutes_it() -> None:
    forms = [(test, coverage_of(test), truths(test)) for test in CATALOGUE]
    for (one, mine, wide), (other, theirs, narrow) in product(forms, forms):
        assert mine.covers(theirs) is (narrow & ~wide == 0), f"{one} COVERS {other}"


def test_two_exact_tests_together_are_exact() -> None:
    """An AND, or an OR, of two tests of one attribute, against a third."""
    some = CATALOGUE[::11]
    pairs = [kind((x, y)) for x, y in product(some[::2], some[1::2]) for kind in (And, Or)]
    forms = [(test, coverage_of(test), truths(test)) for test in pairs]
    for test in some:
        form, true = coverage_of(test), truths(test)
        for pair, other, others in forms:
            assert form.covers(other) is (others & ~true == 0), f"{test} COVERS {pair}"
            assert other.covers(form) is (true & ~others == 0), f"{pair} COVERS {test}"


def test_undecided_tests_are_never_reported_as_covered() -> None:
    forms = [(test, coverage_of(test), truths(test)) for test in [*LOOSE, *CATALOGUE[::3]]]
    told = 0
    for (one, mine, wide), (other, theirs, narrow) in product(forms, forms):
        if mine.covers(theirs):
            told += narrow != 0
            assert narrow & ~wide == 0, f"{one} COVERS {other}"
    assert told > 3_000  # it decides most pairs


def test_covering_of_tests_is_transitive() -> None:
    forms = [coverage_of(test) for test in [*LOOSE, *CATALOGUE[::9]]]
    below = [{j for j, low in enumerate(forms) if top.covers(low)} for top in forms]
    for top, covered in enumerate(below):
        assert top in covered
        for middle in covered:
            assert below[middle] <= covered, (forms[top], forms[middle])


def small(depth: int = 2) -> st.SearchStrategy[object]:
    """Selectors over two attributes and few constants: often one covers another."""
    leaves = st.one_of(
        st.builds(
            Comparison,
            st.sampled_from(COMPARISONS),
            st.sampled_from([A, A, B]),
            st.sampled_from([0, 1, 1.5, 2, "a", "ab"]).map(Literal.of),
        ),
        st.sampled_from(["a%", "%b%", "ab"]).map(lambda pattern: Like(A, pattern, "\\", False)),
        st.builds(IsNull, st.sampled_from([A, B])),
        st.sampled_from([Comparison("<", A, B), B, Literal.of(True)]),
    )

    def structures(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
        some = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            some.map(And),
            some.map(Or),
            some.map(Xor),
            inner.map(Not),
            st.builds(AtLeast, st.just(2), some),
        )

    return st.recursive(leaves, structures, max_leaves=2 * depth)


SMALL_EVENTS = [
    {"a": a, "b": b}
    for a in (None, 0, 0.5, 1, 1.2, 1.5, 2, 3, "", "a", "aa", "ab", "abc", "xb", True, [], {})
    for b in (None, -1, 0, 1, 1.5, 1.7, 2, 9, "a", "ab", "b", True, False)
]


def refuting(general: object, special: object) -> list[object]:
    return [
        event
        for event in SMALL_EVENTS
        if evaluate(special, event) is True and evaluate(general, event) is not True
    ]


@given(general=small(), special=small())
def test_no_event_refutes_a_covering(general, special) -> None:
    if covers(general, special):
        assert refuting(general, special) == []


@given(general=small(), special=small())
def test_what_follows_from_the_form_alone(general, special) -> None:
    assert covers(Or((general, special)), special)
    assert covers(general, And((general, special)))


@given(bool_exprs(), bool_exprs(), st.lists(events(), max_size=20))
def test_no_event_refutes_a_covering_of_anything(general, special, batch) -> None:
    if covers(general, special):
        for event in batch:
            assert evaluate(special, event) is not True or evaluate(general, event) is True


@given(bool_exprs(functions=True))
def test_covering_is_reflexive(selector) -> None:
    assert covers(selector, parse(str(selector), FUNCTIONS))


@given(st.lists(small(), min_size=3, max_size=count(6, 12)))
def test_covering_is_transitive(selectors) -> None:
    selectors += [And((selectors[0], selectors[1])), Or((selectors[0], selectors[1]))]
    forms: list[Coverage] = [coverage_of(each) for each in selectors]
    for one, two, three in product(forms, forms, forms):
        if one.covers(two) and two.covers(three):
            assert one.covers(three)


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("x > 5", "x > 15"),
        ("x >= 0.7", "x > 5"),
        ("x > 15", "x > 15 AND y > 0"),
        ("y < 5", "y = 0"),
        ("n > 9007199254740992", "n >= 9007199254740993"),
        ("n >= 9007199254740993", "n > 9007199254740992"),
        ("x IS NOT NULL", "x > 1 OR x LIKE '%a%' OR array_contains(x, 1)"),
        ("contains(s, 'b')", "s LIKE 'ab_%c'"),
        ("s LIKE '%c'", "s LIKE 'ab_%c' AND t = 1"),
        ("NOT contains(s, 'abc')", "NOT contains(s, 'b')"),
        ("s >= 'ab' AND s < 'ac'", "s LIKE 'ab%'"),
        ("s LIKE 'ab%'", "s >= 'ab' AND s < 'ac'"),
        ("startswith(s, '\ud7ff')", "s >= '\ud7ff' AND s < '\ue000'"),  # no surrogate is a text
        ("a < 3 OR a > 5", "a <> 4 AND (a < 3 OR a > 6)"),
        ("AT LEAST 2 OF (a, b, c)", "a AND c"),
        ("AT LEAST 2 OF (a, b, c)", "AT LEAST 3 OF (a, b, c, d)"),
        ("a XOR b", "a AND NOT b"),
        ("a = 1", "a = 1 AND a = 2"),
        ("TRUE", "a RLIKE 'x'"),
        ("a IS NULL OR a IS NOT NULL", "b = 1"),
    ],
)
def test_known_coverings(general: str, special: str) -> None:
    assert covers(parse(general), parse(special))


@pytest.mark.parametrize(
    ("general", "special"),
    [
        ("x > 15", "x > 5"),
        ("x > 15 AND y > 0", "x > 15"),
        ("x <> 1", "x IS NOT NULL"),
        ("x = 1 OR x <> 1", "y = 1"),  # unknown where x is NULL
        ("x = 1", "x = '1'"),
        ("x", "x = 1"),
        ("array_contains(l, TRUE)", "array_contains(l, 1)"),
        ("NOT array_contains(l, 1)", "NOT array_contains(l, TRUE)"),
        ("a < b", "a = 1 AND b = 2"),  # true, but hard to decide
        ("FIRST a THEN b", "FIRST a THEN c"),
    ],
)
def test_known_non_coverings(general: str, special: str) -> None:
    assert not covers(parse(general), parse(special))


def test_sequences_are_covered_by_equal_ones_only() -> None:
    assert covers(parse("FIRST 1 < a THEN b"), parse("FIRST a > 1 THEN b"))
    assert not covers(parse("TRUE"), parse("FIRST a THEN b"))


def test_selectors_with_many_conjunctions_are_not_converted() -> None:
    wide = parse(" AND ".join(f"(a{i} OR b{i})" for i in range(40)) + " AND x > 1")
    assert covers(wide, wide)
    assert covers(parse("x > 0"), wide)
    assert not covers(parse("a0 OR b0"), wide)  # true, but hard to decide
