"""The static types of value expressions in SQL, derived from the columns."""

from __future__ import annotations

from tamis.language.expr import Arithmetic, Attribute, Literal, Negate, ValueExpr
from tamis.values import Type
from tests.oracles.columns import COLUMNS


def static_type(expr: ValueExpr) -> Type | None:
    """Return the static type of a value expression in SQL; None for the literal NULL."""
    if isinstance(expr, Attribute):
        return COLUMNS[expr.path].type if expr.path in COLUMNS else Type.OPAQUE
    if isinstance(expr, Literal):
        return expr.type
    if isinstance(expr, Negate):
        return static_type(expr.operand) or Type.INT
    if isinstance(expr, Arithmetic):
        parts = (expr.left, expr.right)
        return Type.DBL if expr.op == "/" else common_type(parts) or Type.INT
    if expr.function == "avg":
        return Type.DBL
    found = common_type(expr.arguments)
    return found or Type.INT if expr.function in ("abs", "sum") else found


def common_type(exprs: tuple[ValueExpr, ...]) -> Type | None:
    """Return the common type of several values: DBL if one of the numbers is."""
    kinds = {static_type(e) for e in exprs} - {None}
    if Type.DBL in kinds:
        return Type.DBL
    return next(iter(kinds), None)
