"""The disjunctive normal form of a selector: an OR of conjunctions.

It says only where the selector is *true*: if no conjunction is true, the selector may be false or
unknown. NOT is pushed to the leaves, XOR is expanded, and AT LEAST k gives a conjunction for every
choice of k operands, so a short selector may have very many conjunctions.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

from tamis.language.expr import (
    And,
    AtLeast,
    BoolExpr,
    Not,
    Or,
    Predicate,
    Xor,
)
from tamis.language.rewrite.negation import push_not_down

Leaf = Predicate | Not
Conjunction = tuple[Leaf, ...]


def disjuncts(selector: BoolExpr, most: int) -> list[Conjunction] | None:
    """Return conjunctions, one of which holds if the selector is true.

    Each is a tuple of leaves: predicates, or NOT of one. None if there are more than `most`.

    >>> from tamis.language import parse
    >>> [" AND ".join(map(str, each)) for each in disjuncts(parse("a = 1 AND (b OR c > 2)"), 10)]
    ['a = 1 AND b', 'a = 1 AND c > 2']
    >>> disjuncts(parse("(a OR b) AND (c OR d)"), 3) is None
    True
    """
    return _expand(push_not_down(selector), most)


def _expand(expr: BoolExpr, most: int) -> list[Conjunction] | None:
    if isinstance(expr, And):
        return _product(expr.operands, most)
    if isinstance(expr, Or):
        found: list[Conjunction] = []
        for operand in expr.operands:
            some = _expand(operand, most - len(found))
            if some is None:
                return None
            found += some
        return found
    if isinstance(expr, Xor):
        first, *rest = expr.operands
        other = rest[0] if len(rest) == 1 else Xor(tuple(rest))
        either = Or((And((first, Not(other))), And((Not(first), other))))
        return _expand(push_not_down(either), most) if 1 << len(rest) <= most else None
    if isinstance(expr, AtLeast):
        if comb(len(expr.operands), expr.k) > most:
            return None
        choices = combinations(expr.operands, expr.k)
        return _expand(Or(tuple(And(choice) for choice in choices)), most)
    return [(expr,)] if most > 0 else None


def _product(operands: tuple[BoolExpr, ...], most: int) -> list[Conjunction] | None:
    found: list[Conjunction] = [()]
    for operand in operands:
        some = _expand(operand, most // len(found))
        if some is None:
            return None
        found = [(*one, *other) for one in found for other in some]
        if not found:
            return []
    return found
