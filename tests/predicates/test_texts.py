"""Many tests of text and of lists at once: enough of them for automata, hash tables and guards."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language.expr import (
    ArrayContains,
    Attribute,
    Comparison,
    Like,
    Literal,
    Not,
    RLike,
    StringTest,
)
from tamis.predicates import text_tests as texts
from tamis.predicates.shapes import Text
from tamis.predicates.text_guards import guard_of
from tamis.predicates.text_tests import TextTests
from tests.predicates.oracle import check
from tests.strategies import COMPARISONS, likes

A = Attribute(("a",))
words = st.text("abAéÉİ😀%_", max_size=5)


def text_tests() -> st.SearchStrategy[object]:
    functions = st.sampled_from(["contains", "startswith", "endswith"])
    positive = st.one_of(
        st.builds(StringTest, functions, st.just(A), words.map(Literal.of)),
        st.builds(StringTest, functions, words.map(Literal.of), st.just(A)),
        st.builds(Like, st.just(A), st.text("abAéİ%_", max_size=5), st.just("\\"), st.booleans()),
        likes().map(lambda like: Like(A, like.pattern, like.escape, like.ignore_case)),
        st.builds(
            RLike, st.just(A), st.sampled_from(["a", "^a", "b$", "a.b", "(?i)É", "", "[^a]", "_|%"])
        ),
        st.builds(Comparison, st.sampled_from(COMPARISONS), st.just(A), words.map(Literal.of)),
    )
    return st.one_of(positive, positive.map(Not))


@given(st.lists(text_tests(), min_size=1, max_size=40), st.lists(words, min_size=1, max_size=12))
def test_many_text_tests_equal_the_oracle(interned, values) -> None:
    check(interned, [{"a": value} for value in values])


@pytest.mark.parametrize("function", ["contains", "startswith", "endswith"])
def test_overlapping_substrings_equal_the_oracle(function) -> None:
    """Overlapping, repeated and empty strings; enough of them for an automaton."""
    parts = ["", "a", "b", "ab", "ba", "aba", "bab", "é", "éa", "😀", "\0"]
    interned = [StringTest(function, A, Literal.of(part)) for part in parts]
    values = ["", "a", "ababab", "bé", "éa😀", "\0a\0", "x"]
    check([*interned, *map(Not, interned)], [{"a": value} for value in values])


@pytest.mark.parametrize(
    ("pattern", "place", "part", "decides"),
    [
        ("ab", "whole", "ab", True),
        ("ab%", "start", "ab", True),
        ("%ab", "end", "ab", True),
        ("%ab%", "anywhere", "ab", True),
        ("%", "start", "", True),
        ("a!%b%", "start", "a%b", True),
        ("ab%cd", "start", "ab", False),
        ("ab_cd%", "start", "ab", False),
        ("_%cd", "end", "cd", False),
        ("%a%bcd_%", "anywhere", "bcd", False),
    ],
)
def test_the_guard_of_a_pattern(pattern, place, part, decides) -> None:
    guard = guard_of(Like(A, pattern, "!", False))
    assert (guard.place.value, guard.part, guard.decides) == (place, part, decides)


def test_patterns_without_a_guard() -> None:
    assert guard_of(Like(A, "_%_", "!", False)) is None
    assert guard_of(StringTest("contains", Literal.of("abc"), A)) is None


REGEXES = {n: Text(RLike(A, f"(x|y){{{n}}}.*[ab].{{{n}}}c"), True) for n in range(10, 40)}
SUBJECTS = {
    "xy" * 50 + "ab" * 60 + "c": list(REGEXES),
    "x" * 15 + "a" * 16 + "c": [10, 11, 12, 13, 14, 15],
    "": [],
}


def test_a_set_of_regexes_equals_the_oracle() -> None:
    tests = TextTests(REGEXES)
    assert tests._regexes._set is not None
    assert {text: sorted(tests.satisfied_predicates(text)) for text in SUBJECTS} == SUBJECTS


def test_a_set_of_regexes_that_is_too_large_falls_back(monkeypatch) -> None:
    monkeypatch.setattr(texts, "_MEMORY", 1 << 12)
    tests = TextTests(REGEXES)
    assert tests._regexes._set is None
    assert {text: sorted(tests.satisfied_predicates(text)) for text in SUBJECTS} == SUBJECTS


def test_a_set_of_regexes_that_gives_up_falls_back() -> None:
    """RE2 then reports that nothing matches, as if nothing did."""
    tests = TextTests(REGEXES)
    tests._regexes._set = mock.Mock(Match=lambda text: None)
    assert {text: sorted(tests.satisfied_predicates(text)) for text in SUBJECTS} == SUBJECTS


@given(
    st.lists(
        st.builds(
            ArrayContains,
            st.just(A),
            st.sampled_from([1, 2, 1.0, 1.5, True, "x", "", "y"]).map(Literal.of),
        ).flatmap(lambda e: st.sampled_from([e, Not(e)])),
        min_size=1,
        max_size=10,
    ),
    st.lists(
        st.one_of(
            st.lists(st.sampled_from([1, 2, 3, None]), max_size=4),
            st.lists(st.sampled_from(["x", "", "z", None]), max_size=4),
            st.sampled_from([None, 1, "x", [1.5], [[1]]]),
        ),
        min_size=1,
        max_size=10,
    ),
)
def test_list_tests_equal_the_oracle(interned, values) -> None:
    check(interned, [{"a": value} for value in values])
