"""A canonical orientation: `5 < a` becomes `a > 5`, and `b = a` becomes `a = b`.

`b + a` becomes `a + b`: addition and multiplication commute, in IEEE 754 and for checked integers.
"""

from __future__ import annotations

from tamis.language.expr import (
    Arithmetic,
    ArrayContains,
    Attribute,
    Between,
    BoolExpr,
    Call,
    Comparison,
    Custom,
    In,
    IsNull,
    Literal,
    Negate,
    ValueExpr,
    map_structure,
)
from tamis.language.printer import to_text

_MIRRORED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def orient_comparisons(expr: BoolExpr) -> BoolExpr:
    """Move literals to the right, and sort other operands by their text."""
    if isinstance(expr, Comparison):
        return _comparison(expr)
    if isinstance(expr, (Between, In, IsNull)):
        return _operand(expr)
    if isinstance(expr, Custom):
        return _value(expr)  # type: ignore[return-value]
    if isinstance(expr, ArrayContains):
        array, item = _value(expr.array), _value(expr.item)
        if array is expr.array and item is expr.item:
            return expr
        return ArrayContains(array, item, start=expr.start, end=expr.end)
    return map_structure(expr, orient_comparisons)


def _comparison(expr: Comparison) -> Comparison:
    left, right = expr.left, expr.right
    if type(left) is Attribute and type(right) is Literal:
        return expr
    left, right = _value(left), _value(right)
    if _rank(left) > _rank(right):
        op = _MIRRORED[expr.op]
        return Comparison(op, right, left, start=expr.start, end=expr.end)
    if left is expr.left and right is expr.right:
        return expr
    return Comparison(expr.op, left, right, start=expr.start, end=expr.end)


def _operand(expr: Between | In | IsNull) -> BoolExpr:
    operand = _value(expr.operand)
    at = {"start": expr.start, "end": expr.end}
    if isinstance(expr, Between):
        low, high = _value(expr.low), _value(expr.high)
        if operand is expr.operand and low is expr.low and high is expr.high:
            return expr
        return Between(operand, low, high, **at)
    if operand is expr.operand:
        return expr
    return In(operand, expr.items, **at) if isinstance(expr, In) else IsNull(operand, **at)


def _rank(value: ValueExpr) -> tuple[bool, str]:
    return type(value) is Literal, to_text(value)


def _value(expr: ValueExpr) -> ValueExpr:
    if isinstance(expr, Arithmetic):
        left, right = _value(expr.left), _value(expr.right)
        if expr.op in "+*" and _rank(left) > _rank(right):
            left, right = right, left
        if left is expr.left and right is expr.right:
            return expr
        return Arithmetic(expr.op, left, right, start=expr.start, end=expr.end)
    if isinstance(expr, Negate):
        operand = _value(expr.operand)
        if operand is expr.operand:
            return expr
        return Negate(operand, start=expr.start, end=expr.end)
    if isinstance(expr, (Call, Custom)):
        arguments = tuple(_value(argument) for argument in expr.arguments)
        if all(new is old for new, old in zip(arguments, expr.arguments, strict=True)):
            return expr
        at = {"start": expr.start, "end": expr.end}
        if isinstance(expr, Custom):
            return Custom(expr.name, expr.function, arguments, **at)
        return Call(expr.function, arguments, **at)
    return expr
