"""A canonical order of operands, so that `b AND a` and `a AND b` become the same node.

The A-Tree's rearrangement considers contiguous parts of a chain only (thesis §3.6.2). In a
canonical order, common subsets of two chains are closer together.
"""

from __future__ import annotations

from operator import is_

from tamis.language.expr import JUNCTION, BoolExpr, map_structure, with_operands
from tamis.language.printer import to_text


def sort_operands(expr: BoolExpr) -> BoolExpr:
    """Sort the operands of every junction by their text; all junctions are commutative."""
    expr = map_structure(expr, sort_operands)
    if not isinstance(expr, JUNCTION):
        return expr
    operands = sorted(expr.operands, key=to_text)
    if all(map(is_, operands, expr.operands)):
        return expr
    return with_operands(expr, tuple(operands))
