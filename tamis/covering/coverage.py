"""Covering: whether every event that satisfies one selector satisfies another.

Covering orders posets of subscriptions, and routers use it to withhold subscriptions from their
neighbours (DEBS 2008, §3). *s covers t* if s is true of every event that t is true of. A wrong "no"
costs time or traffic; a wrong "yes" loses events. So cases that are hard to decide count as not
covered.

Both selectors are first converted to a normal form: a disjunction of conjunctions, each of one
*constraint* (`constraint.py`) per term. A conjunction covers another one if each of its constraints
covers the other's constraint on the same term. A selector covers another one if each conjunction of
the other is covered by one of its own. So the relation is reflexive and transitive for all
selectors. It is exact between two tests of one attribute with constants, as long as they are
comparisons, ranges, sets, prefixes or tests for NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from tamis.covering.constraint import EVERYTHING, NOTHING, Constraint, constraint_of
from tamis.language.disjuncts import disjuncts
from tamis.language.expr import STRUCTURE, And, BoolExpr, Not, Selector, Sequence, ValueExpr
from tamis.language.rewrite import rewrite

# With more conjunctions the selector is not converted; what is undecided counts as not covered.
MOST: Final = 64


class ConjunctiveFilter(NamedTuple):
    """A conjunction of constraints, one per term.

    Attributes:
        terms: The constraint of each term; terms that allow every value are left out.
        others: Conditions on several terms, or too large to convert: compared by equality only.
    """

    terms: Mapping[ValueExpr, Constraint]
    others: frozenset[BoolExpr] = frozenset()

    def covers(self, other: ConjunctiveFilter) -> bool:
        """Return whether every event that satisfies the other filter satisfies this one."""
        if len(self.terms) > len(other.terms):
            return False
        for term, constraint in self.terms.items():
            theirs = other.terms.get(term)
            if theirs is None or not constraint.covers(theirs):
                return False
        return self.others <= other.others

    def __hash__(self) -> int:
        """Return a hash of the content; the order of the terms does not matter."""
        return hash((frozenset(self.terms.items()), self.others))


ANYTHING: Final = ConjunctiveFilter({})


class Coverage(NamedTuple):
    """The normal form of a selector for covering.

    Attributes:
        filters: The conjunctions of which one must hold; empty if no event satisfies the selector.
        sequence: The selector itself if it is a sequence, which only an equal one covers.
    """

    filters: tuple[ConjunctiveFilter, ...]
    sequence: Sequence | None = None

    def covers(self, other: Coverage) -> bool:
        """Return whether every event that satisfies the other satisfies this; False if undecided.

        Both must have the same semantics: for `strict`, build the coverage from
        `Subscription.condition`, which includes the tests that `strict` adds.
        """
        if self.sequence is not None or other.sequence is not None:
            return self.sequence == other.sequence
        return all(any(mine.covers(theirs) for mine in self.filters) for theirs in other.filters)


def coverage_of(selector: Selector) -> Coverage:
    """Return the normal form of a selector; build it once to compare it with many."""
    if isinstance(selector, Sequence):
        return Coverage((), rewrite(selector))  # type: ignore[arg-type]
    expr = rewrite(selector)
    assert not isinstance(expr, Sequence)
    conjunctions = disjuncts(expr, MOST)
    if conjunctions is None:
        operands = expr.operands if isinstance(expr, And) else (expr,)
        filters = [conjunction(operands)]
    else:
        filters = [conjunction(each) for each in conjunctions]
    return Coverage(_merge_filters(each for each in filters if each is not None))


def covers(general: Selector, special: Selector) -> bool:
    """Return whether every event that satisfies `special` satisfies `general`.

    The result is False if it does not, and also if that is hard to decide.

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
    """Return the filter of (negated) predicates that must all hold; None if they cannot.

    Operands of another kind are kept as they are.
    """
    terms: dict[ValueExpr, Constraint] = {}
    others: set[BoolExpr] = set()
    for operand in operands:
        structured = operand.operand if isinstance(operand, Not) else operand
        tested = None if isinstance(structured, STRUCTURE) else constraint_of(operand)  # type: ignore[arg-type]
        if tested is None:
            others.add(operand)
            continue
        term, constraint = tested
        if term is not None:
            before = terms.get(term)
            constraint = constraint if before is None else before.intersection(constraint)
            terms[term] = constraint
        if constraint.is_empty:
            return None
    restricted = {term: each for term, each in terms.items() if not each.is_all}
    return ConjunctiveFilter(restricted, frozenset(others))


def _merge_filters(filters: Iterable[ConjunctiveFilter]) -> tuple[ConjunctiveFilter, ...]:
    """Merge filters with a single constraint on the same term: their union may cover more."""
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
    return (*(ConjunctiveFilter({term: each}) for term, each in unions.items()), *rest)
