"""From a selector to a plan of nodes, for one of the filters.

A plan names predicates by number, so planning interns them. If planning fails, the caller releases
the predicates interned so far.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.engines.atree.filters import Filter
from tamis.engines.atree.plan import Operand, Plan
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.kernels.atree.node_store import AND, AT_LEAST, NAND, NOR, NOT, OR, XOR
from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    BoolExpr,
    Comparison,
    Literal,
    Not,
    Or,
    Predicate,
    Sequence,
    Xor,
)
from tamis.language.rewrite import rewrite
from tamis.language.rewrite.negation import push_not_down
from tamis.language.rewrite.order import sort_operands

MAX_COUNTED = 65_535  # operands of one k-of-n: trues and falses are counted in 16 bits each
_JUNCTIONS = {And: AND, Or: OR, Xor: XOR}
Rails = tuple[Operand, Operand]
_NEGATED = {And: NAND, Or: NOR}


class Planner:
    """Creates the plan of one subscription."""

    def __init__(
        self,
        filter: Filter,
        intern: Callable[[Predicate | Not], int],
        compare: Callable[[Comparison], Operand],
    ) -> None:
        """Create a planner for one subscription.

        Args:
            filter: Determines what becomes a node.
            intern: Returns the number of a predicate.
            compare: Returns the node of a comparison of values.
        """
        self._filter = filter
        self._intern = intern
        self._compare = compare
        self._rails: dict[tuple[BoolExpr, bool], Operand] = {}

    def plan(self, subscription: Subscription) -> Operand:
        """Return the plan of a subscription.

        Raises:
            UnsupportedExpression: It is a sequence, or has a k-of-n over too many operands.
        """
        if isinstance(subscription.selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", "atree")
        # The tree sorts operands itself, by the numbers of their nodes.
        left_out = (sort_operands, push_not_down) if self._filter.negation else (sort_operands,)
        return self._plan(rewrite(subscription.full_selector, without=left_out))  # type: ignore[arg-type]

    def _plan(self, expr: BoolExpr) -> Operand:
        kind = type(expr)
        if kind in _JUNCTIONS:
            if kind is Xor and not self._filter.xor:
                return self._rail(sort_operands(expr), True)  # pairs depend on the order
            plan = self._plan
            return Plan(_JUNCTIONS[kind], tuple([plan(o) for o in expr.operands]))  # type: ignore[union-attr]
        if isinstance(expr, AtLeast):
            return self._at_least(expr.k, [self._plan(o) for o in expr.operands])
        if self._filter.negation and isinstance(expr, Not):
            return self._negation(expr.operand)
        if self._filter.values and isinstance(expr, Comparison) and _is_computed(expr):
            return self._compare(expr)
        return self._intern(expr)  # type: ignore[arg-type]

    def _negation(self, expr: BoolExpr) -> Operand:
        if isinstance(expr, Not):
            return self._plan(expr.operand)
        if isinstance(expr, (And, Or)):
            return Plan(_NEGATED[type(expr)], tuple([self._plan(o) for o in expr.operands]))
        return Plan(NOT, (self._plan(expr),))

    # -- XOR as AND and OR ------------------------------------------------------------------------

    def _rail(self, expr: BoolExpr, wanted: bool) -> Operand:
        """Return the plan for where an expression is certainly true (or false), without XOR.

        NOT occurs only at predicates here, so a rail is an AND or OR of rails. XOR is the two ways
        in which two operands differ, which need both rails of both operands. Every rail is built
        once, so a XOR of n operands takes 6 (n - 1) nodes.
        """
        key = expr, wanted
        if key not in self._rails:
            self._rails[key] = self._build_rail(expr, wanted)
        return self._rails[key]

    def _build_rail(self, expr: BoolExpr, wanted: bool) -> Operand:
        if isinstance(expr, Xor):
            rails = [(self._rail(o, True), self._rail(o, False)) for o in expr.operands]
            while len(rails) > 1:  # by halves, so that a long XOR does not make a deep plan
                pairs = zip(rails[::2], rails[1::2], strict=False)
                rails = [_xor_rails(*pair) for pair in pairs] + rails[len(rails) & ~1 :]
            return rails[0][0 if wanted else 1]
        if isinstance(expr, (And, Or)):
            conjoined = isinstance(expr, And) is wanted
            parts = tuple([self._rail(operand, wanted) for operand in expr.operands])
            return Plan(AND if conjoined else OR, parts)
        if isinstance(expr, AtLeast):
            counted = [self._rail(operand, wanted) for operand in expr.operands]
            return self._at_least(expr.k if wanted else len(counted) - expr.k + 1, counted)
        return self._intern(expr if wanted else push_not_down(Not(expr)))  # type: ignore[arg-type]

    def _at_least(self, k: int, operands: list[Operand]) -> Operand:
        if len(operands) > MAX_COUNTED:
            raise UnsupportedExpression(f"AT LEAST k OF more than {MAX_COUNTED:,}", "atree")
        if k == 1:
            return Plan(OR, tuple(operands))
        if k == len(operands):
            return Plan(AND, tuple(operands))
        return Plan(AT_LEAST, tuple(operands), k)


def _xor_rails(one: Rails, other: Rails) -> Rails:
    """Return the rails of the XOR of two: where it is true, and where it is false."""
    (true, false), (right, wrong) = one, other
    return (
        Plan(OR, (Plan(AND, (true, wrong)), Plan(AND, (false, right)))),
        Plan(OR, (Plan(AND, (true, right)), Plan(AND, (false, wrong)))),
    )


def _is_computed(comparison: Comparison) -> bool:
    """Return whether a side must be computed, i.e. is neither an attribute nor a literal."""
    sides = comparison.left, comparison.right
    return any(not isinstance(side, Attribute | Literal) for side in sides)
