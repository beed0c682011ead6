"""`x AND x` and `x OR x` become `x`. `x XOR x` is not false: it is unknown when x is."""

from __future__ import annotations

from tamis.language.expr import And, BoolExpr, Or, map_structure, with_operands


def drop_duplicates(expr: BoolExpr) -> BoolExpr:
    """Keep one of several equal operands of AND and OR."""
    expr = map_structure(expr, drop_duplicates)
    if not isinstance(expr, (And, Or)):
        return expr
    kept = tuple(dict.fromkeys(expr.operands))
    if len(kept) == len(expr.operands):
        return expr
    return kept[0] if len(kept) == 1 else with_operands(expr, kept)
