"""The disjunctive normal form is true where the selector is, and has no more parts than allowed."""

from hypothesis import given
from hypothesis import strategies as st

from tamis.language import evaluate, parse
from tamis.language.disjuncts import disjuncts
from tamis.language.expr import STRUCTURE, Not
from tests.strategies import bool_exprs, events


@given(bool_exprs(), st.lists(events(), max_size=10), st.sampled_from([1, 3, 20, 1000]))
def test_some_conjunction_is_true_where_the_selector_is(expr, batch, most) -> None:
    found = disjuncts(expr, most)
    if found is None:
        return
    assert len(found) <= most
    for leaf in (leaf for each in found for leaf in each):
        assert not isinstance(leaf.operand if isinstance(leaf, Not) else leaf, STRUCTURE)
    for event in batch:
        true = any(all(evaluate(leaf, event) is True for leaf in each) for each in found)
        assert true is (evaluate(expr, event) is True)


def test_as_many_as_allowed_and_no_more() -> None:
    expr = parse("(a OR b) AND (c OR d OR e)")
    assert len(disjuncts(expr, 6) or ()) == 6
    assert disjuncts(expr, 5) is None
    assert len(disjuncts(parse("AT LEAST 2 OF (a, b, c, d)"), 6) or ()) == 6
    assert len(disjuncts(parse("a XOR b XOR c"), 4) or ()) == 4
    assert disjuncts(parse("a XOR b XOR c"), 3) is None


def test_far_too_many_conjunctions_are_given_up_at_once() -> None:
    assert disjuncts(parse(" AND ".join(f"(a{i} OR b{i})" for i in range(500))), 1000) is None
    assert disjuncts(parse(f"AT LEAST 50 OF ({', '.join(f'a{i}' for i in range(99))})"), 64) is None
    assert disjuncts(parse(" XOR ".join(f"a{i}" for i in range(60))), 64) is None
