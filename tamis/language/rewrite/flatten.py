"""Chains become one node: `(a AND b) AND c` becomes `a AND b AND c`."""

from __future__ import annotations

from tamis.language.expr import And, BoolExpr, Or, Xor, map_structure, with_operands


def flatten(expr: BoolExpr) -> BoolExpr:
    """Merge AND into AND, OR into OR, XOR into XOR: all three are associative."""
    expr = map_structure(expr, flatten)
    if not isinstance(expr, (And, Or, Xor)):
        return expr
    kind = type(expr)
    if not any(type(operand) is kind for operand in expr.operands):
        return expr
    operands: list[BoolExpr] = []
    for operand in expr.operands:
        if isinstance(operand, (And, Or, Xor)) and type(operand) is kind:
            operands.extend(operand.operands)
        else:
            operands.append(operand)
    return with_operands(expr, tuple(operands))
