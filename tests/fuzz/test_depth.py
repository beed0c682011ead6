"""Nesting beyond the limit is a clear error; up to it everything works, even deep in a stack."""

import inspect
import pickle
import sys
from collections.abc import Callable

import pytest

import tamis
from tamis.errors import SelectorTooDeep
from tamis.language.token_reader import MAX_DEPTH

# Ways to nest, each in one step: on the left, on the right, with every precedence at once.
SHAPES: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n + "a" + ")" * n,
    "not": lambda n: "NOT " * n + "a",
    "minus": lambda n: "-(" * n + "x" + ")" * n + " > 1",
    "signs": lambda n: "- " * n + "x > 1",
    "sum": lambda n: "x" + " + x" * n + " > 1",
    "abs": lambda n: "abs(" * n + "x" + ")" * n + " > 1",
    "least": lambda n: "least(x, " * n + "x" + ")" * n + " > 1",
    "at least": lambda n: "AT LEAST 1 OF (" * n + "a" + ")" * n,
    "right": lambda n: "".join(f"a{i} {'AND' if i % 2 else 'OR'} (" for i in range(n))
    + "b" + ")" * n,
    "left": lambda n: "(" * n + "b"
    + "".join(f") {'AND' if i % 2 else 'OR'} a{i}" for i in range(n)),
    "right, all words": lambda n: "a OR b XOR c AND (" * n + "d" + ")" * n,
    "left, all words": lambda n: "(" * n + "d" + ") AND c XOR b OR a" * n,
    "xor": lambda n: "a XOR (" * n + "d" + ")" * n,
    "between": lambda n: "x + (" * n + "x" + ")" * n + " BETWEEN 1 AND 2",
    "sequence": lambda n: "FIRST a THEN " + "NOT " * n + "a",
}  # fmt: skip

shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@shapes
def test_deep_nesting_is_a_clear_error(shape) -> None:
    with pytest.raises(SelectorTooDeep, match=f"nests deeper than {MAX_DEPTH}"):
        tamis.parse(shape(10_000))


def deepest(shape: Callable[[int], str]) -> int:
    """Return how deep a selector of a shape may nest."""
    accepted, refused = 0, MAX_DEPTH + 1
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        try:
            tamis.parse(shape(middle))
        except SelectorTooDeep:
            refused = middle
        else:
            accepted = middle
    return accepted


def everything(text: str) -> None:
    """All that is ever done with a selector."""
    tree = tamis.parse(text)
    assert tamis.parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    hash(tree)
    schema = tamis.Schema({"x": "INT"}, open=True)
    matcher = tamis.Matcher(schema)
    try:
        matcher.add("s", text)
    except tamis.errors.UnsupportedExpression:
        return
    event = {"a": True, "b": False, "c": None, "d": True, "x": 1}
    matcher.match(event)
    assert str(matcher.explain("s", event))
    assert str(matcher["s"].condition)
    assert len(pickle.loads(pickle.dumps(matcher))) == 1
    matcher.to_dot()


def with_frames(left: int, work: Callable[[], None]) -> None:
    """Do something with only so many frames left on the stack."""

    def descend(levels: int) -> None:
        if levels > 0:
            descend(levels - 1)
        else:
            work()

    descend(sys.getrecursionlimit() - len(inspect.stack(0)) - left)


@shapes
def test_everything_works_up_to_the_limit_with_a_third_of_the_stack_in_use(shape) -> None:
    text = shape(deepest(shape))
    with_frames(650, lambda: everything(text))


@shapes
def test_the_limit_does_not_depend_on_the_stack(shape) -> None:
    depth = deepest(shape)

    def check() -> None:
        tamis.parse(shape(depth))
        with pytest.raises(SelectorTooDeep):
            tamis.parse(shape(depth + 1))

    with_frames(650, check)


def test_parsing_at_the_end_of_the_stack_is_too_deep() -> None:
    def attempt() -> None:
        with pytest.raises(SelectorTooDeep):
            tamis.parse(SHAPES["parentheses"](MAX_DEPTH))

    with_frames(120, attempt)
