"""Values in the tree: arithmetic, and the comparisons of its results (thesis §4.2.1).

A value is a node like any other: shared, counted, at a level. But it cannot be suppressed, because
every event has a result there. So values are computed for a whole batch at a time, one column per
node, and only the truth of the comparisons enters the tree event by event.

Sums are not rearranged: (a + b) + c and a + (b + c) may differ in the last digit, and in what
overflows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tamis.engines.atree.plan import FunctionSpec, Plan
from tamis.events.batch import EventBatch
from tamis.kernels.atree.node_store import COMPARE, VALUE, Ints
from tamis.language.expr import (
    Arithmetic,
    Attribute,
    Comparison,
    Custom,
    Literal,
    Negate,
    Not,
    ValueExpr,
)
from tamis.language.rewrite.negation import push_not_down
from tamis.predicates.residual import residual_part
from tamis.predicates.term_values import Sheet

# The operator that combines the arguments of a function with many: the average of four is that of
# two sums of two (Figure 4.2). Such a part is not the function itself: `sum(a, b)` skips NULL in a
# way that half of `sum(a, b, c, d)` must not.
_PARTS = {"sum": "sum of", "avg": "sum of", "least": "least of", "greatest": "greatest of"}
_ARGUMENTS = "arguments"


class ValuePlanner:
    """Plans of comparisons, and the numbers of their operators."""

    def __init__(self) -> None:
        """Start without operators."""
        self._operators: dict[object, int] = {}

    def plan(self, comparison: Comparison) -> Plan:
        """Return the plan of a comparison."""
        function = FunctionSpec(COMPARE, self._code(comparison.op))
        sides = self._value(comparison.left), self._value(comparison.right)
        return Plan(function, sides, label=comparison)

    def _value(self, expr: ValueExpr) -> Plan:
        if isinstance(expr, (Attribute, Literal)):
            return Plan(VALUE, (), label=expr)
        if isinstance(expr, Arithmetic):
            return self._node(expr.op, expr, [self._value(expr.left), self._value(expr.right)])
        if isinstance(expr, Negate):
            return self._node("negate", expr, [self._value(expr.operand)])
        operator: object
        if isinstance(expr, Custom):
            part, operator = _ARGUMENTS, (expr.name, expr.function)
        else:
            part, operator = _PARTS.get(expr.function, _ARGUMENTS), expr.function
        values = [self._value(argument) for argument in expr.arguments]
        while len(values) > 2:  # by halves, so that a long list does not make a deep plan
            pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
            values = [self._node(part, part, p) if len(p) == 2 else p[0] for p in pairs]
        return self._node(operator, expr, values)

    def _node(self, operator: object, label: object, operands: list[Plan]) -> Plan:
        return Plan(FunctionSpec(VALUE, 1 + self._code(operator)), tuple(operands), label=label)

    def _code(self, operator: object) -> int:
        return self._operators.setdefault(operator, len(self._operators))


def comparisons_of(
    comparisons: Mapping[int, Comparison], batch: EventBatch
) -> tuple[NDArray[np.int64], Ints]:
    """Return which comparisons are certainly true, and which certainly false, of each event.

    Args:
        comparisons: The comparisons by node.
        batch: The events.

    Returns:
        The offset at which each event's results begin, and the results as node << 1 | (is false).
    """
    if not comparisons or not len(batch):
        return np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32)
    certain = {node << 1: comparison for node, comparison in comparisons.items()}
    for node, comparison in comparisons.items():
        certain[node << 1 | 1] = push_not_down(Not(comparison))  # type: ignore[assignment]
    table = residual_part(certain, Sheet(batch)).table
    return table.offsets, table.ids
