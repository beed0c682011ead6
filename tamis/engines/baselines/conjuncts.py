"""The conjuncts of a selector, for the engines that support conjunctions only."""

from __future__ import annotations

from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.language.expr import STRUCTURE, And, AtLeast, Not, Or, Predicate, Sequence, Xor

Leaf = Predicate | Not

_NAMES: dict[type, str] = {Or: "OR", Xor: "XOR", AtLeast: "AT LEAST … OF"}
_HINT = "it supports conjunctions only; the engines block and atree support all selectors"


def conjuncts(subscription: Subscription, engine: str) -> tuple[Leaf, ...]:
    """Return the predicates, or negated predicates, that must all hold.

    Raises:
        UnsupportedExpression: The selector is not equivalent to a conjunction.
    """
    condition = subscription.condition
    if isinstance(condition, Sequence):
        raise UnsupportedExpression("a sequence (FIRST … THEN …)", engine)
    operands = condition.operands if isinstance(condition, And) else (condition,)
    for operand in operands:
        inner = operand.operand if isinstance(operand, Not) else operand
        if isinstance(inner, STRUCTURE):
            raise UnsupportedExpression(_NAMES[type(inner)], engine, _HINT)
    return operands  # type: ignore[return-value]
