"""Values in the tree: arithmetic, and the comparison on top of it (thesis §4.2.1).

A value is a node like any other: shared, counted, at a level. But nothing about it can be left out,
as every event has some result there; so values are computed for a whole batch at a time, a column
per node, and only the truth of the comparisons enters the tree event by event.

Sums are not rearranged: (a + b) + c and a + (b + c) may differ in the last digit, and in what
overflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import count

import numpy as np
from numpy.typing import NDArray

from tamis.engines.atree.tree import Plan, Tree
from tamis.events import EventBatch
from tamis.kernels.atree_store import COMPARE, VALUE, Ints
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
from tamis.predicates.cells import Sheet
from tamis.predicates.residual import residual_part

# Functions of many arguments, and what their first arguments are gathered by: the average of four
# is made of the sum of three and the last (Figure 4.2).
_GATHERED_BY = {"sum": "sum", "avg": "sum", "least": "least", "greatest": "greatest"}
_ARGUMENTS = "arguments"


class Values:
    """The terms and operators that an A-Tree has nodes for."""

    def __init__(self, tree: Tree) -> None:
        """Begin with none."""
        self._tree = tree
        self._terms: dict[ValueExpr, int] = {}
        self._numbers = count()
        self._operators: dict[object, int] = {}

    def plan(self, comparison: Comparison) -> Plan:
        """The plan of a comparison."""
        function = self._tree.function(COMPARE, self._code(comparison.op))
        sides = self._value(comparison.left), self._value(comparison.right)
        return Plan(function, sides, label=comparison)

    def forget(self, term: object) -> None:
        """Drop the number of a term that has no node any more."""
        del self._terms[term]  # type: ignore[arg-type]

    def __len__(self) -> int:
        """How many attributes and constants there are."""
        return len(self._terms)

    def _value(self, expr: ValueExpr) -> Plan:
        if isinstance(expr, Attribute | Literal):
            if expr not in self._terms:
                self._terms[expr] = next(self._numbers)
            return Plan(VALUE, (self._terms[expr],), label=expr)
        if isinstance(expr, Arithmetic):
            return self._node(expr.op, expr, self._value(expr.left), self._value(expr.right))
        if isinstance(expr, Negate):
            return self._node("negate", expr, self._value(expr.operand))
        operator: object
        if isinstance(expr, Custom):
            gathered, operator = _ARGUMENTS, (expr.name, expr.function)
        else:
            gathered, operator = _GATHERED_BY.get(expr.function, _ARGUMENTS), expr.function
        *first, last = [self._value(argument) for argument in expr.arguments]
        if not first:
            return self._node(operator, expr, last)
        together = reduce(lambda one, other: self._node(gathered, None, one, other), first)
        return self._node(operator, expr, together, last)

    def _node(self, operator: object, label: ValueExpr | None, *operands: Plan) -> Plan:
        function = self._tree.function(VALUE, 1 + self._code(operator))
        name = operator[0] if isinstance(operator, tuple) else operator
        return Plan(function, operands, label=label if label is not None else name)

    def _code(self, operator: object) -> int:
        return self._operators.setdefault(operator, len(self._operators))


def comparisons_of(
    comparisons: Mapping[int, Comparison], batch: EventBatch
) -> tuple[NDArray[np.int64], Ints]:
    """Which comparisons are certainly true, and which certainly false, of each event.

    Args:
        comparisons: By node.
        batch: The events.

    Returns:
        Where each event's begin, and node << 1 | (it is false).
    """
    if not comparisons or not len(batch):
        return np.zeros(len(batch) + 1, np.int64), np.zeros(0, np.int32)
    certain = {node << 1: comparison for node, comparison in comparisons.items()}
    for node, comparison in comparisons.items():
        certain[node << 1 | 1] = push_not_down(Not(comparison))  # type: ignore[assignment]
    table = residual_part(certain, Sheet(batch)).table
    return table.offsets, table.ids
