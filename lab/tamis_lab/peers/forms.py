"""Rewrite selectors to the forms that peers can express.

This uses two facts. With NOT at the leaves, a selector is true exactly when the same tree is true
over "this leaf is certainly true": so a language without a third truth value can express AND and
OR, if each leaf is false where its attribute is missing. And any tree of AND and OR is an OR of
ANDs, which pattern languages can express, if there are not too many.
"""

from __future__ import annotations

from tamis.errors import UnsupportedExpression
from tamis.language.expr import And, BoolExpr, Like, Literal, Or, Sequence, StringTest
from tamis.language.rewrite import RULES, rewrite
from tamis.language.rewrite.flatten import flatten
from tamis.language.rewrite.negation import push_not_down
from tamis.language.rewrite.orient import orient_comparisons

MOST_PATTERNS = 16
_LEFT_OUT = tuple(r for r in RULES if r not in (push_not_down, orient_comparisons, flatten))


def push_not_to_leaves(expr: BoolExpr) -> BoolExpr:
    """Rewrite to an equivalent with NOT only at leaves, flat chains, and constants on the right."""
    found = rewrite(expr, without=_LEFT_OUT)
    assert not isinstance(found, Sequence)
    return found


def conjunctions(expr: BoolExpr, peer: str) -> list[list[BoolExpr]]:
    """Rewrite a tree of AND and OR over leaves as an OR of ANDs.

    Raises:
        UnsupportedExpression: There would be more than MOST_PATTERNS of them.
    """
    if isinstance(expr, Or):
        found = [one for operand in expr.operands for one in conjunctions(operand, peer)]
    elif isinstance(expr, And):
        found = [[]]
        for operand in expr.operands:
            more = conjunctions(operand, peer)
            if len(found) * len(more) > MOST_PATTERNS:
                raise UnsupportedExpression(f"an OR of more than {MOST_PATTERNS} patterns", peer)
            found = [[*one, *other] for one in found for other in more]
    else:
        found = [[expr]]
    if len(found) > MOST_PATTERNS:
        raise UnsupportedExpression(f"an OR of more than {MOST_PATTERNS} patterns", peer)
    return found


def text_test(like: Like, peer: str) -> StringTest:
    """Rewrite `LIKE 'x%'`, `'%x'` or `'%x%'` as the equivalent string test.

    Raises:
        UnsupportedExpression: The pattern has another form.
    """
    pattern = like.pattern
    part = pattern.strip("%")
    if like.ignore_case or not part or any(mark in part for mark in ("%", "_", like.escape)):
        raise UnsupportedExpression(f"the pattern {pattern!r}", peer)
    function = {f"{part}%": "startswith", f"%{part}": "endswith", f"%{part}%": "contains"}.get(
        pattern
    )
    if function is None:
        raise UnsupportedExpression(f"the pattern {pattern!r}", peer)
    return StringTest(function, like.operand, Literal.of(part))
