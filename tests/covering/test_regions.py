"""Every cell is real, and no value is outside the cells."""

import math
import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.covering.regex_samples import samples
from tamis.covering.regions import ALL_TYPES, regions, term_of
from tamis.language import evaluate, parse
from tamis.language.expr import (
    ArrayContains,
    Attribute,
    Between,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    RLike,
    StringTest,
)
from tamis.values import OPAQUE, Timestamp, Type, type_of
from tests.soak import count

BIG = 2**53
NUMBERS = [0, 1, 2, 1.5, -1, BIG, BIG + 1, float(BIG), 2**63 - 1, -(2**63), 5e-324, 1e308, 2.0]
TEXTS = ["", "a", "b", "ab", "ba", "aab", "A", "B\U0010ffff", "a\0", "\ud7ff", "I", "K"]
INSTANTS = [Timestamp(n) for n in (0, 1, 86_400_000_000)]
A = Attribute(("a",))

# Every text of up to four letters of what the tests name, and one they do not; and neighbours.
LETTERS = "abAx"
DENSE_TEXTS = ["".join(t) for n in range(5) for t in product(LETTERS, repeat=n)] + [
    "a\0", "a\0\0", "B\U0010ffff", "B\U0010ffffa", "C", "\ud7ff", "\ue000", "i", "\u0130",
    "i\u0307", "\u212a", "k", "k\u0130", "\u0130\u0130", "aaabb", "babab", "\U0010ffff",
]  # fmt: skip
DENSE_NUMBERS = [n / 2 for n in range(-5, 9)] + [
    -2, -1, 0, 1, 2, 3, 4, BIG - 1, BIG, BIG + 1, BIG + 2, float(BIG), float(BIG + 2), 2**63 - 1,
    2**63 - 2, float(2**63), -(2**63), -(2**63) + 1, 5e-324, 1e-323, 1e308,
    math.nextafter(1e308, 9e308), 1e18, math.inf, -math.inf, math.nan,
]  # fmt: skip
ELEMENTS = [[0, 1, 2, 7, None], ["", "a", "ab", "zz", None]]
DENSE_LISTS = [list(some) for e in ELEMENTS for n in range(4) for some in product(e, repeat=n)]
DENSE = [
    *DENSE_TEXTS, *DENSE_NUMBERS, *DENSE_LISTS, None, True, False, OPAQUE,
    *(Timestamp(n) for n in (-1, 0, 1, 2, 86_400_000_000, 86_400_000_001, 10**15)),
]  # fmt: skip


_LENGTHS = st.sampled_from([3, 3, 12])


@st.composite
def a_test_of_a(draw: st.DrawFn) -> object:
    scalar = st.sampled_from([*NUMBERS, *TEXTS, *INSTANTS, True, False, None]).map(Literal.of)
    part = st.sampled_from([*TEXTS, None]).map(Literal.of)
    kind = draw(st.sampled_from(["=", "=", "between", "in", "like", "like", "string", "string",
                                 "array", "null", "bare", "rlike", "self"]))  # fmt: skip
    if kind == "=":
        op = draw(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))
        sides = (A, draw(scalar))
        return Comparison(op, *(sides if draw(st.booleans()) else sides[::-1]))
    if kind == "between":
        return Between(A, draw(scalar), draw(scalar))
    if kind == "in":
        return In(A, tuple(draw(st.lists(scalar, min_size=1, max_size=draw(_LENGTHS)))))
    if kind == "like":
        pattern = "".join(draw(st.lists(st.sampled_from("aabA%%_iıKk"), max_size=4)))
        return Like(A, pattern, "\\", draw(st.sampled_from([False, False, True])))
    if kind == "string":
        function = draw(st.sampled_from(["contains", "startswith", "endswith"]))
        sides = (A, draw(part))
        return StringTest(function, *(sides if draw(st.booleans()) else sides[::-1]))
    if kind == "array":
        return ArrayContains(A, draw(scalar))
    if kind == "self":
        return draw(st.sampled_from([Comparison("<=", A, A), StringTest("contains", A, A)]))
    if kind == "rlike":
        return RLike(A, draw(st.sampled_from(["a+b", "^A", "[ab]$", r"\d{2}", "(x|y)"])))
    return IsNull(A) if kind == "null" else A


def check(tests: list[object], values: list[object], types: frozenset[Type], null: bool) -> None:
    found = regions(tests, types, null)
    vectors = {}
    for cell in found.cells:
        event = {"a": cell.witness}
        assert cell.vector == tuple(evaluate(test, event) for test in tests)
        assert cell.vector not in vectors
        assert null if cell.witness is None else type_of(cell.witness) in types | _EMPTY_LISTS
        vectors[cell.vector] = cell.free
    for value in values:
        vector = tuple(evaluate(test, {"a": value}) for test in tests)
        assert vector in vectors or any(
            all(v == w or i in free for i, (v, w) in enumerate(zip(vector, shown, strict=True)))
            for shown, free in vectors.items()
            if free
        ), (value, vector)
        if found.complete:
            assert vector in vectors


_EMPTY_LISTS = {Type.INT_LIST}  # [] and [NULL] are lists of either


@given(st.lists(a_test_of_a(), min_size=1, max_size=4))
@settings(max_examples=count(150, 5_000), deadline=None)
def test_every_value_has_its_cell(tests: list[object]) -> None:
    check(tests, DENSE, ALL_TYPES, True)


@given(st.lists(a_test_of_a(), min_size=1, max_size=3), st.sampled_from(list(Type)), st.booleans())
@settings(max_examples=count(150, 5_000), deadline=None)
def test_every_value_of_a_type_has_its_cell(tests: list[object], kind: Type, null: bool) -> None:
    values = [v for v in DENSE if (type_of(v) is kind if v is not None else null)]
    check(tests, values, frozenset((kind,)), null)


@pytest.mark.parametrize(
    ("tests", "types", "expected"),
    [
        ("x < 5; x > 9", "INT", {"FF", "TF", "FT", "??"}),
        ("n = 10; n > 8", "INT", {"TT", "FT", "FF", "??"}),
        ("x > 1; x < 2", "INT", {"TF", "FT", "??"}),
        ("x > 1; x < 2", "DBL", {"TF", "FT", "TT", "??"}),
        ("x > 9007199254740992; x < 9007199254740994", "INT", {"TF", "FT", "TT", "??"}),
        ("x > 9007199254740992; x < 9007199254740994", "DBL", {"TF", "FT", "??"}),
        ("x = 1.5", "INT", {"F", "?"}),
        ("x < -9223372036854775808", "INT", {"F", "?"}),
        ("s LIKE 'ab%'; s LIKE 'a%'", "STR", {"TT", "FT", "FF", "??"}),
        ("s LIKE '%b'; contains(s, 'b')", "STR", {"TT", "FT", "FF", "??"}),
        ("startswith(s, 'ab'); s < 'ab'", "STR", {"TF", "FT", "FF", "??"}),
        ("s = 'x'; contains('DE,FR', s)", "STR", {"TF", "FT", "FF", "??"}),
        ("s ILIKE 'a'; s = 'A'; s = 'a'", "STR", {"TTF", "TFT", "FFF", "???"}),
        ("s LIKE '_'; s ILIKE '__'", "STR", {"TT", "TF", "FT", "FF", "??"}),
        ("s > ''; s <= 'a'; s = 'a'", "STR", {"FTF", "TTF", "TTT", "TFF", "???"}),
        ("b; b = FALSE", "BOOL", {"TF", "FT", "??"}),
        ("x IS NULL; x = 1", "INT", {"T?", "FT", "FF"}),
        ("x IN (1, NULL); x = 1", "INT", {"TT", "?F", "??"}),
        ("array_contains(t, 1); array_contains(t, 2)", "LIST<INT>",
         {"TT", "TF", "FT", "FF", "T?", "?T", "??"}),
        ("x = 'a'; x = 1", "", {"T?", "F?", "?T", "?F", "??"}),
    ],
)  # fmt: skip
def test_known_cells(tests: str, types: str, expected: set[str]) -> None:
    kinds = [kind for kind in Type if kind.value == types] or ALL_TYPES
    found = regions([parse(test) for test in tests.split("; ")], kinds)
    letters = {True: "T", False: "F", None: "?"}
    assert {"".join(letters[truth] for truth in cell.vector) for cell in found.cells} == expected
    assert found.complete


def test_a_derived_term_is_a_term() -> None:
    low, high = parse("a + b < 5"), parse("9 < a + b")
    assert term_of(low) == term_of(high) == low.left
    vectors = {cell.vector for cell in regions([low, high], {Type.INT, Type.DBL}).cells}
    assert (True, True) not in vectors and (True, False) in vectors


@pytest.mark.parametrize("test", ["a < b", "1 = 1", "contains(a, b)"])
def test_predicates_without_a_single_term_are_rejected(test: str) -> None:
    assert term_of(parse(test)) is None
    with pytest.raises(ValueError, match="must be of the same term"):
        regions([parse(test)])


def test_undecided_tests_are_free() -> None:
    found = regions([parse("s RLIKE 'curl/[0-9]+'"), parse("s LIKE 'curl%'")])
    assert not found.complete
    assert {cell.free for cell in found.cells if isinstance(cell.witness, str)} == {(0,)}
    assert (True, True) in {cell.vector for cell in found.cells}


def test_too_many_patterns_are_undecided_and_not_slow() -> None:
    found = regions([parse(f"contains(s, 'word{n}')") for n in range(30)], {Type.STR})
    assert not found.complete


def test_only_one_letter_has_two_letters_in_lower_case() -> None:
    """The alphabet of ILIKE relies on it."""
    longer = [c for c in map(chr, range(sys.maxunicode + 1)) if len(c.lower()) != 1]
    assert longer == ["\u0130"]


@pytest.mark.parametrize(
    "pattern", [r"curl/\d+", "^x", "a{3}b?", "[^x]y$", "(?i)(x|yy)+z", r"\.", ""]
)
def test_samples_match(pattern: str) -> None:
    assert any(evaluate(RLike(A, pattern), {"a": text}) for text in samples(pattern))


def test_long_lists_are_not_slow() -> None:
    items = ", ".join(str(n) for n in range(0, 4_000, 2))
    found = regions([parse(f"x IN ({items})"), parse("x > 1000")], {Type.INT})
    assert {cell.vector for cell in found.cells} == {
        (None, None), (True, False), (True, True), (False, False), (False, True),
    }  # fmt: skip


@pytest.mark.parametrize("more", [[], [None], ["a", "ab"], [True], INSTANTS])
def test_long_lists_have_the_truths_of_short_ones(more: list[object]) -> None:
    items = [0, 1, 2.0, 1.5, -1, BIG, BIG + 1, 7, 8, 9, *more]
    long = In(A, tuple(map(Literal.of, items)))
    check([long, parse("a > 1"), parse("a >= 'a'")], DENSE, ALL_TYPES, True)
