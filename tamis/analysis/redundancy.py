"""Parts of a selector that can be dropped without changing it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tamis.analysis.reasoner import Study
from tamis.analysis.space import DiagramTooLarge
from tamis.language.expr import (
    JUNCTION,
    STRUCTURE,
    And,
    AtLeast,
    BoolExpr,
    Not,
    Or,
    children,
    map_structure,
    predicates,
    with_operands,
)

# Selectors with more tests are not simplified: the time is quadratic.
_TESTS = 64


class Simplification(NamedTuple):
    """A selector without its redundant parts.

    Attributes:
        selector: The simplified selector, which has the same meaning.
        dropped: The parts that were dropped, in the order of the text.
    """

    selector: BoolExpr
    dropped: list[BoolExpr]


def simplify(selector: BoolExpr, study: Study) -> Simplification | None:
    """Drop redundant parts, the last ones first; None if there are none.

    Each part is dropped only if the selector without it, and without the parts dropped before, is
    proved equivalent. So of `a = 1 AND a = 1` one part is dropped, not both.
    """
    if sum(1 for _ in predicates(selector)) > _TESTS:
        return None
    try:
        left, dropped = selector, []
        for part in _parts(selector):
            without = _drop_part(left, part)
            if without is not None and study.is_same(without):
                left = without
                dropped.append(part)
    except DiagramTooLarge:
        return None
    return Simplification(left, dropped[::-1]) if dropped else None


def conflict(selector: BoolExpr, study: Study) -> list[BoolExpr]:
    """Return parts of a selector that suffice for it never to match, or else the whole."""
    if not isinstance(selector, And):
        return [selector]
    left = list(selector.operands)
    try:
        for part in selector.operands:
            rest = [other for other in left if other is not part]
            if rest and study.is_dead(rest[0] if len(rest) == 1 else And(tuple(rest))):
                left = rest
    except DiagramTooLarge:
        pass
    return left


def _parts(expr: BoolExpr) -> Iterator[BoolExpr]:
    """Yield the operands of AND, OR and AT LEAST, the last first, each before its own operands."""
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, (And, Or, AtLeast)):
            yield from reversed(current.operands)
        if isinstance(current, STRUCTURE):
            pending.extend(children(current))  # type: ignore[arg-type]


def _drop_part(expr: BoolExpr, part: BoolExpr) -> BoolExpr | None:
    """Return the selector without a part, found by identity; None if absent or not removable."""
    if isinstance(expr, JUNCTION) and any(operand is part for operand in expr.operands):
        rest = tuple(operand for operand in expr.operands if operand is not part)
        if isinstance(expr, AtLeast):
            return None if len(rest) < expr.k else with_operands(expr, rest)
        return rest[0] if len(rest) == 1 else with_operands(expr, rest)
    if isinstance(expr, (*JUNCTION, Not)):
        changed = map_structure(expr, lambda operand: _drop_part(operand, part) or operand)
        return None if changed is expr else changed
    return None
