"""The simulation counts what brokers do that send each message."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.bloom.hashing import Shape
from tamis.routing.trees import renumbered, topology
from tamis.spark.simulation.walking import FILTERED, STRATEGIES
from tests.routing.networks import any_events, conjunctions, selectors, simple, trees
from tests.soak import count
from tests.spark.overlays import by_messages, by_sets

SHAPES = [Shape(1 << 14, 4), Shape(3, 2), Shape(40, 3), Shape(1, 1), Shape(200, 1)]


def agree(tree, subscriptions, events, shapes) -> None:
    found = by_sets(list(STRATEGIES), shapes, tree, subscriptions, events)
    for shape in shapes:
        for strategy in STRATEGIES:
            if shape is not shapes[0] and strategy not in FILTERED:
                continue
            expected = by_messages(strategy, shape, tree, subscriptions, events)
            got = found[strategy, shape]
            for name, value in expected.items():
                same = (got[name] == value) if name != "events" else (got[name] == value).all()
                assert same, (strategy, shape, name, value, got[name])


@settings(max_examples=count(60, 3000))
@given(data=st.data())
def test_it_counts_what_brokers_do(data) -> None:
    links = data.draw(trees(8))
    tree, _ = renumbered([-1, *(above for above, _ in links)])
    brokers = st.integers(0, tree.brokers - 1)
    wanted = st.one_of(conjunctions, simple, selectors)
    subscriptions = data.draw(st.lists(st.tuples(brokers, wanted), min_size=1, max_size=14))
    events = data.draw(st.lists(st.tuples(brokers, any_events), min_size=1, max_size=6))
    shapes = data.draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2, unique=True))
    agree(tree, subscriptions, events, shapes)


def test_a_selector_that_is_too_large_to_be_taken_apart_draws_all_events() -> None:
    tests = ", ".join(f"a{n} = {n}" for n in range(12))
    subscriptions = [(0, "a = 1"), (2, f"AT LEAST 6 OF ({tests})"), (3, "b = 1")]
    events = [(1, {"a": 1}), (3, {"b": 1}), (0, {f"a{n}": n for n in range(6)})]
    agree(topology("line", 4), subscriptions, events, SHAPES[:2])
