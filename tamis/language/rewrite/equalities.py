"""`a = 1 OR a = 2` becomes `a IN (1, 2)`, and `a <> 1 AND a <> 2` its negation.

This is exact for any literals, including NULL and mixed types, by the definition of IN.
"""

from __future__ import annotations

from tamis.language.expr import (
    And,
    BoolExpr,
    Comparison,
    In,
    Literal,
    Not,
    Or,
    ValueExpr,
    map_structure,
    with_operands,
)
from tamis.language.printer import literal_text


def merge_equalities(expr: BoolExpr) -> BoolExpr:
    """Merge equalities on one operand into IN; sort IN lists and drop repeated items."""
    if isinstance(expr, In):
        return _tidy_items(expr)
    if isinstance(expr, And) and _is_mergeable(expr, "<>"):
        return _merge(expr, "<>")
    if isinstance(expr, Or) and _is_mergeable(expr, "="):
        return _merge(expr, "=")
    return map_structure(expr, merge_equalities)


def _is_mergeable(expr: And | Or, op: str) -> bool:
    """Whether one operand is tested twice; only OR of `=` and AND of `<>` can be merged."""
    tested = [found[0] for o in expr.operands if (found := _items(o, op))]
    return len(set(tested)) < len(tested)


def _items(expr: BoolExpr, op: str) -> tuple[ValueExpr, tuple[Literal, ...]] | None:
    if isinstance(expr, Comparison):
        if expr.op == op and type(expr.right) is Literal:
            return expr.left, (expr.right,)
        return None
    if op == "<>":
        if not isinstance(expr, Not):
            return None
        expr = expr.operand
    return (expr.operand, expr.items) if isinstance(expr, In) else None


def _merge(expr: And | Or, op: str) -> BoolExpr:
    gathered: dict[ValueExpr, list[Literal]] = {}
    for operand in expr.operands:
        if found := _items(operand, op):
            gathered.setdefault(found[0], []).extend(found[1])
    operands: list[BoolExpr] = []
    done: set[ValueExpr] = set()
    for operand in expr.operands:
        found = _items(operand, op)
        if found is None:
            operands.append(merge_equalities(operand))
        elif found[0] not in done:
            done.add(found[0])
            merged = _tidy_items(
                In(found[0], tuple(gathered[found[0]]), start=expr.start, end=expr.end)
            )
            operands.append(_negate(merged) if op == "<>" else merged)
    return operands[0] if len(operands) == 1 else with_operands(expr, tuple(operands))


def _negate(merged: In | Comparison) -> BoolExpr:
    at = {"start": merged.start, "end": merged.end}
    if isinstance(merged, Comparison):
        return Comparison("<>", merged.left, merged.right, **at)
    return Not(merged, **at)


def _tidy_items(expr: In) -> In | Comparison:
    # By value, not by node: 1 and 1.0 are two literals but one value.
    distinct = {(_family(item), item.value): item for item in reversed(expr.items)}
    items = sorted(distinct.values(), key=_order)
    if len(items) == 1:
        return Comparison("=", expr.operand, items[0], start=expr.start, end=expr.end)
    if all(new is old for new, old in zip(items, expr.items, strict=False)) and len(items) == len(
        expr.items
    ):
        return expr
    return In(expr.operand, tuple(items), start=expr.start, end=expr.end)


def _family(item: Literal) -> str:
    if item.type is None:
        return ""
    return "number" if item.type.value in ("INT", "DBL") else item.type.value


def _order(item: Literal) -> tuple[str, object, str]:
    family = _family(item)
    value = item.value
    return family, (value if value is not None else 0), literal_text(value)
