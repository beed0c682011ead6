"""Covering: does every event that satisfies one selector satisfy another?

The relation by which posets of subscriptions are ordered and by which routers keep subscriptions to
themselves (DEBS 2008, §3): *s covers t* if s is true of every event that t is true of. To say no
where the answer is yes costs time or traffic; to say yes where it is no loses events. So what is
hard to decide is not covered.

Both are brought into a normal form first: conjunctions, of which one must hold, each of
*constraints* (`constraint.py`), one per term. A conjunction covers another one if each of its
constraints covers the other's on the same term, and a selector covers another one if for each of
the other's conjunctions one of its own covers it. So the relation is reflexive and transitive
whatever is in the selectors; and exact between two tests of one attribute with constants, as long
as they are comparisons, ranges, sets, prefixes or tests for NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from tamis.covering.constraint import EVERYTHING, NOTHING, Constraint, constraint_of
from tamis.language.disjuncts import disjuncts
from tamis.language.expr import STRUCTURE, And, BoolExpr, Not, Selector, Sequence, ValueExpr
from tamis.language.rewrite import rewrite

# More conjunctions than that are not taken apart: what cannot be told is not covered.
MOST: Final = 64


class ConjunctiveFilter(NamedTuple):
    """A conjunction of constraints, one per term.

    Attributes:
        terms: What is asked of each term; terms of which anything will do are left out.
        others: What looks at several terms, or is too large to take apart: known by its text only.
    """

    terms: Mapping[ValueExpr, Constraint]
    others: frozenset[BoolExpr] = frozenset()

    def covers(self, other: ConjunctiveFilter) -> bool:
        """Whether all events that satisfy the other satisfy this one."""
        if len(self.terms) > len(other.terms):
            return False
        for term, constraint in self.terms.items():
            theirs = other.terms.get(term)
            if theirs is None or not constraint.covers(theirs):
                return False
        return self.others <= other.others

    def __hash__(self) -> int:
        """By content; the order of the terms is none."""
        return hash((frozenset(self.terms.items()), self.others))


ANYTHING: Final = ConjunctiveFilter({})


class Coverage(NamedTuple):
    """What a selector is true of, in the form that covering goes by.

    Attributes:
        filters: The conjunctions of which one must hold; none if no event satisfies it.
        sequence: The selector itself if it is a sequence, which only an equal one covers.
    """

    filters: tuple[ConjunctiveFilter, ...]
    sequence: Sequence | None = None

    def covers(self, other: Coverage) -> bool:
        """Whether all events that satisfy the other satisfy this one; False if it is hard to tell.

        Only what is of the same semantics can be compared: for `strict` make it of
        `Subscription.condition`, which has the tests that it adds.
        """
        if self.sequence is not None or other.sequence is not None:
            return self.sequence == other.sequence
        return all(any(mine.covers(theirs) for mine in self.filters) for theirs in other.filters)


def coverage_of(selector: Selector) -> Coverage:
    """The normal form of a selector: made once, it can be compared with many."""
    if isinstance(selector, Sequence):
        return Coverage((), rewrite(selector))  # type: ignore[arg-type]
    expr = rewrite(selector)
    assert not isinstance(expr, Sequence)
    found = disjuncts(expr, MOST)
    if found is None:
        operands = expr.operands if isinstance(expr, And) else (expr,)
        filters = [conjunction(operands)]
    else:
        filters = [conjunction(each) for each in found]
    return Coverage(_merge_filters(each for each in filters if each is not None))


def covers(general: Selector, special: Selector) -> bool:
    """Whether every event that satisfies `special` satisfies `general`.

    False if it is not so, and also if it is hard to tell.

    >>> from tamis.language import parse
    >>> covers(parse("x > 5"), parse("x > 15 AND y > 0"))
    True
    >>> covers(parse("x > 5.5 OR s LIKE '%a%'"), parse("x IN (6, 7) OR startswith(s, 'ba')"))
    True
    >>> covers(parse("x <> 1"), parse("x IS NOT NULL"))
    False
    """
    return coverage_of(general).covers(coverage_of(special))


def conjunction(operands: Iterable[BoolExpr]) -> ConjunctiveFilter | None:
    """Predicates, or NOT of them, all of which must hold; None if they cannot.

    What is neither is kept as it is.
    """
    terms: dict[ValueExpr, Constraint] = {}
    others: set[BoolExpr] = set()
    for operand in operands:
        structured = operand.operand if isinstance(operand, Not) else operand
        asked = None if isinstance(structured, STRUCTURE) else constraint_of(operand)  # type: ignore[arg-type]
        if asked is None:
            others.add(operand)
            continue
        term, constraint = asked
        if term is not None:
            before = terms.get(term)
            constraint = constraint if before is None else before.intersection(constraint)
            terms[term] = constraint
        if constraint.is_empty:
            return None
    kept = {term: asked for term, asked in terms.items() if not asked.is_all}
    return ConjunctiveFilter(kept, frozenset(others))


def _merge_filters(filters: Iterable[ConjunctiveFilter]) -> tuple[ConjunctiveFilter, ...]:
    """One filter for all that ask one thing of one term: together they may cover more."""
    unions: dict[ValueExpr, Constraint] = {}
    rest: list[ConjunctiveFilter] = []
    for each in filters:
        if each == ANYTHING:
            return (ANYTHING,)
        if len(each.terms) == 1 and not each.others:
            ((term, constraint),) = each.terms.items()
            if not constraint.tests:
                unions[term] = unions.get(term, NOTHING).union(constraint)
                continue
        rest.append(each)
    if EVERYTHING in unions.values():
        return (ANYTHING,)
    return (*(ConjunctiveFilter({term: asked}) for term, asked in unions.items()), *rest)
