"""User-defined functions through the facade: matching, explaining, pickling, errors."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis.cli.shared.selector_tree import as_dict, draw_tree
from tamis.engines.subscription import Subscription
from tamis.language import evaluate, parse
from tests.engines.variants import VARIANTS
from tests.engines.variants import matcher as new_matcher
from tests.strategies import FUNCTIONS, bool_exprs, events


def distance(x: float, y: float) -> float:
    return math.hypot(x - 3, y - 4)


def brand(name: str) -> str | None:
    return name.split()[0] if isinstance(name, str) and name else None


@pytest.fixture
def matcher() -> tamis.Matcher:
    matcher = tamis.Matcher(engine="brute", functions={"distance": distance, "brand": brand})
    matcher.add("near", "distance(x, y) < 2 OR 10 < Distance(x, y)")
    matcher.add("dell", "brand(product) = 'Dell' AND price <= 1000", priority=1)
    return matcher


def test_selectors_call_functions(matcher) -> None:
    event = {"x": 3, "y": 5.5, "product": "Dell XPS", "price": 900}
    assert matcher.match(event) == ["dell", "near"]
    assert matcher.match_batch([event, {}, {"x": 0, "y": 0}, {"x": 90, "y": 0}]).per_event() == [
        ["dell", "near"], [], [], ["near"],
    ]  # fmt: skip
    matcher.replace("near", "distance(x, y) = 1.5 AND brand(product) IS NOT NULL")
    assert matcher.match(event) == ["dell", "near"]
    assert dict(matcher.functions) == {"distance": distance, "brand": brand}


@given(bool_exprs(functions=True), events(), st.sampled_from(["sql", "strict"]))
def test_rewriting_keeps_the_meaning_of_calls(expr, event, semantics) -> None:
    subscription = Subscription.of("s", str(expr), semantics=semantics, functions=FUNCTIONS)
    matcher = tamis.Matcher(semantics=semantics, functions=FUNCTIONS)
    matcher.add("s", str(expr))
    assert (evaluate(subscription.condition, event) is True) == (matcher.match(event) == ["s"])


@pytest.mark.parametrize("engine", VARIANTS)
@given(st.lists(bool_exprs(functions=True), max_size=6), st.lists(events(), max_size=6))
def test_every_engine_equals_the_oracle(engine, exprs, batch) -> None:
    matcher = new_matcher(engine, functions=FUNCTIONS)
    taken = {}
    for number, expr in enumerate(exprs):
        try:
            matcher.add(number, str(expr))
        except tamis.errors.UnsupportedExpression:
            continue
        taken[number] = expr
    wanted = [[n for n, e in taken.items() if evaluate(e, event) is True] for event in batch]
    assert matcher.match_batch(batch).per_event() == wanted


def test_strict_requires_the_arguments() -> None:
    matcher = tamis.Matcher(semantics="strict", functions=FUNCTIONS)
    matcher.add("s", "size(a) = 1 OR alike(b, 1)")
    assert matcher.match({"a": "x"}) == [] and matcher.match({"a": "x", "b": "y"}) == ["s"]


def test_defaults_are_arguments() -> None:
    matcher = tamis.Matcher({"a": ("STR", "xyz")}, "default", functions=FUNCTIONS)
    matcher.add("s", "size(a) = 3")
    assert matcher.match({}) == ["s"] and matcher.match({"a": "x"}) == []


def test_unknown_functions_are_refused(matcher) -> None:
    with pytest.raises(tamis.errors.SelectorSyntaxError) as caught:
        tamis.Matcher().add("s", "distance(x, y) < 2")
    assert caught.value.reason == "unknown function 'distance'"
    assert "distance" not in caught.value.hint
    with pytest.raises(tamis.errors.SelectorSyntaxError) as caught:
        matcher.add("s", "distanz(x, y) < 2")
    assert caught.value.hint == "did you mean 'distance'?"
    with pytest.raises(tamis.errors.SelectorSyntaxError) as caught:
        matcher.add("s", "a = 1 AND qqq(x)")
    assert caught.value.hint.endswith("endswith, array_contains, distance, brand")
    with pytest.raises(tamis.errors.SelectorSyntaxError, match="distance takes 2 arguments, not 1"):
        matcher.add("s", "distance(x) < 2")
    assert list(matcher) == ["near", "dell"]


def test_invalid_functions_are_refused() -> None:
    with pytest.raises(tamis.errors.InputError, match="functions: 'abs' is a built-in function"):
        tamis.Matcher(functions={"abs": abs})
    with pytest.raises(tamis.errors.InputError, match="functions: 'f' is not callable: 1"):
        Subscription.of("s", "a = 1", functions={"f": 1})


def test_a_failing_function_names_its_arguments(matcher) -> None:
    for call in (
        lambda: matcher.match({"x": 1, "y": "north"}),
        lambda: matcher.match_batch([{}, {"x": 1, "y": "north"}]),
        lambda: matcher.explain("near", {"x": 1, "y": "north"}),
    ):
        with pytest.raises(tamis.errors.FunctionError) as caught:
            call()
        assert (caught.value.name, caught.value.arguments) == ("distance", (1, "north"))
        assert isinstance(caught.value.__cause__, TypeError)
    assert matcher.match({"x": 3, "y": 4}) == ["near"]


def test_explanations_show_calls(matcher) -> None:
    found = matcher.explain("near", {"x": 3, "y": 9})
    assert str(found) == (
        "near: does not match\n"
        "✗ OR\n"
        "├─ ✗ distance(x, y) < 2  (distance(x, y) is 5.0, x is 3, y is 9)\n"
        "└─ ✗ 10 < distance(x, y)  (distance(x, y) is 5.0, x is 3, y is 9)\n"
        "it would match if:\n"
        "  distance(x, y) < 2 should be true, is false  (distance(x, y) is 5.0, x is 3, y is 9)"
    )
    assert found.to_dict()["missing"][0]["values"] == {"distance(x, y)": 5.0, "x": 3, "y": 9}
    found = matcher.explain("dell", {"product": "", "price": 1})
    assert "? brand(product) = 'Dell'  (brand(product) is NULL, product is '')" in str(found)


def test_constant_calls_are_not_reported_as_missing() -> None:
    matcher = tamis.Matcher(functions=FUNCTIONS)
    matcher.add("s", "a = 1 AND size('x') = 2")
    matcher.add("t", "a = 1 AND (size('x') = 1 AND alike(1, 2))")
    assert matcher.explain("s", {"a": 1}).possible is False
    found = matcher.explain("t", {"a": 2})
    assert [change.predicate for change in found.missing] == ["a = 1"] and found.possible is True


def test_functions_of_a_module_pickle(matcher) -> None:
    again = pickle.loads(pickle.dumps(matcher))
    event = {"x": 3, "y": 5.5, "product": "Dell XPS", "price": 900}
    assert again.match(event) == ["dell", "near"] and again.functions == matcher.functions
    again.add("far", "distance(x, y) > 1")
    assert again.match(event) == ["dell", "far", "near"] and "far" not in matcher
    assert Subscription.of("s", "a = 1") == Subscription.of("s", "a = 1", functions=FUNCTIONS)
    one = pickle.loads(pickle.dumps(matcher["near"]))
    assert one == matcher["near"] and one.functions == matcher.functions


def test_a_lambda_does_not_pickle() -> None:
    matcher = tamis.Matcher(functions={"f": lambda x: x})
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(matcher)


def test_parse_takes_functions() -> None:
    tree = tamis.parse("size(a) < 2 AND alike(a, b)", FUNCTIONS)
    assert str(tree) == "size(a) < 2 AND alike(a, b)"
    assert tree == parse(" SIZE(a)<2 and Alike(a,b)", FUNCTIONS)


def test_trees_with_calls_are_drawn() -> None:
    tree = tamis.parse("size(a) < 2", FUNCTIONS)
    assert draw_tree(tree) == ["<", "├─ size", "│  └─ a", "└─ 2 INT"]
    call = {"node": "Custom", "name": "size", "arguments": [{"node": "Attribute", "path": ["a"]}]}
    assert as_dict(tree)["left"] == call
