"""Properties of every selector and every event."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.language import evaluate, parse, rewrite
from tamis.language.evaluate import all_of, any_of, at_least, negation, one_of_two
from tamis.language.expr import (
    JUNCTION,
    And,
    AtLeast,
    Comparison,
    Not,
    Or,
    Sequence,
    Xor,
    attributes,
    walk,
)
from tamis.language.rewrite import RULES
from tests.soak import count
from tests.strategies import FUNCTIONS, events
from tests.strategies import bool_exprs as bool_exprs_with
from tests.strategies import selectors as selectors_with


def bool_exprs() -> st.SearchStrategy[object]:
    return bool_exprs_with(functions=True)


def selectors() -> st.SearchStrategy[object]:
    return selectors_with(functions=True)


@settings(max_examples=count(250, 20_000))
@given(selectors())
def test_printed_selectors_are_read_back(selector) -> None:
    assert parse(str(selector), FUNCTIONS) == selector


@given(selectors())
def test_spans_cover_their_text(selector) -> None:
    text = str(selector)
    read = parse(text, FUNCTIONS)
    for node in walk(read):
        if node is read or not isinstance(node, Sequence):
            assert 0 <= node.start < node.end <= len(text)
            if not isinstance(node, (*JUNCTION, Not)):
                again = text[node.start : node.end]
                assert again.count("(") == again.count(")") or "'" in again or "`" in again


@settings(max_examples=count(250, 20_000))
@given(bool_exprs(), events())
def test_rewriting_keeps_the_truth(expr, event) -> None:
    assert evaluate(rewrite(expr), event) is evaluate(expr, event)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@settings(max_examples=count(150, 5_000))
@given(expr=bool_exprs(), event=events())
def test_each_rule_keeps_the_truth(rule, expr, event) -> None:
    assert evaluate(rule(expr), event) is evaluate(expr, event)


@settings(max_examples=count(150, 10_000))
@given(selectors())
def test_rewriting_is_idempotent(selector) -> None:
    once = rewrite(selector)
    assert rewrite(once) == once
    assert parse(str(once), FUNCTIONS) == once
    # Rewriting may drop attributes, but never add any.
    assert attributes(once) <= attributes(selector)


@given(bool_exprs())
def test_the_common_form_has_its_invariants(expr) -> None:
    once = rewrite(expr)
    for node in walk(once):
        if isinstance(node, Not):
            assert not isinstance(node.operand, (*JUNCTION, Not, Comparison))
        if isinstance(node, (And, Or, Xor)):
            assert not any(type(operand) is type(node) for operand in node.operands)
            assert list(node.operands) == sorted(node.operands, key=str)
        if isinstance(node, AtLeast):
            assert 1 < node.k < len(node.operands)


@given(bool_exprs(), bool_exprs(), events())
def test_de_morgans_law_holds(left, right, event) -> None:
    assert evaluate(Not(And((left, right))), event) is evaluate(Or((Not(left), Not(right))), event)


@given(selectors())
def test_trees_pickle_and_hash(selector) -> None:
    again = pickle.loads(pickle.dumps(selector))
    assert again == selector and hash(again) == hash(selector)


TRUTHS = (True, False, None)


def test_connectives_by_their_tables() -> None:
    """Kleene: unknown stands for both truths; the result is known where both give the same."""
    for left in TRUTHS:
        for right in TRUTHS:
            options = [
                (a, b)
                for a in ([left] if left is not None else [True, False])
                for b in ([right] if right is not None else [True, False])
            ]
            for connective, plain in [
                (all_of, lambda a, b: a and b),
                (any_of, lambda a, b: a or b),
                (one_of_two, lambda a, b: a is not b),
                (lambda pair: at_least(2, pair), lambda a, b: a and b),
                (lambda pair: at_least(1, pair), lambda a, b: a or b),
            ]:
                outcomes = {plain(a, b) for a, b in options}
                expected = outcomes.pop() if len(outcomes) == 1 else None
                assert connective([left, right]) is expected
    assert [negation(truth) for truth in TRUTHS] == [False, True, None]
