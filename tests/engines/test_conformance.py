"""The conformance suite for engines. It runs on all of `tamis.ENGINES`; see `variants.py`.

A selector that an engine rejects (UnsupportedExpression) is left out for that engine; the suite
checks that the rejection leaves the engine unchanged.
"""

import gc
import pickle
import random
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.language import evaluate
from tests.engines.oracle import matching
from tests.engines.variants import VARIANTS
from tests.engines.variants import matcher as new_matcher
from tests.soak import count
from tests.strategies import bool_exprs, events

# An open schema over some of the names that `bool_exprs` uses.
DEFAULTS = {"a": ("INT", 1), "b": ("STR", "x"), "user.city": ("STR", "Lyon")}

ROUNDS = count(3, 10)
# Every engine against the oracle: more examples where time allows.
examples = settings(max_examples=count(25, 800, ci=100))

engines = pytest.mark.parametrize("engine", VARIANTS)


def add_all(matcher: tamis.Matcher, subscriptions: dict[str, str]) -> dict[str, str]:
    """Add the subscriptions that the engine supports, and return them."""
    taken = {}
    for id, text in subscriptions.items():
        before = len(matcher)
        try:
            matcher.add(id, text)
        except UnsupportedExpression:
            assert len(matcher) == before and id not in matcher
        else:
            taken[id] = text
    return taken


def expressible(engine: str, *texts: str) -> str:
    """Return the first text that the engine supports; some support conjunctions only."""
    for text in texts:
        if add_all(new_matcher(engine), {"s": text.format(n=1, k=1)}):
            return text
    raise AssertionError(f"{engine} takes none of them")


def named(exprs: list[object]) -> dict[str, str]:
    return {f"s{number}": str(expr) for number, expr in enumerate(exprs)}


def answers(matcher: tamis.Matcher, batch: object) -> list[set[object]]:
    return [set(ids) for ids in matcher.match_batch(batch).per_event()]


@engines
@pytest.mark.parametrize("semantics", ["sql", "strict"])
@examples
@given(exprs=st.lists(bool_exprs(), min_size=1, max_size=8), batch=st.lists(events(), max_size=8))
def test_equals_the_oracle(engine, semantics, exprs, batch) -> None:
    matcher = new_matcher(engine, semantics=semantics)
    taken = add_all(matcher, named(exprs))
    assert answers(matcher, batch) == [matching(taken, event, semantics) for event in batch]


@engines
@examples
@given(
    exprs=st.lists(bool_exprs(), min_size=1, max_size=8),
    batch=st.lists(st.fixed_dictionaries({}, optional={"a": st.integers(0, 3)}), max_size=8),
    city=st.sampled_from([None, "Lyon", "Nice"]),
)
def test_default_semantics_fills_in_missing_attributes(engine, exprs, batch, city) -> None:
    schema = tamis.Schema(DEFAULTS, open=True)
    taken: dict[str, str] = {}
    matcher = new_matcher(engine, schema=schema, semantics="default")
    for id, text in named(exprs).items():
        try:
            taken |= add_all(matcher, {id: text})
        except tamis.errors.SelectorTypeError:
            pass  # the schema's types make it meaningless
    if city:
        batch = [{**event, "user": {"city": city}} for event in batch]
    expected = [matching(taken, event, "default", schema) for event in batch]
    assert answers(matcher, batch) == expected


@examples
@given(expr=bool_exprs(), event=events(), semantics=st.sampled_from(["sql", "strict"]))
def test_the_rewritten_condition_equals_the_written_selector(expr, event, semantics) -> None:
    """`condition` is rewritten and includes the tests of `strict`."""
    subscription = Subscription.of("s", str(expr), semantics=semantics)
    wanted = matching({"s": str(expr)}, event, semantics) == {"s"}
    assert (evaluate(subscription.condition, event) is True) == wanted


@engines
def test_total_semantics_requires_every_attribute(engine) -> None:
    matcher = new_matcher(engine, schema={"a": "INT", "b": "STR"}, semantics="total")
    matcher.add("s", expressible(engine, "a = 1 OR b = 'x'", "a = 1"))
    assert matcher.match({"a": 1, "b": "y"}) == ["s"]
    with pytest.raises(tamis.errors.EventError) as caught:
        matcher.match_batch([{"a": 1, "b": "y"}, {"a": 1}])
    assert (caught.value.event, caught.value.attribute) == (1, "b")


@engines
@examples
@given(
    exprs=st.lists(bool_exprs(), min_size=1, max_size=8),
    batch=st.lists(events(), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_order_of_insertion_does_not_matter(engine, exprs, batch, seed) -> None:
    subscriptions = list(named(exprs).items())
    first, second = new_matcher(engine), new_matcher(engine)
    add_all(first, dict(subscriptions))
    random.Random(seed).shuffle(subscriptions)
    add_all(second, dict(subscriptions))
    assert first.match_batch(batch) == second.match_batch(batch)


@engines
@examples
@given(
    kept=st.lists(bool_exprs(), max_size=5),
    passing=st.lists(bool_exprs(), max_size=5),
    batch=st.lists(events(), min_size=1, max_size=4),
)
def test_a_removed_subscription_leaves_no_trace(engine, kept, passing, batch) -> None:
    matcher, plain = new_matcher(engine), new_matcher(engine)
    gone = add_all(matcher, {f"gone{i}": str(e) for i, e in enumerate(passing)})
    add_all(matcher, named(kept))
    add_all(plain, named(kept))
    for id in gone:
        matcher.remove(id)
    assert matcher.match_batch(batch) == plain.match_batch(batch)
    for id in list(matcher):
        matcher.remove(id)
    assert matcher.stats()["subscriptions"] == 0
    assert len(matcher.match_batch(batch)) == 0


@engines
@examples
@given(exprs=st.lists(bool_exprs(), max_size=6), batch=st.lists(events(), max_size=4))
def test_a_pickled_engine_gives_the_same_answers(engine, exprs, batch) -> None:
    matcher = new_matcher(engine)
    add_all(matcher, named(exprs))
    again = pickle.loads(pickle.dumps(matcher))
    assert again.match_batch(batch) == matcher.match_batch(batch)
    again.add("one-more", "TRUE")
    assert "one-more" not in matcher


@engines
def test_a_deep_selector_pickles(engine) -> None:
    matcher = new_matcher(engine)
    deep = "a = 1"
    for i in range(95):
        deep = f"({deep}) {'AND' if i % 2 else 'OR'} b = {i}"
    try:
        matcher.add("deep", deep)
    except UnsupportedExpression:
        pytest.skip("the engine does not take it")
    assert pickle.loads(pickle.dumps(matcher)).match({"b": 94}) == ["deep"]


@engines
def test_removal_frees_memory(engine) -> None:
    matcher = new_matcher(engine)
    text = expressible(
        engine,
        "a = 0 AND b > 0 OR c LIKE '%0%'",
        "a = 0 AND b > 0 AND c LIKE '%0%'",
        "a = 0 AND b = 0 AND c = '0'",
    )

    def cycle() -> None:
        for number in range(200):
            matcher.add(number, text.replace("0", str(number)))
        matcher.match({"a": 1, "b": 2})
        for number in range(200):
            matcher.remove(number)

    for _ in range(2):  # caches fill up
        cycle()
    gc.collect()
    tracemalloc.start()
    try:
        cycle()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(ROUNDS):
            cycle()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # One of the subscriptions added and removed takes about a kilobyte. Memory that NumPy has freed
    # may still count as allocated (`np.cumsum` alone shows it): 30 kB in the first rounds, then
    # ever less.
    assert grown < 50_000 + 50 * 200 * ROUNDS


@engines
def test_matches_come_by_priority_up_to_the_limit(engine) -> None:
    matcher = new_matcher(engine)
    for id, priority in [("b", 1), ("a", 1), ("low", -5), ("top", 9), ("no", 99)]:
        matcher.add(id, "x = 1" if id != "no" else "x = 2", priority)
    assert matcher.match({"x": 1}) == ["top", "a", "b", "low"]
    assert matcher.match({"x": 1}, limit=2) == ["top", "a"]
    assert matcher.match({"x": 1}, limit=0) == []
    found = matcher.match_batch([{"x": 1}, {"x": 3}, {"x": 2}, {"x": 1}], limit=1)
    assert found.per_event() == [["top"], [], ["no"], ["top"]]


ROWS = [
    {"a": 1, "x": 1.5, "s": "x", "f": True, "tags": ["u", "v"], "user": {"city": "Lyon"}},
    {"a": None, "x": None, "s": None, "f": None, "tags": None, "user": None},
    {"a": 2, "x": -0.0, "s": "", "f": False, "tags": [], "user": {"city": None}},
]
SELECTORS = {
    "a": "a = 1",
    "x": "x <= 0",
    "s": "s LIKE '_%' OR s IS NULL",
    "f": "NOT f",
    "tags": "array_contains(tags, 'v')",
    "user": "user.city = 'Lyon' XOR user IS NULL",
    "sum": "SUM(a, x) = 2.5",
}


@engines
@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda rows: rows, id="dicts"),
        pytest.param(pa.Table.from_pylist, id="arrow table"),
        pytest.param(pa.RecordBatch.from_pylist, id="arrow batch"),
        pytest.param(lambda rows: pa.Table.from_pylist(rows).to_pandas(), id="pandas"),
        pytest.param(lambda rows: pl.from_arrow(pa.Table.from_pylist(rows)), id="polars"),
        pytest.param(tamis.EventBatch.of, id="batch"),
    ],
)
def test_all_event_formats_give_the_same_answers(engine, form) -> None:
    matcher = new_matcher(engine)
    taken = add_all(matcher, SELECTORS)
    assert answers(matcher, form(ROWS)) == [matching(taken, row) for row in ROWS]


@engines
@examples
@given(exprs=st.lists(bool_exprs(), max_size=6), batch=st.lists(events(), max_size=6))
def test_a_batch_matches_like_its_single_events(engine, exprs, batch) -> None:
    matcher = new_matcher(engine)
    add_all(matcher, named(exprs))
    assert matcher.match_batch(batch).per_event() == [matcher.match(event) for event in batch]


@engines
def test_several_threads_may_match_at_once(engine) -> None:
    matcher = new_matcher(engine)
    text = expressible(
        engine,
        "a > {n} AND (b = {k} OR c XOR a = {n} + 1)",
        "a > {n} AND b = {k} AND c",
        "a = {n} AND b = {k} AND c",
    )
    for number in range(60):
        matcher.add(f"s{number}", text.format(n=number, k=number % 7))
    batch = [{"a": n % 90, "b": n % 7, "c": n % 2 == 0} for n in range(300)]
    expected = matcher.match_batch(batch)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: matcher.match_batch(batch), range(16)))
    assert len(expected) and all(each == expected for each in found)


@engines
def test_to_dot_returns_a_digraph(engine) -> None:
    matcher = new_matcher(engine)
    matcher.add('quo"te', "a = 'x\\y' AND b = 1")
    dot = matcher.to_dot()
    assert dot.startswith("digraph") and dot.endswith("}") and dot.count("{") == dot.count("}")
