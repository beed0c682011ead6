"""From a selector to a CUDD function, exact in three-valued logic.

An expression has two rails: where it is certainly true, and where it is certainly false. With NOT
at the predicates, a rail of AND, OR and k-of-n needs one rail of each operand; XOR needs both.
Every rail is built once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tamis.errors import UnsupportedExpression
from tamis.language.expr import And, AtLeast, BoolExpr, Literal, Not, Or, Predicate, Xor
from tamis.language.rewrite.negation import push_not_down

# A diagram can be exponentially larger than its selector: without a limit the engine would sooner
# or later stall. The largest of the paper's queries has some hundred nodes.
MAX_NODES = 100_000
_MAX_UNCHECKED_LEAVES = 12  # leaves: with at most this many, a diagram cannot be too large
# Parts with more nodes than this are simplified before they are combined with others. Suppose that
# there are 80 cases and an attribute selects one: a diagram that does not know that they exclude
# each other has 2 ** 80 nodes.
_SIMPLIFY_ABOVE = 1000

Rails = tuple[Any, Any]


class Formula:
    """Builds the function of one selector whose NOTs have been pushed down."""

    def __init__(
        self,
        library: Any,
        variable: Callable[[Predicate | Not], Any],
        simplify: Callable[[Any], Any],
    ) -> None:
        """Create a builder for one selector.

        Args:
            library: CUDD's manager.
            variable: Returns the function of a leaf's variable.
            simplify: Returns a function that equals the given one for all events and may be
                smaller.
        """
        self._library = library
        self._variable = variable
        self._simplify = simplify
        self._rails: dict[tuple[BoolExpr, bool], Any] = {}
        self._leaves = 0

    def function(self, condition: BoolExpr) -> Any:
        """Return the function that is true where a selector is certainly true.

        Raises:
            UnsupportedExpression: Its diagram is too large.
        """
        return self._rail(condition, True)

    def _rail(self, expr: BoolExpr, wanted: bool) -> Any:
        kind = type(expr)
        if kind is And or kind is Or:
            parts = [self._rail(operand, wanted) for operand in expr.operands]  # type: ignore[union-attr]
            return self._join(parts, (kind is And) is wanted)
        if isinstance(expr, Xor):
            return self._parity(expr)[0 if wanted else 1]
        if isinstance(expr, AtLeast):
            parts = [self._rail(operand, wanted) for operand in expr.operands]
            return self._at_least(parts, expr.k if wanted else len(parts) - expr.k + 1)
        self._leaves += 1
        if isinstance(expr, Literal):
            return self._library.true if expr.value is wanted else self._library.false
        return self._variable(expr if wanted else push_not_down(Not(expr)))  # type: ignore[arg-type]

    def _join(self, parts: list[Any], conjoined: bool) -> Any:
        """Combine parts with AND or OR by halves: one by one, a long list is walked repeatedly."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=False)
            halves = [self._check_size(a & b if conjoined else a | b) for a, b in pairs]
            parts = halves + parts[len(parts) & ~1 :]
        return parts[0]

    def _parity(self, expr: Xor) -> Rails:
        key = (expr, True)
        if key not in self._rails:
            rails = [(self._rail(o, True), self._rail(o, False)) for o in expr.operands]
            true, false = rails[0]
            for right, wrong in rails[1:]:
                true, false = (
                    self._check_size((true & wrong) | (false & right)),
                    self._check_size((true & right) | (false & wrong)),
                )
            self._rails[key] = true, false
        result: Rails = self._rails[key]
        return result

    def _at_least(self, parts: list[Any], k: int) -> Any:
        """Return at least k of the parts, by dynamic programming over the number of true parts."""
        if k * (len(parts) - k + 1) > MAX_NODES:
            raise UnsupportedExpression(f"AT LEAST {k:,} OF {len(parts):,}", "bdd")
        counts = [self._library.true, *[self._library.false] * k]
        # From the bottom of the order, so that each part is above those before it.
        for part in sorted(parts, key=lambda part: -part.level):
            for count in range(k, 0, -1):
                counts[count] = counts[count] | (part & counts[count - 1])
            self._check_size(counts[k])
        return counts[k]

    def _check_size(self, function: Any) -> Any:
        if self._leaves <= _MAX_UNCHECKED_LEAVES:
            return function
        nodes = function.dag_size
        if nodes > _SIMPLIFY_ABOVE:
            function = self._simplify(function)
            nodes = function.dag_size
        if nodes > MAX_NODES:
            raise UnsupportedExpression(
                f"a selector whose diagram has more than {MAX_NODES:,} nodes", "bdd"
            )
        return function
