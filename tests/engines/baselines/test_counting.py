"""The counting algorithm: its posting lists and its counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.engines.baselines import counting as engines
from tamis.engines.baselines.counting import CountingEngine
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.kernels.baselines import counting as kernels
from tests.engines.baselines.test_orders import TABLE_1
from tests.soak import only_in_soak


def filled(texts: dict[object, str]) -> CountingEngine:
    engine = CountingEngine()
    for id, text in texts.items():
        engine.add(Subscription.of(id, text))
    return engine


def test_a_predicate_is_stored_once_with_a_posting_list() -> None:
    """Table 1 of the DEBS paper: x > 15 is in two of the six."""
    engine = filled(TABLE_1)
    stats = engine.stats()
    assert (stats["index_predicates"], stats["entries"]) == (6, 7)
    assert engine.to_dot() == "\n".join(
        [
            "digraph counting {",
            "  rankdir=LR;",
            "  node [shape=box];",
            '  s0 [shape=ellipse, label="f1: 1"];',
            '  s1 [shape=ellipse, label="f2: 1"];',
            '  s2 [shape=ellipse, label="f3: 1"];',
            '  s3 [shape=ellipse, label="f4: 1"];',
            '  s4 [shape=ellipse, label="f5: 1"];',
            '  s5 [shape=ellipse, label="f6: 2"];',
            '  p0 [label="x > 5"];',
            "  p0 -> s0;",
            '  p1 [label="x >= 0.7"];',
            "  p1 -> s1;",
            '  p2 [label="x > 15"];',
            "  p2 -> s2;",
            "  p2 -> s5;",
            '  p3 [label="y < 5"];',
            "  p3 -> s3;",
            '  p4 [label="y = 0"];',
            "  p4 -> s4;",
            '  p5 [label="y > 0"];',
            "  p5 -> s5;",
            "}",
        ]
    )
    batch = EventBatch.of([{"x": 16, "y": 0}, {"x": 16, "y": 1}, {"x": 1}])
    assert engine.match(batch).per_event() == [
        ["f1", "f2", "f3", "f4", "f5"],
        ["f1", "f2", "f3", "f4", "f6"],
        ["f2"],
    ]


def test_counters_begin_at_zero_for_every_event() -> None:
    """An event with half of the predicates and one with the other half do not match together."""
    engine = filled({n: f"a = 1 AND b = 2 AND c = {n}" for n in range(500)})
    events = [{"a": 1, "c": 3}, {"b": 2, "c": 3}, {"c": 3}, {"a": 1, "b": 2, "c": 3}, {"a": 1}]
    for _ in range(2):
        assert engine.match(EventBatch.of(events)).per_event() == [[], [], [], [3], []]


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 5), min_size=1, max_size=4), st.booleans()), max_size=60
    )
)
def test_posting_lists_follow_additions_and_removals(changes) -> None:
    """Lists grow, move, become empty and are packed; compared with a dict."""
    engine = CountingEngine()
    model: dict[int, set[int]] = {}
    for number, (tests, stays) in enumerate(changes):
        text = " AND ".join(f"a{test} = 1" for test in tests)
        engine.add(Subscription.of(number, text))
        model[number] = tests
        if not stays:
            gone = number // 2 if number // 2 in model else number
            engine.remove(gone)
            del model[gone]
    assert engine.stats()["entries"] == sum(map(len, model.values()))
    for tests in ({0, 1, 2, 3, 4, 5}, {0, 2, 4}, {1}):
        (found,) = engine.match(EventBatch.of([{f"a{test}": 1 for test in tests}])).per_event()
        assert found == sorted(id for id, wanted in model.items() if wanted <= tests)


def test_a_conjunction_that_is_too_long_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "MOST_PREDICATES", 3)
    engine = filled({"s": "a = 1 AND b = 1 AND c = 1"})
    with pytest.raises(UnsupportedExpression, match="more than 3 tests"):
        engine.add(Subscription.of("t", "a = 1 AND b = 1 AND c = 1 AND d = 1"))
    assert engine.stats()["subscriptions"] == 1 and engine.stats()["entries"] == 3


@only_in_soak
def test_the_longest_conjunction_matches() -> None:
    longest = " AND ".join(f"NOT contains(a, '{n}')" for n in range(kernels.MOST_PREDICATES))
    engine = filled({"s": longest})
    assert engine.match(EventBatch.of([{"a": "x"}, {"a": "x65534"}])).per_event() == [["s"], []]
    with pytest.raises(UnsupportedExpression, match="more than 65,535 tests"):
        engine.add(Subscription.of("t", longest + " AND b = 1"))
    assert engine.stats()["subscriptions"] == 1
