"""The meaning of a selector: the oracle whose answers every engine must give.

One small function per node class, without optimisations. Truth is True, False or None (unknown),
after Kleene. docs/guides/language.md describes the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from tamis.errors import FunctionError
from tamis.language.expr import (
    And,
    Arithmetic,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Call,
    Comparison,
    Custom,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RLike,
    StringTest,
    ValueExpr,
    Xor,
)
from tamis.language.patterns import like_matches, regex_matches
from tamis.values import INT_MAX, INT_MIN, OPAQUE, Timestamp, Value, to_value

Truth = bool | None
Event = Mapping[str, object]


def evaluate(expr: BoolExpr, event: Event) -> Truth:
    """Evaluate a selector on an event: True, False, or None for unknown."""
    return _TRUTH[type(expr)](expr, event)


def value_of(expr: ValueExpr, event: Event) -> Value:
    """Evaluate a value expression on an event; None is NULL."""
    return _VALUE[type(expr)](expr, event)


def look_up(path: tuple[str, ...], event: Event) -> Value:
    """Return the value at a path; None if a step is missing or is not an object."""
    value: object = event
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return to_value(value)


# -- comparison -----------------------------------------------------------------------------------


def compare(left: Value, right: Value) -> int | None:
    """Compare two values: negative, zero or positive as left is less, equal or greater.

    Returns:
        None if they cannot be compared: one is NULL, or their types differ and are not INT and DBL.
    """
    if isinstance(left, bool) or isinstance(right, bool):
        if not (isinstance(left, bool) and isinstance(right, bool)):
            return None
        return left - right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _compare_numbers(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return (left > right) - (left < right)
    if isinstance(left, Timestamp) and isinstance(right, Timestamp):
        return (left > right) - (left < right)
    return None


def _compare_numbers(left: int | float, right: int | float) -> int:
    # NaN equals itself and is the greatest number. Python compares int with float exactly.
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) - math.isnan(right)
    return (left > right) - (left < right)


_OUTCOMES: dict[str, Callable[[int], bool]] = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


def test(op: str, left: Value, right: Value) -> Truth:
    """Evaluate `left op right`, a comparison of two values."""
    order = compare(left, right)
    return None if order is None else _OUTCOMES[op](order)


def _comparison(e: Comparison, event: Event) -> Truth:
    return test(e.op, value_of(e.left, event), value_of(e.right, event))


def _between(e: Between, event: Event) -> Truth:
    value = value_of(e.operand, event)
    low = test(">=", value, value_of(e.low, event))
    return all_of([low, test("<=", value, value_of(e.high, event))])


def _in(e: In, event: Event) -> Truth:
    value = value_of(e.operand, event)
    return any_of(test("=", value, item.value) for item in e.items)


# -- text, lists, NULL ----------------------------------------------------------------------------


def _like(e: Like, event: Event) -> Truth:
    text = value_of(e.operand, event)
    if not isinstance(text, str):
        return None
    return like_matches(e.pattern, e.escape, e.ignore_case, text)


def _rlike(e: RLike, event: Event) -> Truth:
    text = value_of(e.operand, event)
    return regex_matches(e.pattern, text) if isinstance(text, str) else None


_STRING_TESTS: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "startswith": str.startswith,
    "endswith": str.endswith,
}


def _string_test(e: StringTest, event: Event) -> Truth:
    text, part = value_of(e.text, event), value_of(e.part, event)
    if not (isinstance(text, str) and isinstance(part, str)):
        return None
    return _STRING_TESTS[e.function](text, part)


def _array_contains(e: ArrayContains, event: Event) -> Truth:
    array, item = value_of(e.array, event), value_of(e.item, event)
    if not isinstance(array, list) or item is None:
        return None
    return any_of(test("=", element, item) for element in array)


def _is_null(e: IsNull, event: Event) -> Truth:
    return value_of(e.operand, event) is None


def as_truth(value: Value) -> Truth:
    """Return a value as a truth: itself if it is a Boolean, else unknown."""
    return value if isinstance(value, bool) else None


# -- Kleene's connectives -------------------------------------------------------------------------


def all_of(truths: Iterable[Truth]) -> Truth:
    """AND: false if one is false, else unknown if one is unknown, else true."""
    seen = list(truths)
    return False if False in seen else None if None in seen else True


def any_of(truths: Iterable[Truth]) -> Truth:
    """OR: true if one is true, else unknown if one is unknown, else false."""
    seen = list(truths)
    return True if True in seen else None if None in seen else False


def one_of_two(truths: Iterable[Truth]) -> Truth:
    """XOR of two, and parity of more: unknown if one is unknown."""
    seen = list(truths)
    return None if None in seen else seen.count(True) % 2 == 1


def at_least(k: int, truths: Iterable[Truth]) -> Truth:
    """AT LEAST k OF: unknown if it depends on operands that are unknown."""
    seen = list(truths)
    if seen.count(True) >= k:
        return True
    return None if seen.count(True) + seen.count(None) >= k else False


def negation(truth: Truth) -> Truth:
    """NOT."""
    return None if truth is None else not truth


_TRUTH: dict[type, Callable[..., Truth]] = {
    Comparison: _comparison,
    Between: _between,
    In: _in,
    Like: _like,
    RLike: _rlike,
    StringTest: _string_test,
    ArrayContains: _array_contains,
    IsNull: _is_null,
    Attribute: lambda e, event: as_truth(look_up(e.path, event)),
    Literal: lambda e, event: as_truth(e.value),
    Custom: lambda e, event: as_truth(value_of(e, event)),
    And: lambda e, event: all_of(evaluate(o, event) for o in e.operands),
    Or: lambda e, event: any_of(evaluate(o, event) for o in e.operands),
    Xor: lambda e, event: one_of_two(evaluate(o, event) for o in e.operands),
    Not: lambda e, event: negation(evaluate(e.operand, event)),
    AtLeast: lambda e, event: at_least(e.k, (evaluate(o, event) for o in e.operands)),
}


# -- arithmetic: what cannot be computed is NULL; nothing raises ----------------------------------


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _int_or_null(result: int) -> int | None:
    return result if INT_MIN <= result <= INT_MAX else None


def apply(op: str, left: Value, right: Value) -> Value:
    """Compute `left op right`, arithmetic on two values."""
    if not (_is_number(left) and _is_number(right)):
        return None
    assert isinstance(left, int | float) and isinstance(right, int | float)
    if op in "/%" and right == 0:
        return None
    if op != "/" and isinstance(left, int) and isinstance(right, int):
        return _int_or_null(_INTEGERS[op](left, right))
    return _FLOATS[op](float(left), float(right))


def _remainder(left: int, right: int) -> int:
    # The result has the sign of the left operand, as in Java and C; Python's % takes the right one.
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _float_remainder(left: float, right: float) -> float:
    return math.nan if math.isinf(left) else math.fmod(left, right)


_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "%": _remainder,
}
_FLOATS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": _float_remainder,
}


def _negate(e: Negate, event: Event) -> Value:
    value = value_of(e.operand, event)
    if isinstance(value, float):
        return -value
    return apply("-", 0, value)


def absolute(value: Value) -> Value:
    """`abs`."""
    if not _is_number(value):
        return None
    assert isinstance(value, int | float)
    return abs(value) if isinstance(value, float) else _int_or_null(abs(value))


def total(values: list[Value]) -> Value:
    """`SUM` of the values that are not NULL, from left to right."""
    present = [v for v in values if v is not None]
    if not present or not all(_is_number(v) for v in present):
        return None
    result: Value = present[0]
    for value in present[1:]:
        result = apply("+", result, value)
    return result


def average(values: list[Value]) -> Value:
    """`AVG` of the values that are not NULL, as DBL."""
    present = [v for v in values if v is not None]
    if not present or not all(_is_number(v) for v in present):
        return None
    result = 0.0
    for value in present:
        result += float(value)  # type: ignore[arg-type]
    return result / len(present)


def extreme(sign: int, values: list[Value]) -> Value:
    """`least` (sign -1) or `greatest` (+1) of the values that are not NULL; of equals the first."""
    present = [v for v in values if v is not None]
    if not present:
        return None
    # Lists and objects have no order: compare() of one with itself is None.
    best = present[0] if compare(present[0], present[0]) is not None else None
    for value in present[1:]:
        order = compare(value, best)
        if order is None:
            return None
        if order * sign > 0:
            best = value
    return best


_FUNCTIONS: dict[str, Callable[[list[Value]], Value]] = {
    "abs": lambda values: absolute(values[0]),
    "least": lambda values: extreme(-1, values),
    "greatest": lambda values: extreme(1, values),
    "sum": total,
    "avg": average,
}


# -- functions of the caller ----------------------------------------------------------------------


def _custom(e: Custom, event: Event) -> Value:
    arguments = [value_of(argument, event) for argument in e.arguments]
    if any(argument is None or argument is OPAQUE for argument in arguments):
        return None
    # -0.0 becomes 0.0: the two are equal, so trees that differ only in them are equal, and one may
    # be used for the other.
    given = tuple([a + 0.0 if isinstance(a, float) else a for a in arguments])
    try:
        result = e.function(*given)
    except Exception as error:
        raise FunctionError(e.name, given, f"raised {type(error).__name__}: {error}") from error
    try:
        return to_value(result)
    except Exception as error:
        raise FunctionError(e.name, given, f"returned an unsupported value: {error}") from error


_VALUE: dict[type, Callable[..., Value]] = {
    Attribute: lambda e, event: look_up(e.path, event),
    Literal: lambda e, event: e.value,
    Arithmetic: lambda e, event: apply(e.op, value_of(e.left, event), value_of(e.right, event)),
    Negate: _negate,
    Call: lambda e, event: _FUNCTIONS[e.function]([value_of(a, event) for a in e.arguments]),
    Custom: _custom,
}
