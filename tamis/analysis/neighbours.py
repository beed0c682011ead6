"""Which subscriptions cover which: candidates from an index, then a proof for each.

An event that matches A and not B shows that B does not cover A. So two events of each A are matched
against all subscriptions at once, with the block engine. A subscription that matches both may cover
A, and a proof decides. The pairs are never enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tamis.analysis.nested_events import Event, put
from tamis.analysis.reasoner import Answer, Reasoner
from tamis.covering.regions import regions_of, term_of
from tamis.engines.block import BlockEngine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language.expr import (
    STRUCTURE,
    And,
    Attribute,
    BoolExpr,
    IsNull,
    Not,
    Or,
    Predicate,
    Selector,
    attributes,
    predicates,
)
from tamis.paths import Path
from tamis.values import OPAQUE

Progress = Callable[[str, int, float], None]
Numbers = NDArray[np.int64]

# The tightest subscriptions that an event matches are candidates, at most _CANDIDATES of them; at
# most _PROOFS of those are tried with a proof.
_CANDIDATES = 256
_PROOFS = 12
_CHUNK = 4_096
_FILLED = 32

# Which event of a subscription to take, and whether to fill in attributes that others test for
# NULL.
_WITHOUT = ((0, False), (-1, False))
_WITH_ABSENT = ((0, True), (-1, True), (0, False))


@dataclass(frozen=True, slots=True)
class LiveSelector:
    """A selector with events that match it.

    Attributes:
        selector: The selector as written.
        condition: Its common form, with the presence tests of `strict`.
        events: One or two events that match.
    """

    selector: BoolExpr
    condition: BoolExpr
    events: list[Event]


@dataclass(slots=True)
class Neighbours:
    """The subscriptions related to one subscription, by position.

    Attributes:
        equal: Others that match the same events; there may be more.
        cover: A tight subscription that covers it and is not known to be equal.
        event: An event that matches only the cover; None if none was found.
        unsure: Without a cover: a subscription that may cover it, undecided.
    """

    equal: list[int] = field(default_factory=list)
    cover: int | None = None
    event: Event | None = None
    unsure: int | None = None


def neighbours(
    lives: list[LiveSelector], reasoner: Reasoner, progress: Progress
) -> dict[int, Neighbours]:
    """Find for each subscription a tight cover, and the subscriptions equal to it."""
    candidates = _candidates(lives, reasoner, progress)
    popular = np.bincount(candidates[1], minlength=len(lives))
    found: dict[int, Neighbours] = {}
    for inner, outer in _candidate_groups(candidates, len(lives)):
        if inner % 1024 == 0:
            progress("proving", inner, inner / len(lives))
        if len(outer):
            # A candidate for few subscriptions is tight.
            tight_first = outer[np.argsort(popular[outer], kind="stable")]
            found[inner] = _neighbours_of(inner, tight_first.tolist(), lives, reasoner)
    return found


def _neighbours_of(
    inner: int, candidates: list[int], lives: list[LiveSelector], reasoner: Reasoner
) -> Neighbours:
    around = Neighbours()
    against: list[Event] = []  # events of the inner that some candidate did not match
    proofs = 0
    for outer in candidates:
        if not all(reasoner.matches(lives[outer].selector, event) for event in against):
            continue
        proofs += 1
        if proofs > _PROOFS:
            break
        answer = _event_of_inner_alone(lives[inner].selector, lives[outer].selector, reasoner)
        if answer.event is not None:
            against.append(answer.event)
        elif answer.found is False:
            alone = _event_of_outer_alone(lives[outer], lives[inner], reasoner)
            if alone.found is not False:
                around.cover, around.event = outer, alone.event
                break
            around.equal.append(outer)
        elif around.unsure is None:
            around.unsure = outer
    return around


def _event_of_outer_alone(outer: LiveSelector, inner: LiveSelector, reasoner: Reasoner) -> Answer:
    """Find an event that matches only the outer, or prove that there is none."""
    for event in outer.events:
        if not reasoner.matches(inner.selector, event):
            return Answer(True, event)
    return reasoner.telling(outer.selector, inner.selector)


class _RewrittenSubscription(Subscription):
    """A subscription whose selector is already in its common form."""

    __slots__ = ()

    @property
    def condition(self) -> Selector:
        return self.selector


# -- candidates -----------------------------------------------------------------------------------


def _candidates(
    lives: list[LiveSelector], reasoner: Reasoner, progress: Progress
) -> tuple[Numbers, Numbers]:
    """Return pairs (covered, covering) that no tried event contradicts."""
    engine = BlockEngine()
    for number, live in enumerate(lives):
        tests = sum(1 for _ in predicates(live.selector))
        # Priority by number of tests: with a limit, the first matches are those with many tests,
        # which are tight.
        engine.add(_RewrittenSubscription(number, "", tests, live.condition))
        if number % 4096 == 0:
            progress("indexing", number, number / len(lives))
    absent = _null_tested_paths(lives)
    inner: list[Numbers] = []
    outer: list[Numbers] = []
    for begin in range(0, len(lives), _CHUNK):
        progress("comparing", begin, begin / len(lives))
        some = lives[begin : begin + _CHUNK]
        both: Numbers | None = None
        for side, full in _WITH_ABSENT if absent else _WITHOUT:
            events = [live.events[side] for live in some]
            if full:
                events = [_event_with_fillers(live, side, absent, reasoner) for live in some]
            batch = EventBatch.of(events, reasoner.schema, reasoner.domains.semantics)
            matches = engine.match(batch, _CANDIDATES).limited(_CANDIDATES)
            keys = (matches.event + begin) * len(lives) + matches.subscription
            both = keys if both is None else np.intersect1d(both, keys, assume_unique=True)
        assert both is not None
        pairs = np.divmod(both, len(lives))
        others = pairs[0] != pairs[1]
        inner.append(pairs[0][others])
        outer.append(pairs[1][others])
    return np.concatenate(inner), np.concatenate(outer)


def _null_tested_paths(lives: list[LiveSelector]) -> list[Path]:
    """Return the attributes that selectors test for NULL most often."""
    counts = Counter(
        test.operand.path
        for live in lives
        for test in predicates(live.selector)
        if isinstance(test, IsNull) and isinstance(test.operand, Attribute)
    )
    return [path for path, _ in counts.most_common(_FILLED)]


def _event_with_fillers(
    live: LiveSelector, side: int, paths: list[Path], reasoner: Reasoner
) -> Event:
    """Return an event of the subscription, with further attributes that it does not test.

    Attributes without a declared type become objects, on which every test is unknown except IS
    NULL, which is false.
    """
    event = dict(live.events[side])
    named = attributes(live.selector)
    roots = {path[0] for path in named}
    for path in paths:
        # Only beside the attributes that it tests, not inside or around one of them.
        if path[0] not in roots:
            put(event, path, {} if (value := reasoner.filler(path)) is OPAQUE else value)
    return event


def _candidate_groups(pairs: tuple[Numbers, Numbers], count: int) -> Iterator[tuple[int, Numbers]]:
    ends = np.searchsorted(pairs[0], np.arange(count + 1))
    for covered, (low, high) in enumerate(pairwise(ends.tolist())):
        yield covered, pairs[1][low:high]


# -- proofs ---------------------------------------------------------------------------------------


def _event_of_inner_alone(inner: BoolExpr, outer: BoolExpr, reasoner: Reasoner) -> Answer:
    """Find an event that matches only the inner, or prove that there is none."""
    if not reasoner.strict and _follows(_conjuncts(inner), outer, reasoner):
        return Answer(False)
    return reasoner.telling(inner, outer)


def _follows(given: tuple[BoolExpr, ...], conclusion: BoolExpr, reasoner: Reasoner) -> bool:
    """Whether a selector follows from others that are all true, by its form and by single tests.

    This finds most covers, far faster than a diagram. False means undecided.
    """
    if conclusion in given:
        return True
    if isinstance(conclusion, And):
        return all(_follows(given, part, reasoner) for part in conclusion.operands)
    if isinstance(conclusion, Or) and any(
        _follows(given, part, reasoner) for part in conclusion.operands
    ):
        return True
    attribute = _attribute(conclusion)
    for known in given:
        if isinstance(known, Or):
            if all(_follows(_conjuncts(part), conclusion, reasoner) for part in known.operands):
                return True
        elif attribute is not None and attribute == _attribute(known):
            if _implies(known, conclusion, attribute, reasoner):
                return True
    return False


def _conjuncts(expr: BoolExpr) -> tuple[BoolExpr, ...]:
    return expr.operands if isinstance(expr, And) else (expr,)


def _implies(known: BoolExpr, test: BoolExpr, attribute: Attribute, reasoner: Reasoner) -> bool:
    leaves = [_leaf(known), _leaf(test)]
    types, nullable = reasoner.domains.of(attribute)
    cut = regions_of(attribute, [leaf for leaf, _ in leaves], types, nullable)
    first, second = leaves[0][1], leaves[1][1]
    return cut.complete and all(
        cell.vector[0] is not first or cell.vector[1] is second for cell in cut.cells
    )


def _leaf(test: BoolExpr) -> tuple[Predicate, bool]:
    if isinstance(test, Not):
        return test.operand, False  # type: ignore[return-value]
    return test, True  # type: ignore[return-value]


def _attribute(test: BoolExpr) -> Attribute | None:
    """Return the attribute of a test, or of NOT of a test, that depends on nothing else."""
    leaf = test.operand if isinstance(test, Not) else test
    if isinstance(leaf, STRUCTURE):
        return None
    term = term_of(leaf)
    return term if isinstance(term, Attribute) else None
