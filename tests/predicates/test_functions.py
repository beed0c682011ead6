"""Phase 1 on predicates that call user functions: the oracle's answers, with few calls."""

import pickle
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.errors import FunctionError
from tamis.events.batch import EventBatch
from tamis.language import parse
from tamis.language.expr import Not
from tamis.language.expr import predicates as leaves_of
from tamis.language.rewrite import rewrite
from tamis.predicates import PredicateIndex
from tests.predicates.oracle import answers, check, expected
from tests.soak import count
from tests.strategies import FUNCTIONS, bool_exprs, events, predicates


def leaves() -> st.SearchStrategy[object]:
    found = predicates(functions=True)
    return st.one_of(found, found.map(Not))


@given(st.lists(leaves(), max_size=25), st.lists(events(), max_size=12))
@settings(max_examples=count(150, 5_000))
def test_equals_the_oracle(interned, batch) -> None:
    check(interned, batch)


@given(st.lists(bool_exprs(functions=True), max_size=6), st.lists(events(), max_size=12))
@settings(max_examples=count(60, 2_000))
def test_equals_the_oracle_on_rewritten_selectors(selectors, batch) -> None:
    check([leaf for s in selectors for leaf in leaves_of(rewrite(s))], batch)


# Each kind of predicate with a call in each of its places, on an attribute and on a constant.
SHAPES = [
    "{} = 2", "2 = {}", "{} = 'x'", "{} <> 'x'", "{} < {}", "{} = a", "{} = {} + 1", "-{} < 0",
    "abs({}) > 1", "least({}, a) = a", "{} BETWEEN 1 AND 2", "a BETWEEN {} AND 3", "{} IN (1, 'x')",
    "{} NOT IN (1, 2)", "{} LIKE 'x%'", "{} RLIKE 'x'", "contains({}, 'x')", "contains('xyz', {})",
    "contains({}, {})", "array_contains({}, 'x')", "array_contains(a, {})", "{} IS NULL",
    "{} IS NOT NULL", "{}", "NOT {}",
]  # fmt: skip
CALLS = ["size(a)", "Turned(a)", "alike(a, 'x')", "size('xy')", "Turned('x')", "Turned(-0.0)",
         "alike(1, 2)", "Turned(Turned(a))", "size(NULL)", "Turned(1, 'x')"]  # fmt: skip
VALUES = [0, 1, 2, -0.0, 1.5, "x", "xy", "", True, False, [], ["x"], [1, None], {}, None]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_in_every_position_of_a_predicate(shape) -> None:
    texts = [shape.replace("{}", call) for call in CALLS]
    check([parse(text, FUNCTIONS) for text in texts], [{"a": value} for value in VALUES])


class Counted:
    """A function that counts its calls, by arguments."""

    def __init__(self) -> None:
        self.calls: Counter[object] = Counter()

    def __call__(self, x: object, *others: object) -> object:
        self.calls[(x, *others)] += 1
        return x


def test_a_function_is_called_once_per_event() -> None:
    counted = Counted()
    index = PredicateIndex()
    for text in ("f(a) = 1", "f(a) > 2", "3 < f(a)", "f(a) + 1 = 2", "f(a) IN (1, 2)", "f(a)",
                 "f(a) LIKE 'x'", "f(a) * 2 < f(a) + 1", "f(a) IS NULL", "b < f(a)",
                 "b BETWEEN 1 AND f(a)"):  # fmt: skip
        index.intern(parse(text, {"f": counted}))
    assert not counted.calls
    index.satisfied_predicates(
        EventBatch.of([{"a": 1, "b": 1}, {"a": 2, "b": 1}, {"b": 1}, {"a": "x"}])
    )
    assert counted.calls == {(1,): 1, (2,): 1, ("x",): 1}


def test_a_function_of_constants_is_called_once_per_batch_and_not_before() -> None:
    counted = Counted()
    index = PredicateIndex()
    texts = ["f(1) = 1", "a = f(1)", "f(1) < a + f(2)", "f('y')", "NOT f(3)", "f(FALSE) = FALSE",
             "array_contains(f(4), 1)", "f(5) IS NULL", "f('x') LIKE 'x'"]  # fmt: skip
    held = {index.intern(p): p for p in (parse(text, {"f": counted}) for text in texts)}
    released = index.intern(parse("f(6) = f(7)", {"f": counted}))
    index.release(released)
    assert not counted.calls
    batch = EventBatch.of([{"a": 1}, {"a": 2}, {}])
    found = answers(index, batch)
    assert set(counted.calls.values()) == {1} and (6,) not in counted.calls
    assert found == expected(held, batch)
    assert [len(ids) for ids in found] == [5, 4, 3]


def test_released_predicates_are_gone() -> None:
    index = PredicateIndex()
    ids = [index.intern(parse(text, FUNCTIONS)) for text in ("size(a) = 1", "alike(a, b)")]
    for id in ids:
        index.release(id)
    assert len(index) == index.stats()["terms"] == 0


def test_an_unpickled_index_gives_the_same_answers() -> None:
    index = PredicateIndex()
    held = {
        index.intern(p): p for p in (parse(t, FUNCTIONS) for t in ("size(a) = 1", "alike(a, 1)"))
    }
    batch = EventBatch.of([{"a": "x"}, {"a": 1}, {}])
    copy = pickle.loads(pickle.dumps(index))
    assert answers(copy, batch) == expected(held, batch) == [{0}, {1}, set()]
    assert copy.intern(parse("SIZE(a) = 1", FUNCTIONS)) == 0


def test_an_error_in_a_function_is_reported() -> None:
    index = PredicateIndex()
    index.intern(parse("f(a) = 1", {"f": lambda x: 1 / x}))
    index.satisfied_predicates(EventBatch.of([{"a": 1}, {}]))
    with pytest.raises(FunctionError, match=r"f\(0\) raised ZeroDivisionError"):
        index.satisfied_predicates(EventBatch.of([{"a": 1}, {"a": 0}]))
