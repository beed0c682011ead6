"""The *cover* of a selector: equalities of which at least one holds whenever the selector does.

An event that satisfies none of them cannot match the subscription. Covers are like the access
predicates of the block engine, but on the level of the language, so that they can be compared
between machines that do not share an index.
"""

from __future__ import annotations

from tamis.language.expr import (
    And,
    AtLeast,
    Attribute,
    BoolExpr,
    Comparison,
    In,
    Literal,
    Node,
    Or,
)
from tamis.paths import Path
from tamis.values import Scalar

Pair = tuple[Path, Scalar]
Cover = frozenset[Pair]

# A longer cover would let most events pass anyway.
MOST = 256


def cover_of(selector: BoolExpr) -> Cover | None:
    """Return the cover with the fewest equalities; None if there is none, empty if nothing matches.

    >>> from tamis.language import parse
    >>> sorted(cover_of(parse("a = 1 AND b IN ('x', 'y') AND c > 2")))
    [(('a',), 1)]
    >>> cover_of(parse("a = 1 OR c > 2")) is None
    True
    """
    if isinstance(selector, Comparison) and selector.op == "=":
        found = _equality(selector.left, selector.right)
        return _equality(selector.right, selector.left) if found is None else found
    if isinstance(selector, In) and isinstance(selector.operand, Attribute):
        values = [item.value for item in selector.items if item.value is not None]
        return _limit_cover(frozenset((selector.operand.path, value) for value in values))
    if isinstance(selector, And):
        covers = map(cover_of, selector.operands)
        return min((cover for cover in covers if cover is not None), key=_rank, default=None)
    if isinstance(selector, Or):
        return _union([cover_of(operand) for operand in selector.operands])
    if isinstance(selector, AtLeast):
        # If k operands hold, so does one of any n - k + 1: take those with the shortest covers.
        needed = len(selector.operands) - max(selector.k, 1) + 1
        best = sorted(map(cover_of, selector.operands), key=_rank)
        return _union(best[:needed]) if selector.k >= 1 else None
    return None


def _rank(cover: Cover | None) -> tuple[int, list[str]]:
    """Return the sort key: the shortest cover first, and a fixed order among equals."""
    return (MOST + 1, []) if cover is None else (len(cover), sorted(map(repr, cover)))


def _equality(one: Node, other: Node) -> Cover | None:
    if isinstance(one, Attribute) and isinstance(other, Literal):
        return frozenset() if other.value is None else frozenset([(one.path, other.value)])
    return None


def _union(covers: list[Cover | None]) -> Cover | None:
    known = [cover for cover in covers if cover is not None]
    return _limit_cover(frozenset().union(*known)) if len(known) == len(covers) else None


def _limit_cover(cover: Cover) -> Cover | None:
    return cover if len(cover) <= MOST else None
