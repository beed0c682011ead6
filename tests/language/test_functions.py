"""Functions of the caller: which are accepted, how they are called, and what they may not do.

tests/cases/meaning-functions.txt and refused.txt hold the golden cases.
"""

import functools
import math
import pickle

import pytest

from tamis.errors import FunctionError, InputError, SelectorSyntaxError, SelectorTypeError
from tamis.language import evaluate, parse, rewrite
from tamis.language.expr import Attribute, Custom, Literal, attributes, children, walk
from tamis.language.functions import NO_FUNCTIONS, Functions
from tamis.language.token_reader import MAX_DEPTH
from tamis.language.typecheck import check
from tamis.schema import Schema
from tamis.values import Timestamp
from tests.fuzz.test_depth import with_frames
from tests.strategies import FUNCTIONS, size

A = Attribute(("a",))


def never(*arguments: object) -> object:
    raise AssertionError("called when nothing is matched")


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: object) -> object:
        return x


# -- which are taken ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("functions", "reason"),
    [
        ([("f", size)], "expected a mapping of names to functions, not list"),
        ("f", "expected a mapping of names to functions, not str"),
        ({"max": size}, "'max' is a built-in function; choose another name"),
        ({"Contains": size}, "'Contains' is a built-in function; choose another name"),
        ({"like": size}, "'like' is a keyword of the language; choose another name"),
        ({"First": size}, "'First' is a keyword of the language; choose another name"),
        ({"date": size}, "'date' is a keyword of the language; choose another name"),
        (
            {"my f": size},
            "'my f' is not a valid name: use letters, digits, _ and $, and no digit first",
        ),
        (
            {"a.f": size},
            "'a.f' is not a valid name: use letters, digits, _ and $, and no digit first",
        ),
        (
            {"1f": size},
            "'1f' is not a valid name: use letters, digits, _ and $, and no digit first",
        ),
        (
            {"`f`": size},
            "'`f`' is not a valid name: use letters, digits, _ and $, and no digit first",
        ),
        ({"": size}, "'' is not a valid name: use letters, digits, _ and $, and no digit first"),
        ({5: size}, "5 is not a valid name: a name is a str"),
        ({"f": 5}, "'f' is not callable: 5"),
        ({"f": None}, "'f' is not callable: None"),
        ({"f": Unhashable()}, "'f' cannot be hashed; wrap it in a def or a lambda"),
        ({"f": size, "F": size}, "'F' differs from 'f' in case only"),
        (
            {"f": lambda: 1},
            "'f' takes no arguments; a function in a selector needs at least one",
        ),
        (
            {"f": lambda x, *, y: x},
            "'f' has a required keyword-only argument; selectors pass arguments by position",
        ),
    ],
)
def test_invalid_functions_are_refused(functions, reason) -> None:
    with pytest.raises(InputError) as caught:
        parse("a = 1", functions)
    assert (caught.value.reason, caught.value.source) == (reason, "functions")


@pytest.mark.parametrize("name", ["f", "_f", "$f", "f1$", "été", "名前", "hour", "then_", "firsts"])
def test_valid_names_are_accepted(name) -> None:
    read = parse(f"{name}(a) = 1", {name: size})
    assert str(read) == f"{name}(a) = 1" and evaluate(read, {"a": "x"}) is True


def test_names_ignore_the_case_of_ascii_letters() -> None:
    functions = {"naÏve": size, "naïve": never}
    assert evaluate(parse("NAÏVE(a) = 1", functions), {"a": "x"}) is True
    for spelt in ("NaïvE(a)", "naïve(a)"):
        assert parse(spelt, functions) == Custom("naïve", never, (A,))
    with pytest.raises(SelectorSyntaxError, match="unknown function 'ſize'"):
        parse("ſize(a) = 1", FUNCTIONS)


def test_a_copy_is_kept() -> None:
    given = {"f": size}
    functions = Functions.of(given)
    given["g"] = never
    assert dict(functions) == {"f": size} and functions["F"] is size
    assert Functions.of(functions) is functions and Functions.of(None) is NO_FUNCTIONS
    assert functions == Functions({"f": size}) and hash(functions) == hash(Functions({"f": size}))
    again = pickle.loads(pickle.dumps(functions))
    assert type(again) is Functions and again == functions
    assert pickle.loads(pickle.dumps(NO_FUNCTIONS)) is NO_FUNCTIONS


# -- arguments ------------------------------------------------------------------------------------


def optional(x: object, y: object = 1, *, z: object = 2) -> object:
    return x


@pytest.mark.parametrize(
    ("function", "taken", "reason"),
    [
        (size, {1}, "f takes 1 argument, not 2"),
        (optional, {1, 2}, "f takes 1 to 2 arguments, not 3"),
        (lambda x, y, *others: x, {2, 3, 9}, "f takes at least 2 arguments, not 1"),
        (lambda *others, z=1: 1, {1, 2, 3, 9}, None),
        (functools.partial(math.pow, 2), {1}, "f takes 1 argument, not 2"),
        (Timestamp, {1}, "f takes 1 argument, not 2"),  # a class
        ("x".join, {1}, "f takes 1 argument, not 2"),  # of C's, and it tells
        (max, {1, 2, 3, 9}, None),  # of C's, and it does not
    ],
)
def test_the_number_of_arguments_is_checked(function, taken, reason) -> None:
    refused = {}
    for count in (1, 2, 3, 9):
        call = f"f({', '.join('a' * count)})"
        try:
            parse(f"a = 1 AND {call} = 1", {"f": function})
        except SelectorSyntaxError as error:
            refused[count] = error.reason
            assert error.text[error.start : error.end] == call
    assert refused.keys() == {1, 2, 3, 9} - taken
    assert next(iter(refused.values()), None) == reason


def test_what_a_function_is_given() -> None:
    seen: list[object] = []
    expr = parse("f(a, 'x', 1 + 1, -0.0, tags, t, b)", {"f": lambda *given: seen.append(given)})
    event = {"a": -0.0, "tags": ("x", None), "t": Timestamp(5).to_datetime(), "b": True}
    assert evaluate(expr, event) is None
    (given,) = seen
    assert given == (0.0, "x", 2, 0.0, ["x", None], Timestamp(5), True)
    assert math.copysign(1, given[0]) == math.copysign(1, given[3]) == 1 and given[6] is True


def test_a_list_may_be_sorted_in_place() -> None:
    def median(numbers: list[int]) -> int:
        numbers.sort()
        return numbers[len(numbers) // 2]

    event = {"a": [3, 1, 2]}
    assert evaluate(parse("f(a) = 2", {"f": median}), event) is True and event == {"a": [3, 1, 2]}


def test_null_and_opaque_arguments_are_not_passed_on() -> None:
    for argument in ("NULL", "missing", "a", "a + 1", "1 / 0"):
        expr = parse(f"f(1, {argument}) IS NULL", {"f": never})
        assert evaluate(expr, {"a": {"b": 1}}) is True


# -- failing --------------------------------------------------------------------------------------


def test_an_exception_becomes_a_function_error() -> None:
    expr = parse("a = 1 OR Inverse(b, 'x') > 1", {"inverse": lambda x, y: 1 / x})
    assert evaluate(expr, {"a": 1, "b": 2}) is True
    with pytest.raises(FunctionError) as caught:
        evaluate(expr, {"a": 1, "b": 0})
    error = caught.value
    assert (error.name, error.arguments) == ("inverse", (0, "x"))
    assert error.reason == "raised ZeroDivisionError: division by zero"
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert str(error) == (
        "inverse(0, 'x') raised ZeroDivisionError: division by zero;"
        " a function that has no answer returns None, which is NULL"
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (
            2**63,
            "returned an unsupported value: integer 9223372036854775808 does not fit into 64 bits",
        ),
        (
            "\ud800",
            "returned an unsupported value: "
            "text holds a lone surrogate, which is not valid Unicode",
        ),
    ],
)
def test_an_unsupported_result_is_a_function_error(result, reason) -> None:
    with pytest.raises(FunctionError) as caught:
        evaluate(parse("f(a) IS NULL", {"f": lambda x: result}), {"a": 1})
    assert caught.value.reason == reason and isinstance(caught.value.__cause__, ValueError)


def test_the_error_names_the_inner_function() -> None:
    def fail(x: object) -> object:
        raise LookupError(x)

    with pytest.raises(FunctionError) as caught:
        evaluate(parse("f(g(a)) = 1", {"f": never, "g": fail}), {"a": 7})
    assert (caught.value.name, caught.value.arguments) == ("g", (7,))


def test_an_interrupt_is_not_caught() -> None:
    def interrupt(x: object) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(parse("f(a) = 1", {"f": interrupt}), {"a": 1})


# -- trees ----------------------------------------------------------------------------------------


def test_calls_become_custom_nodes() -> None:
    call = Custom("size", size, (A, Literal.of(1)))
    assert children(call) == (A, Literal.of(1)) and attributes(call) == {("a",)}
    assert call == Custom("size", size, (A, Literal.of(1)), start=5, end=9)
    others = [
        Custom("size", never, (A, Literal.of(1))),
        Custom("length", size, (A, Literal.of(1))),
        Custom("size", size, (A, Literal.of(1.0))),
        Custom("size", size, (A,)),
    ]
    assert call not in others and len({call, *others}) == 5


def test_calls_are_printed_as_written() -> None:
    text = "-size(a) < - -size(b) * (1 + size('it''s')) AND NOT alike(-a, 1 + 2)"
    assert str(parse(text, FUNCTIONS)) == text


def test_a_call_knows_its_position() -> None:
    text = "b = 1 AND  Turned (a , 2)\t< 3"
    (call,) = (node for node in walk(parse(text, FUNCTIONS)) if isinstance(node, Custom))
    assert text[call.start : call.end] == "Turned (a , 2)" and call.name == "Turned"


@pytest.mark.parametrize(
    "text",
    ["f(1) = 1", "f(1)", "NOT f('x')", "a > f(1, 2) + 1", "f(1) = f(1)", "f(1) IN (1, 2)",
     "contains(f('x'), f('y'))", "array_contains(f(1), 1)", "f(1) BETWEEN f(2) AND 3",
     "f(1) LIKE 'x'", "f(1) IS NULL", "AT LEAST 1 OF (f(1), f(NULL))", "f(1) XOR TRUE",
     "f(f(1)) = 1 OR f(f(1)) = 2", "f(1) > 1 AND f(1) > 2"],
)  # fmt: skip
def test_only_matching_calls_the_function(text) -> None:
    read = parse(text, {"f": never})
    check(read, Schema({"a": "INT"}), text)
    done = rewrite(read)
    assert any(isinstance(node, Custom) for node in walk(done))
    assert parse(str(done), {"f": never}) == done


def test_equal_calls_are_found_equal() -> None:
    done = rewrite(parse("SIZE(b + a) = 1 OR size(a + b) = 2 OR 3 = size(a + b)", FUNCTIONS))
    assert str(done) == "size(a + b) IN (1, 2, 3)"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("size(prise) = 1", "unknown attribute prise"),
        ("alike(price, prise)", "unknown attribute prise"),
        ("size(size(price + name)) = 1", "name is STR; expected a number"),
    ],
)
def test_a_schema_checks_the_arguments(text, reason) -> None:
    with pytest.raises(SelectorTypeError) as caught:
        check(parse(text, FUNCTIONS), Schema({"price": "DBL", "name": "STR"}), text)
    assert caught.value.reason == reason


def test_a_schema_does_not_restrict_the_result() -> None:
    schema = Schema({"price": "DBL", "name": "STR", "tags": "LIST<STR>"})
    for text in (
        "size(tags) = 'x' AND size(price) = 1.5 AND size(name) LIKE 'x'",
        "size(tags) + 1 > size(name) AND array_contains(size(price), name)",
        "least(size(name), 'x') = name AND size(name)",
    ):
        check(parse(text, FUNCTIONS), schema, text)


def test_calls_nest_up_to_the_limit() -> None:
    deep = "Turned(a, " * (MAX_DEPTH - 3) + "'x'" + ")" * (MAX_DEPTH - 3) + " = 'x'"

    def everything() -> None:
        tree = parse(deep, FUNCTIONS)
        assert parse(str(tree), FUNCTIONS) == tree == pickle.loads(pickle.dumps(tree))
        assert hash(tree) == hash(rewrite(tree))
        check(tree, Schema({"a": "INT"}), deep)
        assert evaluate(tree, {"a": 1}) is True

    with_frames(650, everything)
