"""Cases in which an A-Tree went wrong, or could, without breaking any theorem."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from tamis.engines.atree import AtreeEngine
from tamis.engines.atree.plan import Plan
from tamis.engines.atree.tree import Tree
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, TamisError, UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.kernels.atree.levels import LAST_STAMP
from tamis.kernels.atree.node_store import AND, AT_LEAST, FIRST_MADE
from tamis.language import evaluate, parse
from tamis.language.functions import Functions
from tests.engines.atree.inspection import FILTERS, answer, engine_of
from tests.engines.atree.theorems import check_empty, check_room

filters = pytest.mark.parametrize("filter", FILTERS)


@filters
@pytest.mark.parametrize("selector", ["a = 1 AND b = 1", "AT LEAST 2 OF (a = 1, b = 1, c = 1)"])
def test_stamps_of_earlier_events_are_ignored_after_16_bit_wraparound(
    filter: str, selector: str
) -> None:
    """16-bit stamps wrap around after 65,535 events, to that of the first."""
    engine = engine_of(filter, {"s": selector})
    a, b, c = np.zeros((3, 150_000), np.int64)
    a[[0, 70_000, 80_000]] = 1
    b[[0 + 65_535, 70_000, 80_000 + 65_535]] = 1
    assert list(engine.match(EventBatch.of(pa.table({"a": a, "b": b, "c": c})))) == [(70_000, "s")]


@pytest.mark.parametrize("filter", ["general", "zero-suppression"])
@pytest.mark.parametrize("limit", [None, 1])
def test_stamps_of_earlier_events_are_ignored_after_31_bit_wraparound(
    filter: str, limit: int | None
) -> None:
    """With queues, stamps have 31 bits: too many to wait for, so the clock is set."""
    engine = engine_of(filter, {"s": "a = 1 AND b = 1"})
    engine.add(Subscription.of("t", "c = 1", priority=1))
    assert answer(engine, {"a": 1}, limit) == []
    (board,) = engine._scratch
    assert board.clock == 1
    board.clock = LAST_STAMP  # the next one is 1 again: nothing may seem to wait in a queue
    assert answer(engine, {"a": 1, "b": 1}, limit) == ["s"]
    assert answer(engine, {"b": 1}, limit) == []


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("avg(a, b, c) > 2", "avg(sum(a, b), c) > 2"),  # of 1, 1, 3: 5/3 and 5/2
        # Of a text and a number there is no sum: that is NULL, which the outer one skips.
        ("sum(t, b, c) > 2", "sum(sum(t, b), c) > 2"),
        ("least(t, b, c) > 2", "least(least(t, b), c) > 2"),
        ("greatest(t, b, c) > 2", "greatest(greatest(t, b), c) > 2"),
    ],
)
@filters
def test_a_function_of_many_is_not_that_of_its_first_two(filter, one, other) -> None:
    event = {"a": 1, "b": 1, "c": 3, "t": "x"}
    assert [evaluate(parse(text), event) is True for text in (one, other)] == [False, True]
    assert answer(engine_of(filter, {"one": one, "other": other}), event) == ["other"]


@pytest.mark.parametrize("arguments", [100, 2_000])
def test_a_sum_of_many_attributes_matches(arguments: int) -> None:
    names = [f"a{number}" for number in range(arguments)]
    engine = engine_of("general", {"s": f"SUM({', '.join(names)}) >= {arguments}"})
    assert answer(engine, dict.fromkeys(names, 1)) == ["s"]
    assert answer(engine, {**dict.fromkeys(names, 1), "a0": 0}) == []
    engine.remove("s")
    check_empty(engine)


@pytest.mark.parametrize("shape", ["SUM({many}) > 1", "{nested} > 1", "a = 1 XOR SUM({many}) > 1"])
def test_there_is_room_for_every_node(shape: str) -> None:
    """Kernels check no bounds: room must have been reserved for every node that they create."""
    for size in range(1, 90):
        many = ", ".join(f"a{number}" for number in range(size))
        text = shape.format(many=many, nested="abs(" * size + "b" + ")" * size)
        store = engine_of("general", {"s": text}).tree.store
        check_room(store)


@filters
def test_two_functions_of_the_same_values_are_two_values(filter: str) -> None:
    functions = Functions.of({"more": lambda a, b: a + b, "less": lambda a, b: a - b})
    engine = AtreeEngine(filter)
    for name in ("more", "less"):
        engine.add(Subscription.of(name, f"{name}(a, b) > 2", functions=functions))
    assert answer(engine, {"a": 2, "b": 1}) == ["more"]
    assert answer(engine, {"a": 4, "b": 1}) == ["less", "more"]


# -- k of n ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [30_000, 40_000])
def test_false_operands_are_counted_beyond_15_bits(size: int) -> None:
    """A k-of-n takes 65,535 operands, and all of them may be false."""
    counted = f"AT LEAST 2 OF ({', '.join(['a = 1'] * size)})"
    engine = engine_of("zero-suppression", {"s": f"{counted} XOR b = 1"})
    assert answer(engine, {"a": 0, "b": 1}) == ["s"]


def test_function_numbers_are_reused() -> None:
    """There are 16,368 numbers, for the functions in use at a time."""
    tree = Tree()
    for k in range(17_000):
        tree.insert(0, Plan(AT_LEAST, (0, 1, 2), k))
        tree.delete(0)


# -- rejected selectors ----------------------------------------------------------------------------


@filters
def test_a_rejected_selector_leaves_nothing(filter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.engines.atree.planner.MAX_COUNTED", 3)
    engine = AtreeEngine(filter)
    with pytest.raises(UnsupportedExpression):
        text = "x + y > 3 AND z = 1 AND AT LEAST 2 OF (a = 1, b = 1, c = 1, d = 1)"
        engine.add(Subscription.of("s", text))
    check_empty(engine)


def test_a_selector_without_room_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = AtreeEngine("tvp")
    monkeypatch.setattr("tamis.engines.atree.tree.MAX_FUNCTION", FIRST_MADE)
    both = "AT LEAST 2 OF (a = 1, b = 1, c = 1) AND AT LEAST 2 OF (a = 1, b = 1, c = 1, d = 1)"
    with pytest.raises(TamisError, match="at most 1 different functions"):
        engine.add(Subscription.of("s", f"f = 1 AND {both}"))
    check_empty(engine)


# -- threads ---------------------------------------------------------------------------------------


@filters
@pytest.mark.parametrize("limit", [None, 2])
def test_threads_change_no_answer(filter: str, limit: int | None) -> None:
    plain, threaded = AtreeEngine(filter), AtreeEngine(filter, threads=3)
    for number in range(40):
        text = f"a > {number} AND (b = {number % 7} XOR a + b > {2 * number})"
        for engine in (plain, threaded):
            engine.add(Subscription.of(number, text, priority=number % 5))
    batch = EventBatch.of([{"a": n % 50, "b": n % 7} for n in range(1000)])
    found = threaded.match(batch, limit)
    assert len(found) and found == plain.match(batch, limit)


def test_an_invalid_number_of_threads_is_rejected() -> None:
    for threads in (0, True, "2"):
        with pytest.raises(InputError, match="threads"):
            AtreeEngine(threads=threads)  # type: ignore[arg-type]


# -- other cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_an_unpickled_engine_can_grow(protocol: int) -> None:
    """Pickle protocol 5, which cloudpickle uses, lends arrays that cannot be resized."""
    engine = engine_of("tvp", {"s": "a = 1 AND b = 1"})
    engine.add(Subscription.of("first", "a = 1", priority=1))
    engine = pickle.loads(pickle.dumps(engine, protocol))
    for number in range(200):
        engine.add(Subscription.of(f"s{number}", f"a = 1 AND c = {number}", priority=2))
    assert answer(engine, {"a": 1, "b": 1, "c": 7}, limit=2) == ["s7", "first"]


def test_a_span_with_two_layouts_is_reused() -> None:
    """Algorithm 6 keeps one tree per span, but the whole chain may be built on the other."""
    tree = Tree()
    ab, bc = Plan(AND, (0, 1)), Plan(AND, (1, 2))
    tree.insert(0, Plan(AND, (ab, 2)))
    tree.insert(1, Plan(AND, (Plan(AND, (0, bc)), 3)))
    tree.insert(2, Plan(AND, (0, 1, 2, 3)))
    assert tree.root(2) == tree.root(1)
