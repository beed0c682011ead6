"""A rough estimate of what a selector costs to match; the test of a number costs 1."""

from __future__ import annotations

from tamis.language.expr import (
    Arithmetic,
    AtLeast,
    Call,
    Expr,
    In,
    Like,
    RLike,
    Selector,
    Sequence,
    StringTest,
    Xor,
    predicates,
    walk,
)
from tamis.language.patterns import regex_size

# The items of an IN list are looked up together. Strings are tested once per distinct value. A step
# of a sequence has a state for each key.
_ITEMS = 16
_TEXT = 4
_REGEX = 20
_INSTRUCTIONS = 10
_STEP = 20


def cost(selector: Selector) -> int:
    """Return the cost of a selector.

    >>> from tamis.language import parse
    >>> cost(parse("a = 1 AND b > 2")), cost(parse("a RLIKE 'x+'")), cost(parse("a RLIKE 'x{900}'"))
    (2, 21, 111)
    """
    return sum(1 for _ in predicates(selector)) + sum(map(_extra_cost, walk(selector)))


def _extra_cost(expr: Expr) -> int:
    """Return what a node costs beyond the predicates below it."""
    if isinstance(expr, In):
        return len(expr.items) // _ITEMS
    if isinstance(expr, Like | StringTest):
        return _TEXT
    if isinstance(expr, RLike):
        return _REGEX + regex_size(expr.pattern) // _INSTRUCTIONS
    if isinstance(expr, Arithmetic | Call):
        return 1
    if isinstance(expr, Xor | AtLeast):
        return len(expr.operands)
    if isinstance(expr, Sequence):
        return _STEP * len(expr.steps)
    return 0
