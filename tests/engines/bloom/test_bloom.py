"""The Bloom engine beyond the conformance suite: filters of any size, and statistics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.engines.bloom import BloomEngine
from tamis.errors import InputError, UnsupportedExpression
from tests.bloom.paper import TABLE_1
from tests.engines.oracle import matching
from tests.strategies import bool_exprs, events

texts = bool_exprs(depth=2).map(str)


@given(
    m=st.sampled_from([1, 2, 3, 16, 100, 1 << 14]),
    k=st.integers(1, 6),
    kept=st.lists(texts, max_size=6),
    gone=st.lists(texts, max_size=6),
    batch=st.lists(events(), min_size=1, max_size=4),
    semantics=st.sampled_from(["sql", "strict"]),
)
def test_no_false_negative_and_no_false_positive(m, k, kept, gone, batch, semantics) -> None:
    """Also with collisions, before and after removals."""
    matcher = tamis.Matcher(engine="bloom", m=m, k=k, semantics=semantics)
    model = {}
    for number, text in enumerate([*kept, *gone]):
        try:
            matcher.add(number, text)
        except UnsupportedExpression:
            continue
        model[number] = text
    for stage in ("all", "kept"):
        if stage == "kept":
            for number in [n for n in model if n >= len(kept)]:
                matcher.remove(number)
                del model[number]
        found = [set(ids) for ids in matcher.match_batch(batch).per_event()]
        assert found == [matching(model, event, semantics) for event in batch]


def test_table_1() -> None:
    matcher = tamis.Matcher(engine="bloom", m=1 << 14, k=2)
    for source, (predicates, _) in TABLE_1.items():
        matcher.add(source, " AND ".join(predicates))
    assert matcher.match({"x": 20, "y": 3}) == [f"f{n}@dot.com" for n in (1, 2, 3, 4, 6)]
    assert matcher.match({"x": 20}) == [f"f{n}@dot.com" for n in (1, 2, 3)]
    assert matcher.match({"y": 0}) == ["f4@dot.com", "f5@dot.com"]
    dot = matcher.to_dot()
    assert dot.startswith("digraph bloom") and "f6" not in dot and "x > 15" in dot


def test_stats_count_candidates_and_false_positives() -> None:
    matcher = tamis.Matcher(engine="bloom", m=4, k=1)
    for number in range(40):
        matcher.add(number, f"a = {number} AND b = {number}")
    fresh = matcher.stats()
    assert (fresh["events"], fresh["fill_ratio"], fresh["wire_bytes_per_event"]) == (0, 0.0, 0.0)
    batch = [{"a": n, "b": n} for n in range(40)] + [{}]
    assert len(matcher.match_batch(batch)) == 40
    stats = matcher.stats()
    assert stats["subscriptions"] == stats["conjunctions"] == 40 and stats["predicates"] == 80
    assert stats["events"] == 41 and stats["candidates"] == 40 + stats["false_positives"]
    assert stats["false_positives"] > 40  # of four bits an event has one or two
    assert 0.25 * 40 / 41 <= stats["fill_ratio"] <= 0.5
    assert 4 <= stats["wire_bytes_per_event"] <= 6
    large = tamis.Matcher(engine="bloom")
    for number in range(40):
        large.add(number, f"a = {number} AND b = {number}")
    large.match_batch(batch)
    assert large.stats()["false_positives"] == 0
    assert large.stats()["predicates_fill_ratio"] == pytest.approx(320 / (1 << 14), rel=0.1)


def test_a_filter_for_each_conjunction() -> None:
    engine = BloomEngine()
    matcher = tamis.Matcher(engine="bloom")
    matcher.add("s", "a = 1 AND (b = 2 OR c = 3) OR d = 4")
    assert matcher.stats()["conjunctions"] == 3
    assert matcher.match({"a": 1, "b": 2, "c": 3, "d": 4}) == ["s"]
    matcher.remove("s")
    stats = matcher.stats()
    assert (stats["conjunctions"], stats["predicates"], stats["tree_nodes"]) == (0, 0, 1)
    assert engine.conjunctions == 64


def test_too_many_conjunctions_are_rejected() -> None:
    wide = " AND ".join(f"(a{n} = 1 OR b{n} = 1)" for n in range(7))
    matcher = tamis.Matcher(engine="bloom")
    with pytest.raises(UnsupportedExpression) as caught:
        matcher.add("wide", wide)
    assert caught.value.construct == "a disjunctive normal form of more than 64 conjunctions"
    assert "conjunctions=128 or higher" in str(caught.value)
    assert matcher.stats()["predicates"] == 0 and "wide" not in matcher
    more = tamis.Matcher(engine="bloom", conjunctions=128)
    more.add("wide", wide)
    assert more.match({f"{'ab'[n % 2]}{n}": 1 for n in range(7)}) == ["wide"]
    assert more.match({f"a{n}": 1 for n in range(6)}) == []


@pytest.mark.parametrize(
    "option", [{"m": 0}, {"k": 0}, {"k": 1.5}, {"conjunctions": 0}, {"conjunctions": True}]
)
def test_invalid_options_are_rejected(option) -> None:
    with pytest.raises(InputError):
        tamis.Matcher(engine="bloom", **option)


def test_the_options_survive_a_pickle() -> None:
    import pickle

    matcher = tamis.Matcher(engine="bloom", m=100, k=3, conjunctions=2)
    matcher.add("s", "a = 1 OR a > 5")
    again = pickle.loads(pickle.dumps(matcher))
    assert again.match({"a": 6}) == ["s"] and again.stats()["m"] == 100
    with pytest.raises(UnsupportedExpression):
        again.add("t", "a = 1 OR b = 2 OR c = 3")
