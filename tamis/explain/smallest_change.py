"""The smallest change: a smallest set of tests whose other outcome makes a selector true.

Tests are treated as independent: what the outcome of one implies for another is not considered,
but the result says where it might matter. One pass over the tree finds the cheapest way to either
truth of each node, which is exact as long as no test occurs in two places. If one does, its cost is
shared among its places; so the pass finds a lower bound, and branch and bound decides such tests
one after another until the bound is met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from operator import itemgetter

from tamis.language.evaluate import Event, Truth, evaluate
from tamis.language.expr import (
    STRUCTURE,
    And,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Expr,
    In,
    IsNull,
    Junction,
    Literal,
    Not,
    Predicate,
    StringTest,
    Xor,
    attributes,
    children,
)
from tamis.language.rewrite.fold import fold_constants
from tamis.paths import Path

# The number of nodes to visit, over all passes, before the best set so far is returned.
_LOOKS = 300_000


@dataclass(frozen=True, slots=True)
class PredicateOutcome:
    """A test, the truth that the change relies on, and the truth for the event."""

    test: Predicate
    wanted: bool
    found: Truth


def smallest_change(selector: BoolExpr, event: Event) -> tuple[list[PredicateOutcome], bool | None]:
    """Return a smallest set of changes that makes a selector true for a non-matching event.

    Returns:
        The changes, and whether an event can match, as in `tamis.explain.explanation.Explanation`.
    """
    tests = _Tests(selector, event)
    best, finished = _search(tests)
    if best is None:
        return [], False if finished else None
    relied = [PredicateOutcome(tests.predicates[n], best[n], tests.found[n]) for n in sorted(best)]
    kept = [outcome for outcome in relied if outcome.wanted is outcome.found]
    changes = [outcome for outcome in relied if outcome.wanted is not outcome.found]
    return changes, True if _are_independent(kept, changes) else None


def possible_truths(test: Predicate, found: Truth) -> tuple[bool, ...]:
    """Return which of true and false a test can be for some event; both unless one is impossible.

    Not every impossibility is recognised: `a > TRUE` is never true, but is reported as possible.
    """
    folded = fold_constants(test)
    if not attributes(folded):
        return () if found is None else (found,)
    if isinstance(folded, In) and any(item.value is None for item in folded.items):
        return (True,)
    if isinstance(folded, Between):
        bounds = [_is_null(folded.low), _is_null(folded.high)]
        if all(bounds) or _is_null(folded.operand):
            return ()
        return (False,) if any(bounds) else (True, False)
    if isinstance(folded, (StringTest, ArrayContains)) and any(map(_is_null, children(folded))):
        return ()
    return (True, False)


def _is_null(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is None


def _are_independent(kept: list[PredicateOutcome], changes: list[PredicateOutcome]) -> bool:
    """Return whether no change shares an attribute with another test that is relied on.

    The presence of an attribute (IS NULL is false) conflicts with no other test.
    """
    seen: set[Path] = set()
    around: set[Path] = set()  # the objects that contain them
    for i, outcome in enumerate(kept + changes):
        test = outcome.test
        if isinstance(test, IsNull) and isinstance(test.operand, Attribute) and not outcome.wanted:
            continue
        paths = attributes(test)
        objects = {path[:length] for path in paths for length in range(1, len(path))}
        if i >= len(kept) and not (
            seen.isdisjoint(paths) and around.isdisjoint(paths) and seen.isdisjoint(objects)
        ):
            return False
        seen |= paths
        around |= objects
    return True


# -- the tests of a selector, by number -----------------------------------------------------------

# Tests with their required truth, as 2 * number + truth; nested, so that joining is cheap.
_RequiredTruths = int | tuple["_RequiredTruths", ...]
_Plan = tuple[float, _RequiredTruths]  # with its cost
_Plans = tuple[_Plan | None, _Plan | None]  # of a node: to make it false, to make it true


class _Tests:
    """The tests of a selector, each once, numbered from left to right.

    Attributes:
        steps: The tree in postfix order: the numbers of tests, and the nodes above them.
        predicates: The tests.
        found: The outcome of each.
        reach: The outcomes that each can have.
        places: The number of places of each.
    """

    def __init__(self, selector: BoolExpr, event: Event) -> None:
        order: list[BoolExpr] = []
        pending = [selector]
        while pending:
            expr = pending.pop()
            order.append(expr)
            if isinstance(expr, STRUCTURE):
                pending.extend(children(expr))  # type: ignore[arg-type]
        order.reverse()  # nodes before their parts, from right to left: the reverse of postfix
        numbers: dict[Predicate, int] = {}
        self.steps: list[int | Not | Junction] = [
            expr if isinstance(expr, STRUCTURE) else numbers.setdefault(expr, len(numbers))
            for expr in order
        ]
        self.predicates = list(numbers)
        self.found = [evaluate(test, event) for test in numbers]
        self.reach = [possible_truths(*each) for each in zip(numbers, self.found, strict=True)]
        self.places = Counter(step for step in self.steps if isinstance(step, int))

    def plans(self, number: int) -> _Plans:
        """Return the plans for either truth in one place of a test; places share the cost."""
        found, price = self.found[number], 1 / self.places[number]
        false, true = (
            (0.0 if found is truth else price, 2 * number + truth)
            if truth in self.reach[number]
            else None
            for truth in (False, True)
        )
        return false, true


# -- the cheapest way to a truth ------------------------------------------------------------------


def _cheapest_plan(steps: Sequence[int | Not | Junction], plans: Sequence[_Plans]) -> _Plan | None:
    """Return the cheapest plan that makes the tree true, with each place of a test on its own."""
    stack: list[_Plans] = []
    for step in steps:
        if isinstance(step, int):
            stack.append(plans[step])
        elif isinstance(step, Not):
            false, true = stack.pop()
            stack.append((true, false))
        else:
            count = len(step.operands)
            parts = stack[-count:]
            del stack[-count:]
            if isinstance(step, Xor):
                stack.append(_parity(parts))
                continue
            k = step.k if isinstance(step, AtLeast) else count if isinstance(step, And) else 1
            # k true operands make it true; n - k + 1 false ones make it false.
            to_false = _join_plans([false for false, _ in parts], count - k + 1)
            stack.append((to_false, _join_plans([true for _, true in parts], k)))
    return stack[0][True]


def _join_plans(options: list[_Plan | None], needed: int) -> _Plan | None:
    """Join the cheapest of the options, as many as needed."""
    possible = [option for option in options if option is not None]
    if len(possible) < needed:
        return None
    if len(possible) > needed:
        possible = sorted(possible, key=itemgetter(0))[:needed]
    return sum([price for price, _ in possible]), tuple([relied for _, relied in possible])


def _parity(parts: list[_Plans]) -> _Plans:
    even: _Plan | None = (0.0, ())
    odd: _Plan | None = None
    for false, true in parts:
        even, odd = (
            _join_plans([_join_plans([even, false], 2), _join_plans([odd, true], 2)], 1),
            _join_plans([_join_plans([odd, false], 2), _join_plans([even, true], 2)], 1),
        )
    return even, odd


# -- branch and bound -----------------------------------------------------------------------------


def _search(tests: _Tests) -> tuple[dict[int, bool] | None, bool]:
    """Return the outcomes to rely on, and whether the search was complete.

    If it was, no set of outcomes needs fewer changes; or, if there is no set, none exists.
    """
    base = [tests.plans(number) for number in range(len(tests.predicates))]
    best: dict[int, bool] | None = None
    fewest = len(base) + 1
    passes = max(1, _LOOKS // len(tests.steps))
    # The decisions for some tests, and the number of changes whose cost they cover in full.
    pending: list[tuple[dict[int, _Plans], int]] = [({}, 0)]
    while pending:
        if passes == 0:
            return best, False
        passes -= 1
        settled, paid = pending.pop()
        plans = base.copy()
        for number, narrowed in settled.items():
            plans[number] = narrowed
        plan = _cheapest_plan(tests.steps, plans)
        if plan is None:
            continue
        least = paid + ceil(plan[0] - 1e-6)
        if least >= fewest:
            continue
        uses = _count_uses(plan[1])
        disputed = [each >> 1 for each in uses if each & 1 and each - 1 in uses]
        if disputed:  # tests that need both truths; forbid one of them, the rarer first
            number = max(disputed, key=lambda n: uses[2 * n] + uses[2 * n + 1])
            false, true = plans[number]
            either: list[_Plans] = [(false, None), (None, true)]
            if uses[2 * number] > uses[2 * number + 1]:
                either.reverse()
            pending.extend(({**settled, number: narrowed}, paid) for narrowed in either)
            continue
        outcomes = {each >> 1: each & 1 == 1 for each in uses}
        changed = [n for n, truth in outcomes.items() if truth is not tests.found[n]]
        if len(changed) < fewest:
            best, fewest = outcomes, len(changed)
        if len(changed) > least:
            # A change is used in some of its places only, so its cost is not covered in full:
            # force it or forbid it.
            number = min(
                (n for n in changed if _price(plans[n][outcomes[n]])),
                key=lambda n: uses[2 * n + outcomes[n]] / tests.places[n],
            )
            false, true = plans[number]
            free = (0.0, 2 * number + outcomes[number])
            forced: _Plans = (None, free) if outcomes[number] else (free, None)
            forbidden: _Plans = (false, None) if outcomes[number] else (None, true)
            pending.append(({**settled, number: forbidden}, paid))
            pending.append(({**settled, number: forced}, paid + 1))
    return best, True


def _price(plan: _Plan | None) -> float:
    return plan[0] if plan is not None else 0.0


def _count_uses(relied: _RequiredTruths) -> Counter[int]:
    """Count how often each test with its truth is relied on."""
    pending, flat = [relied], Counter[int]()
    while pending:
        each = pending.pop()
        if isinstance(each, int):
            flat[each] += 1
        else:
            pending.extend(reversed(each))
    return flat
