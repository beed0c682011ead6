"""Selectors brought to a common form, so that equal parts of different selectors are found equal.

`RULES` is a tuple of small functions, one per file, applied in turn until nothing changes; the last
puts things into order, which gives the others nothing to do. Every rule keeps the *three-valued*
truth of every node, for every event: a rule that turned unknown into false would be right at the
top and wrong under a NOT. What a rule cannot keep exactly, it leaves.

The `strict` semantics goes by the attributes that the original text names (ICSE 2001, §4): take
them from the selector before it is rewritten.
"""

from __future__ import annotations

from tamis.language.expr import BoolExpr, Selector, Sequence
from tamis.language.rewrite.duplicates import drop_duplicates
from tamis.language.rewrite.flatten import flatten
from tamis.language.rewrite.fold import fold_constants
from tamis.language.rewrite.membership import merge_equalities
from tamis.language.rewrite.negation import push_not_down
from tamis.language.rewrite.order import sort_operands
from tamis.language.rewrite.orient import orient_comparisons
from tamis.language.rewrite.ranges import merge_ranges

__all__ = ["RULES", "rewrite"]

RULES = (
    push_not_down,
    orient_comparisons,
    fold_constants,
    flatten,
    merge_equalities,
    merge_ranges,
    drop_duplicates,
    sort_operands,
)


def rewrite(selector: Selector) -> Selector:
    """Bring a selector to its common form."""
    if isinstance(selector, Sequence):
        steps = tuple(_rewritten(step) for step in selector.steps)
        return Sequence(
            steps, selector.within, selector.per, start=selector.start, end=selector.end
        )
    return _rewritten(selector)


def _rewritten(expr: BoolExpr) -> BoolExpr:
    *merging, last = RULES
    while True:
        before = expr
        for rule in merging:
            expr = rule(expr)
        # Every rule that does something makes the tree smaller or flatter, so this ends.
        if expr is before:
            return last(expr)
