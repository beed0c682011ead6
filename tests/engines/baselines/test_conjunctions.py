"""The engines for conjunctions, on conjunctions: equality with the oracle, rejections."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.errors import UnsupportedExpression
from tests.engines.baselines.random_cases import conjunctions, equalities, small_events, taken
from tests.engines.oracle import matching
from tests.strategies import events

TAKING_ANY_TEST = ["siena", "forest", "counting"]
ALL = [*TAKING_ANY_TEST, "gryphon"]


def check(engine: str, semantics: str, texts: list[str], gone: set[int], batch: list) -> None:
    """Add everything, remove some of it, and compare matches with the oracle."""
    matcher = tamis.Matcher(engine=engine, semantics=semantics)
    kept = {}
    for number, text in enumerate(texts):
        matcher.add(number, text)
    for number, text in enumerate(texts):
        if number in gone:
            matcher.remove(number)
        else:
            kept[number] = text
    expected = [matching(kept, event, semantics) for event in batch]
    for each in (matcher, pickle.loads(pickle.dumps(matcher))):
        assert [set(ids) for ids in each.match_batch(batch).per_event()] == expected


@pytest.mark.parametrize("engine", TAKING_ANY_TEST)
@given(
    texts=st.lists(conjunctions(), min_size=1, max_size=8),
    gone=st.sets(st.integers(0, 7), max_size=3),
    batch=st.lists(st.one_of(events(), small_events()), max_size=6),
    semantics=st.sampled_from(["sql", "strict"]),
)
def test_conjunctions_of_any_tests_equal_the_oracle(engine, texts, gone, batch, semantics) -> None:
    check(engine, semantics, taken(engine, texts), gone, batch)


@pytest.mark.parametrize("engine", ALL)
@given(
    texts=st.lists(equalities(), min_size=1, max_size=12),
    gone=st.sets(st.integers(0, 11), max_size=6),
    batch=st.lists(small_events(), max_size=6),
    semantics=st.sampled_from(["sql", "strict"]),
)
def test_conjunctions_of_equalities_equal_the_oracle(engine, texts, gone, batch, semantics) -> None:
    check(engine, semantics, texts, gone, batch)


@pytest.mark.parametrize("engine", TAKING_ANY_TEST)
def test_missing_and_nested_attributes_equal_the_oracle(engine) -> None:
    texts = {
        "no a": "a IS NULL AND b = 1",
        "a": "a IS NOT NULL AND b = 1",
        "city": "user.city = 'Lyon'",
        "no city": "user.city IS NULL AND user IS NOT NULL",
        "sum": "a + b = 3",
        "less": "a < b",
    }
    batch = [
        {"b": 1},
        {"a": 2, "b": 1},
        {"a": 1, "b": 2},
        {"user": {"city": "Lyon"}},
        {"user": {"age": 1}},
        {"user": 1},
        {},
    ]
    matcher = tamis.Matcher(engine=engine)
    for id, text in texts.items():
        matcher.add(id, text)
    found = [set(ids) for ids in matcher.match_batch(batch).per_event()]
    assert found == [matching(texts, event) for event in batch]
    assert found[0] == {"no a"} and found[3] == {"city"} and found[4] == {"no city"}


@pytest.mark.parametrize("engine", ALL)
@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("a = 1 OR b = 2", "OR"),
        ("a = 1 AND (b = 2 OR c = 3)", "OR"),
        ("a = 1 XOR b = 2", "XOR"),
        ("AT LEAST 2 OF (a = 1, b = 2, c = 3)", "AT LEAST … OF"),
    ],
)
def test_selectors_other_than_conjunctions_are_rejected_by_name(engine, text, construct) -> None:
    matcher = tamis.Matcher(engine=engine)
    matcher.add("kept", "a = 1")
    with pytest.raises(UnsupportedExpression) as caught:
        matcher.add("s", text)
    assert (caught.value.construct, caught.value.engine) == (construct, engine)
    assert "conjunctions only" in str(caught.value)
    assert matcher.stats()["subscriptions"] == 1 and matcher.match({"a": 1, "b": 2}) == ["kept"]


@pytest.mark.parametrize("engine", ALL)
def test_an_or_of_equalities_is_accepted_where_sets_are(engine) -> None:
    matcher = tamis.Matcher(engine=engine)
    if engine == "gryphon":
        with pytest.raises(UnsupportedExpression):
            matcher.add("s", "a = 1 OR a = 2")
    else:
        matcher.add("s", "a = 1 OR a = 2")
        assert matcher.match({"a": 2}) == ["s"]


@pytest.mark.parametrize("engine", ALL)
def test_sequences_match_through_their_steps(engine) -> None:
    matcher = tamis.Matcher(engine=engine)
    matcher.add("s", "FIRST a = 1 THEN a = 2")
    assert [matcher.match({"a": n}) for n in (2, 1, 2)] == [[], [], ["s"]]
