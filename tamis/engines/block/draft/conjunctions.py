"""Plain selectors: conjunctions that compare attributes with literals."""

from __future__ import annotations

from tamis.kernels.block.axis_kinds import INSTANT, NUMBER, TEXT, TRUTH
from tamis.language.expr import And, Attribute, Between, BoolExpr, Comparison, Literal
from tamis.values import Timestamp

# The kind of axis of a literal.
KIND_OF: dict[type, int] = {int: NUMBER, str: TEXT, bool: TRUTH, Timestamp: INSTANT, float: NUMBER}


def plain_tests(expr: BoolExpr) -> tuple[Comparison | Between, ...] | None:
    """Return the tests of a conjunction that compares different attributes with literals.

    Most selectors are of this form. The rewriter cannot simplify them, and `strict` adds nothing:
    every attribute that they name is tested.

    Returns:
        The tests, or None if the expression is of another form.
    """
    operands = expr.operands if isinstance(expr, And) else (expr,)
    tested = set()
    for operand in operands:
        if type(operand) is Comparison:
            attribute, constant = operand.left, operand.right
            if (
                type(attribute) is not Attribute
                or type(constant) is not Literal
                or type(constant.value) not in KIND_OF
                or constant.value != constant.value
            ):
                return None
        elif type(operand) is Between:
            attribute = operand.operand
            if type(attribute) is not Attribute or not _is_range(operand):
                return None
        else:
            return None
        tested.add(attribute.path)
    return operands if len(tested) == len(operands) else None  # type: ignore[return-value]


def _is_range(between: Between) -> bool:
    low, high = between.low, between.high
    if type(low) is not Literal or type(high) is not Literal:
        return False
    first, last = low.value, high.value
    if type(first) not in KIND_OF or KIND_OF.get(type(last)) != KIND_OF[type(first)]:
        return False
    return bool(first <= last)  # type: ignore[operator]
