"""Why an event did or did not match: the selector's tree with what was seen at each node.

For a non-match, `missing` is a smallest set of predicates that would have had to turn out
otherwise, taking the predicates as independent of each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb

from tamis.engines.subscription import Subscription
from tamis.language.evaluate import (
    Event,
    Truth,
    all_of,
    any_of,
    at_least,
    evaluate,
    look_up,
    negation,
    one_of_two,
)
from tamis.language.expr import (
    STRUCTURE,
    And,
    AtLeast,
    Attribute,
    BoolExpr,
    IsNull,
    Not,
    Or,
    Predicate,
    Xor,
    children,
    predicates,
    walk,
)
from tamis.matches import Id
from tamis.paths import Path, path_text
from tamis.values import OPAQUE, Timestamp, Value

# How many sets of predicates to try before settling for a set that is merely good.
_TRIES = 20_000


@dataclass(frozen=True, slots=True)
class Explained:
    """A node of the selector and what became of it.

    Attributes:
        text: The node, as a selector; for a junction its name, e.g. "AND".
        truth: True, False, or None for unknown.
        values: What a predicate saw: each attribute it names and its value.
        parts: The operands of a junction.
    """

    text: str
    truth: Truth
    values: Mapping[str, Value]
    parts: tuple[Explained, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A predicate that would have had to turn out otherwise."""

    predicate: str
    wanted: bool
    found: Truth
    values: Mapping[str, Value]

    def __str__(self) -> str:
        """The predicate, what it should have been, what it was."""
        seen = _seen(self.values)
        return f"{self.predicate} should be {_word(self.wanted)}, is {_word(self.found)}{seen}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an event did or did not match a subscription; prints as a tree.

    Attributes:
        id: The subscription.
        selector: Its text.
        matches: Whether the event matches.
        tree: The selector's nodes with their truths.
        missing: For a non-match, a smallest set of predicates that would have had to turn out
            otherwise; empty if the event matches, or if no outcome of the predicates would do.
    """

    id: Id
    selector: str
    matches: bool
    tree: Explained
    missing: tuple[Change, ...]

    def __str__(self) -> str:
        """The verdict, the tree, and what was missing."""
        verdict = "matches" if self.matches else "does not match"
        lines = [f"{self.id}: {verdict}", *_drawn(self.tree)]
        if not self.matches:
            if self.missing:
                lines.append("it would match if:")
                lines.extend(f"  {change}" for change in self.missing)
            else:
                lines.append("no event can match it")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """The same, as plain data for JSON."""
        return {
            "id": self.id,
            "selector": self.selector,
            "matches": self.matches,
            "tree": _node_dict(self.tree),
            "missing": [
                {
                    "predicate": change.predicate,
                    "wanted": change.wanted,
                    "found": change.found,
                    "values": _plain(change.values),
                }
                for change in self.missing
            ],
        }


def explain(subscription: Subscription, event: Event) -> Explanation:
    """Explain an event's fate, by the oracle; the event is one of a batch's rows."""
    selector: BoolExpr = subscription.selector  # type: ignore[assignment]
    if subscription.required:
        # What `strict` demands, as tests that can be seen to fail.
        present = [Not(IsNull(Attribute(path))) for path in sorted(subscription.required)]
        selector = And((selector, *present))
    tree = _explained(selector, event)
    missing = () if tree.truth is True else _missing(selector, event)
    return Explanation(subscription.id, subscription.text, tree.truth is True, tree, missing)


# -- the tree -------------------------------------------------------------------------------------


def _explained(expr: BoolExpr, event: Event) -> Explained:
    truth = evaluate(expr, event)
    if not isinstance(expr, STRUCTURE) or (
        isinstance(expr, Not) and not isinstance(expr.operand, STRUCTURE)
    ):
        return Explained(str(expr), truth, _values(expr, event), ())
    name = f"AT LEAST {expr.k} OF" if isinstance(expr, AtLeast) else type(expr).__name__.upper()
    parts = tuple(_explained(part, event) for part in children(expr))  # type: ignore[arg-type]
    return Explained(name, truth, {}, parts)


def _values(expr: BoolExpr, event: Event) -> dict[str, Value]:
    paths: dict[Path, None] = {e.path: None for e in walk(expr) if isinstance(e, Attribute)}
    return {path_text(path): look_up(path, event) for path in paths}


# -- what would have had to hold ------------------------------------------------------------------

# The outcome that each predicate (by content) would have to have.
_Outcomes = dict[Predicate, bool]


def _missing(selector: BoolExpr, event: Event) -> tuple[Change, ...]:
    found = {p: evaluate(p, event) for p in dict.fromkeys(predicates(selector))}
    good = _cheapest(selector, True, found)
    if good is not None and not _suffices(selector, good, found):
        good = None  # one predicate was wanted both ways in two places
    best = _smallest(selector, found, len(good) if good is not None else len(found) + 1) or good
    return tuple(
        Change(str(predicate), wanted, found[predicate], _values(predicate, event))
        for predicate, wanted in (best or {}).items()
    )


def _cheapest(expr: BoolExpr, wanted: bool, found: dict[Predicate, Truth]) -> _Outcomes | None:
    """The fewest changes that give a node a truth, where no predicate stands in it twice."""
    if isinstance(expr, Not):
        return _cheapest(expr.operand, not wanted, found)
    if isinstance(expr, And | Or | AtLeast):
        count = len(expr.operands)
        k = expr.k if isinstance(expr, AtLeast) else count if isinstance(expr, And) else 1
        # k true ones make it true; to make it false takes n - k + 1 false ones.
        needed = k if wanted else count - k + 1
        options = [_cheapest(operand, wanted, found) for operand in expr.operands]
        possible = sorted((o for o in options if o is not None), key=len)[:needed]
        return _union(possible) if len(possible) == needed else None
    if isinstance(expr, Xor):
        return _cheapest_parity(expr, wanted, found)
    if found[expr] is wanted:
        return {}
    changeable = any(isinstance(part, Attribute) for part in walk(expr))
    return {expr: wanted} if changeable else None


def _cheapest_parity(expr: Xor, wanted: bool, found: dict[Predicate, Truth]) -> _Outcomes | None:
    best: dict[bool, _Outcomes | None] = {False: {}, True: None}  # by the parity so far
    for operand in expr.operands:
        options = {truth: _cheapest(operand, truth, found) for truth in (False, True)}
        reached: dict[bool, _Outcomes | None] = {}
        for parity in (False, True):
            candidates = [
                _union([so_far, option])
                for truth, option in options.items()
                if option is not None and (so_far := best[parity ^ truth]) is not None
            ]
            reached[parity] = min(candidates, key=len, default=None)
        best = reached
    return best[wanted]


def _union(parts: list[_Outcomes]) -> _Outcomes:
    merged: _Outcomes = {}
    for part in parts:
        merged.update(part)
    return merged


def _smallest(selector: BoolExpr, found: dict[Predicate, Truth], below: int) -> _Outcomes | None:
    """A set of fewer than `below` changes that suffices, by trying all, smallest first."""
    flips = [
        (predicate, wanted)
        for predicate, truth in found.items()
        for wanted in (True, False)
        if truth is not wanted and any(isinstance(part, Attribute) for part in walk(predicate))
    ]
    tries = 0
    for size in range(1, below):
        tries += comb(len(flips), size)
        if tries > _TRIES:
            return None
        for chosen in combinations(flips, size):
            changes = dict(chosen)
            if len(changes) == size and _suffices(selector, changes, found):
                return changes
    return None


def _suffices(selector: BoolExpr, changes: _Outcomes, found: dict[Predicate, Truth]) -> bool:
    return _truth(selector, {**found, **changes}) is True


def _truth(expr: BoolExpr, outcome: Mapping[Predicate, Truth]) -> Truth:
    if isinstance(expr, Not):
        return negation(_truth(expr.operand, outcome))
    if not isinstance(expr, And | Or | Xor | AtLeast):
        return outcome[expr]
    truths = [_truth(operand, outcome) for operand in expr.operands]
    if isinstance(expr, And):
        return all_of(truths)
    if isinstance(expr, Or):
        return any_of(truths)
    return one_of_two(truths) if isinstance(expr, Xor) else at_least(expr.k, truths)


# -- words ----------------------------------------------------------------------------------------


def _word(truth: Truth) -> str:
    return {True: "true", False: "false", None: "unknown"}[truth]


def _seen(values: Mapping[str, Value]) -> str:
    if not values:
        return ""
    shown = ", ".join(f"{name} is {_shown(value)}" for name, value in values.items())
    return f"  ({shown})"


def _shown(value: Value) -> str:
    if value is None:
        return "missing"
    if value is OPAQUE:
        return "an object"
    text = str(value) if isinstance(value, Timestamp) else repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _drawn(node: Explained) -> list[str]:
    marks = {True: "✓", False: "✗", None: "?"}
    lines = [f"{marks[node.truth]} {node.text}{_seen(node.values)}"]
    for i, part in enumerate(node.parts):
        last = i == len(node.parts) - 1
        for j, line in enumerate(_drawn(part)):
            stem = ("└─ " if last else "├─ ") if j == 0 else ("   " if last else "│  ")
            lines.append(stem + line)
    return lines


def _plain(values: Mapping[str, Value]) -> dict[str, object]:
    return {
        name: str(value) if isinstance(value, Timestamp) or value is OPAQUE else value
        for name, value in values.items()
    }


def _node_dict(node: Explained) -> dict[str, object]:
    return {
        "text": node.text,
        "truth": node.truth,
        "values": _plain(node.values),
        "parts": [_node_dict(part) for part in node.parts],
    }
