"""From a predicate to the values for which it is certainly true.

The result is exact in three-valued logic: the NOT of a predicate is true where the predicate is
*false*, which excludes the values for which it is unknown. So `NOT a BETWEEN 1 AND 'x'` is `a < 1`
or `a > 'x'`, and `a NOT IN (1, 'x')` is never true: one of the two is always unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tamis.language.evaluate import compare, evaluate, value_of
from tamis.language.expr import (
    ArrayContains,
    Attribute,
    Between,
    Comparison,
    Custom,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Predicate,
    RLike,
    StringTest,
    ValueExpr,
    is_constant,
)
from tamis.predicates.shapes import (
    Except,
    Family,
    Interval,
    Member,
    Null,
    Placement,
    Test,
    Text,
    Within,
    family_of,
)
from tamis.values import Opaque, Scalar, Value

NEVER = Placement()
ALWAYS = Placement(always=True)
RESIDUAL = Placement(residual=True)

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NAN = math.nan  # one object, so that a dict finds it


def placement(predicate: Predicate | Not) -> Placement:
    """Return how a predicate, or the NOT of one, is indexed.

    Raises:
        TypeError: It is not a predicate but a structure of several.
    """
    leaf, wanted = (predicate.operand, False) if isinstance(predicate, Not) else (predicate, True)
    place = _PLACE.get(type(leaf))
    if place is None:
        raise TypeError(f"{type(leaf).__name__} is not a predicate; rewrite the selector first")
    placed = place(leaf, wanted)
    if placed.residual and is_constant(predicate):
        return ALWAYS if evaluate(predicate, {}) is True else NEVER
    return placed


def _constant(expr: ValueExpr) -> tuple[Value] | None:
    """Return the value of an expression without attributes, in a tuple because it may be NULL.

    Not only literals are constant: infinity cannot be written, so `1e308 * 10` stays as it is. A
    user function is a term like any other, even on constants: indexing must not call it.
    """
    if isinstance(expr, Attribute):
        return None
    if isinstance(expr, Literal):
        return (_canonical_nan(expr.value),)
    return (_canonical_nan(value_of(expr, {})),) if is_constant(expr) else None


def _canonical_nan(value: Value) -> Value:
    return _NAN if isinstance(value, float) and math.isnan(value) else value


# -- comparison -----------------------------------------------------------------------------------


def _comparison(e: Comparison, wanted: bool) -> Placement:
    op = e.op if wanted else _OPPOSITE[e.op]
    right = _constant(e.right)
    if right is not None:
        return _place_comparison(op, e.left, right[0])
    left = _constant(e.left)
    return RESIDUAL if left is None else _place_comparison(_MIRRORED[op], e.right, left[0])


def _place_comparison(op: str, term: ValueExpr, constant: Value) -> Placement:
    if _constant(term) is not None:
        return RESIDUAL  # two constants: `placement` evaluates it
    return _term_placement(term, _one_sided_tests(op, constant))


def _one_sided_tests(op: str, constant: Value) -> list[Test]:
    family = family_of(constant)
    if family is None:
        return []
    assert not isinstance(constant, list | Opaque) and constant is not None
    if op == "<>":
        return [Except(family, (constant,))]
    return [Within(family, (_INTERVALS[op](constant),))]


_INTERVALS: dict[str, Callable[[Scalar], Interval]] = {
    "=": lambda c: Interval(c, True, c, True),
    "<": lambda c: Interval(None, False, c, False),
    "<=": lambda c: Interval(None, False, c, True),
    ">": lambda c: Interval(c, False, None, False),
    ">=": lambda c: Interval(c, True, None, False),
}
_ALL = Interval(None, False, None, False)


def _between(e: Between, wanted: bool) -> Placement:
    low, high = _constant(e.low), _constant(e.high)
    if low is None or high is None or _constant(e.operand) is not None:
        return RESIDUAL
    order = compare(low[0], high[0])
    if wanted:
        if order is None or order > 0:
            return NEVER
        interval = Interval(low[0], True, high[0], True)  # type: ignore[arg-type]
        return _term_placement(e.operand, [Within(_family(low[0]), (interval,))])
    below, above = _one_sided_tests("<", low[0]), _one_sided_tests(">", high[0])
    if order is None:
        return _term_placement(e.operand, below + above)
    sides = (_ALL,) if order > 0 else (_only_interval(below), _only_interval(above))
    return _term_placement(e.operand, [Within(_family(low[0]), sides)])


def _only_interval(tests: list[Test]) -> Interval:
    (test,) = tests
    assert isinstance(test, Within)
    return test.intervals[0]


def _family(value: Value) -> Family:
    family = family_of(value)
    assert family is not None
    return family


def _in(e: In, wanted: bool) -> Placement:
    if _constant(e.operand) is not None:
        return RESIDUAL
    # By family, because True equals 1 as a key. Within a family, equal keys are equal values.
    points: dict[Family, dict[Scalar, None]] = {}
    for item in e.items:
        family = family_of(item.value)
        if family is not None:
            points.setdefault(family, {})[_canonical_nan(item.value)] = None  # type: ignore[index]
        elif not wanted:
            return NEVER
    if wanted:
        return _term_placement(
            e.operand,
            [
                Within(family, tuple(Interval(c, True, c, True) for c in distinct))
                for family, distinct in points.items()
            ],
        )
    if len(points) != 1:
        return NEVER
    ((family, distinct),) = points.items()
    return _term_placement(e.operand, [Except(family, tuple(distinct))])


def _term_placement(term: ValueExpr, tests: list[Test]) -> Placement:
    return Placement(term, tuple(tests)) if tests else NEVER


# -- other predicates -----------------------------------------------------------------------------


def _pattern(e: Like | RLike, wanted: bool) -> Placement:
    if _constant(e.operand) is not None:
        return RESIDUAL
    return Placement(e.operand, (Text(e, wanted),))


def _string_test(e: StringTest, wanted: bool) -> Placement:
    text, part = _constant(e.text), _constant(e.part)
    if (text is None) == (part is None):
        return RESIDUAL
    constant = text or part
    assert constant is not None
    if not isinstance(constant[0], str):
        return NEVER
    # The test is evaluated with its constant as a literal.
    literal = Literal.of(constant[0])
    if text is None:
        return Placement(e.text, (Text(StringTest(e.function, e.text, literal), wanted),))
    return Placement(e.part, (Text(StringTest(e.function, literal, e.part), wanted),))


def _array_contains(e: ArrayContains, wanted: bool) -> Placement:
    if _constant(e.array) is not None:
        return NEVER  # there are no list literals
    item = _constant(e.item)
    if item is None:
        return RESIDUAL
    if item[0] is None or isinstance(item[0], list):
        return NEVER
    return Placement(e.array, (Member(item[0], wanted),))


def _is_null(e: IsNull, wanted: bool) -> Placement:
    if _constant(e.operand) is not None:
        return RESIDUAL
    return Placement(e.operand, (Null(wanted),))


def _bare_boolean(e: Attribute | Custom, wanted: bool) -> Placement:
    return Placement(e, (Within(Family.TRUTH, (_INTERVALS["="](wanted),)),))


_PLACE: dict[type, Callable[..., Placement]] = {
    Comparison: _comparison,
    Between: _between,
    In: _in,
    Like: _pattern,
    RLike: _pattern,
    StringTest: _string_test,
    ArrayContains: _array_contains,
    IsNull: _is_null,
    Attribute: _bare_boolean,
    Literal: lambda e, wanted: RESIDUAL,
    Custom: _bare_boolean,
}
