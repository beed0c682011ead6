"""Conjunctions over few attributes and constants: equal and covered ones occur often."""

from hypothesis import strategies as st

import tamis
from tamis.errors import UnsupportedExpression
from tests.strategies import predicates

CONSTANTS = ["0", "1", "1.0", "2", "2.5", "-0.0", "'a'", "'ab'", "TRUE"]
VALUES = [None, 0, 1, 1.0, 2, 2.5, -0.0, 3, float("nan"), "a", "ab", "abc", True, False, [1], {}]


def equalities() -> st.SearchStrategy[str]:
    """Draw conjunctions for Gryphon: one or more equalities of attributes."""
    test = st.builds("{} = {}".format, st.sampled_from("abcd"), st.sampled_from(CONSTANTS))
    bare = st.sampled_from(["f", "NOT f", "a = 1 AND a = 2", "TRUE"])
    return st.lists(st.one_of(test, test, test, bare), min_size=1, max_size=4).map(" AND ".join)


def conjunctions() -> st.SearchStrategy[str]:
    """Draw conjunctions of any tests."""
    simple = st.builds(
        "{} {} {}".format,
        st.sampled_from("ab"),
        st.sampled_from(["=", "<", "<=", ">", ">=", "<>"]),
        st.sampled_from(CONSTANTS),
    )
    texts = st.sampled_from(
        ["a LIKE 'a%'", "a LIKE '%b%'", "NOT a LIKE '%b'", "b IS NULL", "a IN (1, 2, 'a')", "a < b"]
    )
    any_test = predicates().map(lambda test: f"({test})")
    negated = predicates().map(lambda test: f"NOT ({test})")
    tests = st.one_of(simple, simple, simple, texts, any_test, negated)
    return st.lists(tests, min_size=1, max_size=4).map(" AND ".join)


def lattice() -> st.SearchStrategy[str]:
    """Draw filters that cover each other in many ways: each has several parents and children."""
    test = st.builds("{} > {}".format, st.sampled_from("xy"), st.integers(0, 3))
    return st.lists(test, min_size=1, max_size=2).map(" AND ".join)


def small_events() -> st.SearchStrategy[dict[str, object]]:
    """Draw events over the attributes of `equalities`."""
    value = st.sampled_from(VALUES)
    names = {name: value for name in "abcd"}
    return st.fixed_dictionaries({}, optional={**names, "f": st.sampled_from([True, False, 1])})


def taken(engine: str, texts: list[str]) -> list[str]:
    """Leave out selectors in which a NOT has become an OR."""
    found = []
    for text in texts:
        try:
            tamis.Matcher(engine=engine).add(0, text)
        except UnsupportedExpression:
            continue
        found.append(text)
    return found
