"""Constant folding: compute what does not depend on the event.

Calls of the caller's functions stay, even on constants: functions are called only to match events.
"""

from __future__ import annotations

import math

from tamis.language.evaluate import evaluate, value_of
from tamis.language.expr import (
    STRUCTURE,
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
    Predicate,
    RLike,
    StringTest,
    ValueExpr,
    Xor,
    children,
    map_structure,
)

_TRUE, _FALSE, _NULL = (Literal.of(truth) for truth in (True, False, None))


def fold_constants(expr: BoolExpr) -> BoolExpr:
    """Replace expressions that are the same for every event by their value."""
    if not isinstance(expr, STRUCTURE):
        return _predicate(expr)
    expr = map_structure(expr, fold_constants)
    if isinstance(expr, Not):
        return _not(expr)
    if isinstance(expr, AtLeast):
        return _at_least(expr)
    if not any(type(o) is Literal for o in expr.operands):  # type: ignore[union-attr]
        return expr
    if isinstance(expr, And):
        return _junction(expr, neutral=_TRUE, decisive=_FALSE)
    if isinstance(expr, Or):
        return _junction(expr, neutral=_FALSE, decisive=_TRUE)
    assert isinstance(expr, Xor)
    return _xor(expr)


def _predicate(expr: Predicate) -> BoolExpr:
    if isinstance(expr, (Literal, Attribute)):
        return expr
    if isinstance(expr, Custom):
        return _value(expr)  # type: ignore[return-value]
    if isinstance(expr, Comparison) and type(expr.left) is Attribute:
        # The form of most tests: nothing to compute, unless the other side is NULL.
        right = _value(expr.right)
        if type(right) is Literal and right.value is None:
            return _NULL
        if right is expr.right:
            return expr
        return Comparison(expr.op, expr.left, right, start=expr.start, end=expr.end)
    expr = _with_folded_values(expr)
    if all(type(part) is Literal for part in children(expr)):
        return Literal.of(evaluate(expr, {}))
    if isinstance(expr, Comparison) and _NULL in (expr.left, expr.right):
        return _NULL
    if isinstance(expr, In) and all(item.value is None for item in expr.items):
        return _NULL
    return expr


def _with_folded_values(expr: Predicate) -> Predicate:
    parts = children(expr)
    folded = [_value(part) for part in parts]  # type: ignore[arg-type]
    if all(new is old for new, old in zip(folded, parts, strict=True)):
        return expr
    at = {"start": expr.start, "end": expr.end}
    match expr:
        case Comparison():
            return Comparison(expr.op, folded[0], folded[1], **at)
        case Between():
            return Between(folded[0], folded[1], folded[2], **at)
        case In():
            return In(folded[0], expr.items, **at)
        case Like():
            return Like(folded[0], expr.pattern, expr.escape, expr.ignore_case, **at)
        case RLike():
            return RLike(folded[0], expr.pattern, **at)
        case StringTest():
            return StringTest(expr.function, folded[0], folded[1], **at)
        case ArrayContains():
            return ArrayContains(folded[0], folded[1], **at)
        case IsNull():
            return IsNull(folded[0], **at)
    return expr


def _value(expr: ValueExpr) -> ValueExpr:
    if isinstance(expr, (Attribute, Literal)):
        return expr
    at = {"start": expr.start, "end": expr.end}
    folded: ValueExpr = expr
    parts = children(expr)
    inner = [_value(part) for part in parts]  # type: ignore[arg-type]
    if not all(new is old for new, old in zip(inner, parts, strict=True)):
        if isinstance(expr, Arithmetic):
            folded = Arithmetic(expr.op, inner[0], inner[1], **at)
        elif isinstance(expr, Negate):
            folded = Negate(inner[0], **at)
        elif isinstance(expr, Custom):
            folded = Custom(expr.name, expr.function, tuple(inner), **at)
        else:
            folded = Call(expr.function, tuple(inner), **at)
    if isinstance(folded, Custom):
        return folded
    if isinstance(folded, (Arithmetic, Negate)) and any(part == _NULL for part in inner):
        return Literal(None, None, **at)
    if all(type(part) is Literal for part in inner):
        value = value_of(folded, {})
        # NaN and infinity have no literal, so an expression with such a value stays.
        if not (isinstance(value, float) and not math.isfinite(value)):
            literal = Literal.of(value)  # type: ignore[arg-type]
            return Literal(literal.value, literal.type, **at)
    return folded


def _not(expr: Not) -> BoolExpr:
    if type(expr.operand) is Literal:
        return Literal.of(evaluate(expr, {}))
    return expr


def _junction(expr: And | Or, neutral: Literal, decisive: Literal) -> BoolExpr:
    if decisive in expr.operands:
        return decisive
    kept = tuple(operand for operand in expr.operands if operand != neutral)
    if len(kept) == len(expr.operands):
        return expr  # its constants are NULL, which neither decide nor drop out
    if not kept:
        return neutral
    return kept[0] if len(kept) == 1 else type(expr)(kept, start=expr.start, end=expr.end)


def _xor(expr: Xor) -> BoolExpr:
    if _NULL in expr.operands:
        return _NULL
    kept = tuple(operand for operand in expr.operands if type(operand) is not Literal)
    flip = expr.operands.count(_TRUE) % 2 == 1
    if not kept:
        return _TRUE if flip else _FALSE
    at = {"start": expr.start, "end": expr.end}
    rest = kept[0] if len(kept) == 1 else Xor(kept, **at)
    return Not(rest, **at) if flip else rest


def _at_least(expr: AtLeast) -> BoolExpr:
    k = expr.k - expr.operands.count(_TRUE)
    kept = tuple(operand for operand in expr.operands if operand not in (_TRUE, _FALSE))
    at = {"start": expr.start, "end": expr.end}
    if k <= 0:
        return _TRUE
    if k > len(kept):
        return _FALSE
    if len(kept) == 1:
        return kept[0]
    if k == len(kept):
        return And(kept, **at)
    if k == 1:
        return Or(kept, **at)
    return expr if len(kept) == len(expr.operands) else AtLeast(k, kept, **at)
