"""Rewriting to a common form, so that equal parts of different selectors become equal trees.

`RULES` is a tuple of small functions, one per file, applied in turn until nothing changes. The last
one sorts operands, which never enables another rule. Every rule preserves the *three-valued* truth
of every node for every event: a rule that turned unknown into false would be right at the top and
wrong under a NOT. A rule leaves alone what it cannot preserve exactly.

The `strict` semantics depends on the attributes named in the original text (ICSE 2001, §4): take
them from the selector before it is rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tamis.language.expr import (
    And,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    Literal,
    Selector,
    Sequence,
    ValueExpr,
)
from tamis.language.rewrite.duplicates import drop_duplicates
from tamis.language.rewrite.equalities import merge_equalities
from tamis.language.rewrite.flatten import flatten
from tamis.language.rewrite.fold import fold_constants
from tamis.language.rewrite.intervals import merge_ranges
from tamis.language.rewrite.negation import push_not_down
from tamis.language.rewrite.order import sort_operands
from tamis.language.rewrite.orient import orient_comparisons

__all__ = ["RULES", "rewrite"]

Rule = Callable[[BoolExpr], BoolExpr]
RULES: tuple[Rule, ...] = (
    push_not_down,
    orient_comparisons,
    fold_constants,
    flatten,
    merge_equalities,
    merge_ranges,
    drop_duplicates,
    sort_operands,
)


def rewrite(selector: Selector, without: tuple[Rule, ...] = ()) -> Selector:
    """Rewrite a selector to its common form, optionally without some of the rules."""
    rules = [rule for rule in RULES if rule not in without] if without else RULES
    if isinstance(selector, Sequence):
        steps = tuple(_apply_rules(step, rules) for step in selector.steps)
        return Sequence(
            steps, selector.within, selector.per, start=selector.start, end=selector.end
        )
    return _apply_rules(selector, rules)


def _apply_rules(expr: BoolExpr, rules: Collection[Rule]) -> BoolExpr:
    while not _is_plain(expr):
        before = expr
        for rule in rules:
            if rule is not sort_operands:
                expr = rule(expr)
        # Terminates: a rule that changes the tree makes it smaller or flatter.
        if expr is before:
            break
    return sort_operands(expr) if sort_operands in rules else expr


def _is_plain(expr: BoolExpr) -> bool:
    """Whether only the order can change: a conjunction of tests of different attributes.

    Most selectors are, and then need one rule instead of eight: 13 µs for eight tests, against 45.
    """
    operands = expr.operands if isinstance(expr, And) else (expr,)
    tested = set()
    constants: tuple[ValueExpr, ...]
    for operand in operands:
        if type(operand) is Comparison:
            attribute, constants = operand.left, (operand.right,)
        elif type(operand) is Between:
            attribute, constants = operand.operand, (operand.low, operand.high)
        else:
            return False
        if type(attribute) is not Attribute:
            return False
        for constant in constants:
            if type(constant) is not Literal or constant.value is None:
                return False
        tested.add(attribute.path)
    return len(tested) == len(operands)
