"""The index compared with the oracle, for any content and any history."""

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.events.batch import EventBatch
from tamis.language import parse
from tamis.language.expr import (
    And,
    ArrayContains,
    Attribute,
    Between,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
)
from tamis.language.expr import predicates as leaves_of
from tamis.language.rewrite import rewrite
from tamis.predicates import PredicateIndex, ladder, layers
from tamis.values import Timestamp
from tests.predicates.oracle import LARGE, answers, check, expected, mask_answers
from tests.strategies import COMPARISONS, bool_exprs, events, predicates


def leaves() -> st.SearchStrategy[object]:
    return st.one_of(predicates(), predicates().map(Not))


# A few values of every type, so that tests often meet the very value they ask for.
FEW = [0, 1, 1.0, 0.5, "x", "xy", True, False, Timestamp(0), Timestamp(1), None]
FEW_EVENTS = [
    {"a": value} for value in [*FEW, 2, -0.0, "", "y", [1], ["x", None], {}, Timestamp(2)]
]


def conditions() -> st.SearchStrategy[object]:
    """Draw tests of one attribute against a few constants, of mixed types."""
    a, literals = st.just(Attribute(("a",))), st.sampled_from(FEW).map(Literal.of)
    positive = st.one_of(
        st.builds(Comparison, st.sampled_from(COMPARISONS), a, literals),
        st.builds(Between, a, literals, literals),
        st.builds(In, a, st.lists(literals, min_size=1, max_size=3).map(tuple)),
        st.builds(IsNull, a),
        st.builds(ArrayContains, a, literals),
        a,
    )
    return st.one_of(positive, positive.map(Not))


@given(st.lists(leaves(), max_size=25), st.lists(events(), max_size=12))
def test_equals_the_oracle(interned, batch) -> None:
    check(interned, batch)


@given(st.lists(conditions(), min_size=10, max_size=60))
@settings(max_examples=60)
def test_equals_the_oracle_on_a_few_values(interned) -> None:
    check(interned, FEW_EVENTS)


@given(st.lists(bool_exprs(), max_size=6), st.lists(events(), max_size=12))
@settings(max_examples=50)
def test_equals_the_oracle_on_rewritten_selectors(selectors, batch) -> None:
    check([leaf for s in selectors for leaf in leaves_of(rewrite(s))], batch)


@pytest.mark.parametrize("room", [1024, LARGE])
@pytest.mark.parametrize("few", [0, 3, 256])
@given(st.data())
@settings(max_examples=40)
def test_interning_and_releasing_in_any_order(few, room, data) -> None:
    # However often the layers become one, and whatever form the ladders have.
    with (
        mock.patch.object(layers, "_MIN_CHANGES", few),
        mock.patch.object(ladder, "_MIN_TABLE_SIZE", room),
    ):
        intern_and_release(data)


def intern_and_release(data: st.DataObject) -> None:
    index, held = PredicateIndex(), {}
    pool = data.draw(st.lists(st.one_of(leaves(), conditions()), min_size=1, max_size=8))
    batch = EventBatch.of([*data.draw(st.lists(events(), max_size=3)), *FEW_EVENTS])
    references: list[int] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if references and data.draw(st.booleans()):
            id = references.pop(data.draw(st.integers(0, len(references) - 1)))
            index.release(id)
            if id not in references:
                del held[id]
        else:
            predicate = data.draw(st.sampled_from(pool))
            id = index.intern(predicate)
            assert held.setdefault(id, predicate) == predicate
            references.append(id)
        assert len(index) == len(held) == len(set(held.values()))
        assert {id: index.predicate(id) for id in held} == held
        assert answers(index, batch) == mask_answers(index, batch) == expected(held, batch)
    assert index.capacity <= len(pool)
    for id in references:
        index.release(id)
    assert_empty(index, batch)


def assert_empty(index: PredicateIndex, batch: EventBatch) -> None:
    assert len(index) == 0
    assert {
        name: count for name, count in index.stats().items() if name != "capacity"
    } == dict.fromkeys(
        ["predicates", "references", "terms", "derived_terms", "always", "residual"], 0
    )
    assert answers(index, batch) == [set()] * len(batch)
    assert not index.masks(batch).any()


@given(st.lists(leaves(), min_size=1, max_size=12), st.lists(events(), min_size=1, max_size=6))
def test_pickles_with_its_ids(interned, batch) -> None:
    index = PredicateIndex()
    held = {index.intern(p): p for p in interned}
    gone = next(iter(held))
    while gone in held and index.stats()["references"]:
        index.release(gone)
        try:
            index.predicate(gone)
        except KeyError:
            del held[gone]
    batch = EventBatch.of(batch)
    copy = pickle.loads(pickle.dumps(index))
    assert answers(copy, batch) == expected(held, batch)
    assert copy.stats() == index.stats()
    assert copy.intern(interned[0]) == index.intern(interned[0])


def test_pickles_the_deepest_predicate() -> None:
    index = PredicateIndex()
    deep = [parse("abs(" * 97 + "a" + ")" * 97 + " > 2"), parse("- " * 97 + "a < -2")]
    ids = [index.intern(predicate) for predicate in deep]
    copy = pickle.loads(pickle.dumps(index))
    assert [copy.predicate(id) for id in ids] == deep
    assert answers(copy, EventBatch.of([{"a": -3}, {"a": 3}])) == [{0}, {0, 1}]


@given(
    st.lists(leaves(), min_size=1, max_size=12),
    st.lists(events(), min_size=1, max_size=70),
    st.randoms(use_true_random=False),
)
def test_masks_of_some_predicates(interned, batch, random) -> None:
    index = PredicateIndex()
    held = {index.intern(p): p for p in interned}
    some = random.sample(sorted(held), random.randint(0, len(held)))
    batch = EventBatch.of(batch)
    wanted = expected({id: held[id] for id in some}, batch)
    assert mask_answers(index, batch, np.array(some, np.int32)) == wanted


def test_equal_predicates_share_an_id() -> None:
    index = PredicateIndex()
    one = index.intern(parse("a = 1"))
    assert index.intern(parse(" a   = 1")) == one
    others = [index.intern(parse(f"a = {text}")) for text in ("1.0", "TRUE", "'1'", "2")]
    assert sorted({one, *others}) == [0, 1, 2, 3, 4]
    index.release(one)
    assert index.predicate(one) == parse("a = 1")
    index.release(one)
    with pytest.raises(KeyError):
        index.predicate(one)
    with pytest.raises(KeyError):
        index.release(one)
    assert index.intern(parse("b = 7")) == one and index.capacity == 5


def test_a_structure_is_rejected_and_the_index_unchanged() -> None:
    index = PredicateIndex()
    for expr in (And((parse("a"), parse("b"))), Not(Not(Attribute(("a",))))):
        with pytest.raises(TypeError):
            index.intern(expr)
    assert len(index) == index.capacity == 0


def test_residual_and_derived_are_counted() -> None:
    index = PredicateIndex()
    for text in ("a < b", "contains(a, b)", "a + 1 < 5", "a + 1 > 7", "a = 1"):
        index.intern(parse(text))
    stats = index.stats()
    assert (stats["residual"], stats["terms"], stats["derived_terms"]) == (2, 2, 1)


def test_an_empty_batch_has_no_results() -> None:
    index = PredicateIndex()
    index.intern(Comparison("=", Attribute(("a",)), Literal.of(1)))
    index.intern(Literal.of(True))
    assert answers(index, EventBatch.of([])) == []
    assert index.masks(EventBatch.of([])).shape == (2, 0)
