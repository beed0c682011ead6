"""Push NOT down to the predicates; exact, as De Morgan's laws hold in Kleene's logic."""

from __future__ import annotations

from tamis.language.expr import (
    And,
    AtLeast,
    BoolExpr,
    Comparison,
    Not,
    Or,
    Xor,
    map_structure,
)

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def push_not_down(expr: BoolExpr) -> BoolExpr:
    """Push NOT down, so that it stays only directly above predicates other than comparisons."""
    if isinstance(expr, Not):
        pushed = _negate(expr.operand, expr)
        return expr if pushed == expr else pushed
    return map_structure(expr, push_not_down)


def _negate(expr: BoolExpr, where: Not) -> BoolExpr:
    at = {"start": where.start, "end": where.end}
    if isinstance(expr, Not):
        return push_not_down(expr.operand)
    if isinstance(expr, (And, Or)):
        other = Or if isinstance(expr, And) else And
        return other(tuple(_negate(o, where) for o in expr.operands), **at)
    if isinstance(expr, Xor):
        first, *rest = expr.operands
        kept = tuple(push_not_down(operand) for operand in rest)
        return Xor((_negate(first, where), *kept), **at)
    if isinstance(expr, AtLeast):
        # Fewer than k of n hold if and only if at least n - k + 1 fail.
        negated = tuple(_negate(o, where) for o in expr.operands)
        return AtLeast(len(negated) - expr.k + 1, negated, **at)
    if isinstance(expr, Comparison):
        return Comparison(_OPPOSITE[expr.op], expr.left, expr.right, **at)
    return Not(expr, **at)
