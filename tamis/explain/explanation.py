"""Why an event did or did not match: the selector's tree with the values at each node.

For a non-match, also the smallest change that would match (`tamis.explain.smallest_change`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.engines.subscription import Subscription
from tamis.explain.smallest_change import smallest_change
from tamis.language.evaluate import Event, Truth, evaluate, look_up, value_of
from tamis.language.expr import (
    STRUCTURE,
    And,
    AtLeast,
    Attribute,
    BoolExpr,
    Custom,
    Literal,
    Not,
    children,
    map_structure,
    walk,
)
from tamis.matches import Id
from tamis.paths import path_text
from tamis.values import OPAQUE, Timestamp, Value


@dataclass(frozen=True, slots=True)
class ExplanationNode:
    """A node of the selector and its truth.

    Attributes:
        text: The node, as a selector; for a junction its name, e.g. "AND".
        truth: True, False, or None for unknown.
        values: The input of a predicate: each attribute that it names with its value, and each
            call of a user-defined function with its result.
        parts: The operands of a junction.
    """

    text: str
    truth: Truth
    values: Mapping[str, Value]
    parts: tuple[ExplanationNode, ...]


@dataclass(frozen=True, slots=True)
class RequiredChange:
    """A predicate that would need another truth.

    Attributes:
        predicate: The predicate as text.
        wanted: The truth that it needs.
        found: The truth that it has; None for unknown.
        values: Its input, as in `ExplanationNode`.
    """

    predicate: str
    wanted: bool
    found: Truth
    values: Mapping[str, Value]

    def __str__(self) -> str:
        """Return the predicate, the truth that it needs, and the truth that it has."""
        seen = _values_text(self.values)
        wanted, found = _truth_text(self.wanted), _truth_text(self.found)
        return f"{self.predicate} should be {wanted}, is {found}{seen}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an event did or did not match a subscription; prints as a tree.

    Attributes:
        id: The subscription.
        selector: Its text.
        matches: Whether the event matches.
        tree: The selector's nodes with their truths.
        missing: For a non-match, a smallest set of predicates that would need another truth (for a
            large selector that repeats predicates: the smallest set that was found); empty if the
            event matches, or if no set was found.
        possible: False if no event can match. True if this one does, or one with the changes in
            `missing` would; a predicate that can never be true is recognised in simple cases only
            (`a = NULL`, not `a > TRUE`). None if undecided: the changes concern an attribute that
            other predicates use too and may contradict them (`a = 1 AND a = 2`), or the search
            for changes stopped at its limit.
    """

    id: Id
    selector: str
    matches: bool
    tree: ExplanationNode
    missing: tuple[RequiredChange, ...]
    possible: bool | None

    def __str__(self) -> str:
        """Return the verdict, the tree, and the missing predicates."""
        verdict = "matches" if self.matches else "does not match"
        lines = [f"{self.id}: {verdict}", *tree_lines(self.tree)]
        if not self.matches:
            lines.append(self._heading())
            lines.extend(f"  {change}" for change in self.missing)
        return "\n".join(lines)

    def _heading(self) -> str:
        if self.missing:
            caveat = "" if self.possible else " (each test taken by itself)"
            return f"it would match if{caveat}:"
        if self.possible is False:
            return "no event can match it"
        return "no small set of changes was found that would make it match"

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as plain data for JSON."""
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
                    "values": _plain_values(change.values),
                }
                for change in self.missing
            ],
            "possible": self.possible,
        }


def explain(subscription: Subscription, event: Event) -> Explanation:
    """Explain whether an event matches, using the oracle; the event is a row of a batch."""
    selector: BoolExpr = subscription.selector  # type: ignore[assignment]
    if subscription.presence:
        selector = And((selector, *subscription.presence))
    tree = _explain_node(selector, event)
    if tree.truth is True:
        return Explanation(subscription.id, subscription.text, True, tree, (), True)
    outcomes, possible = smallest_change(selector, event)
    changes = tuple(
        RequiredChange(
            str(outcome.test), outcome.wanted, outcome.found, _values(outcome.test, event)
        )
        for outcome in outcomes
    )
    return Explanation(subscription.id, subscription.text, False, tree, changes, possible)


# -- the tree -------------------------------------------------------------------------------------


def _explain_node(expr: BoolExpr, event: Event) -> ExplanationNode:
    if not isinstance(expr, STRUCTURE) or (
        isinstance(expr, Not) and not isinstance(expr.operand, STRUCTURE)
    ):
        return ExplanationNode(str(expr), evaluate(expr, event), _values(expr, event), ())
    name = f"AT LEAST {expr.k} OF" if isinstance(expr, AtLeast) else type(expr).__name__.upper()
    parts = tuple(_explain_node(part, event) for part in children(expr))  # type: ignore[arg-type]
    truths = iter([Literal.of(part.truth) for part in parts])
    # Evaluate the junction of the parts' truths: parts are not evaluated again at every level.
    truth = evaluate(map_structure(expr, lambda _: next(truths)), event)
    return ExplanationNode(name, truth, {}, parts)


def _values(expr: BoolExpr, event: Event) -> dict[str, Value]:
    seen: dict[str, Value] = {}
    for e in walk(expr):
        if isinstance(e, Attribute):
            seen[path_text(e.path)] = look_up(e.path, event)
        elif isinstance(e, Custom):
            seen[str(e)] = value_of(e, event)
    return seen


# -- text -----------------------------------------------------------------------------------------


def _truth_text(truth: Truth) -> str:
    return {True: "true", False: "false", None: "unknown"}[truth]


def _values_text(values: Mapping[str, Value]) -> str:
    if not values:
        return ""
    shown = ", ".join(f"{name} is {_value_text(name, value)}" for name, value in values.items())
    return f"  ({shown})"


def _value_text(name: str, value: Value) -> str:
    if value is None:
        # A call ends with a parenthesis; an attribute that contains one ends with a backtick.
        return "NULL" if name.endswith(")") else "missing"
    if value is OPAQUE:
        return "a value of another kind"
    text = str(value) if isinstance(value, Timestamp) else repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def tree_lines(node: ExplanationNode) -> list[str]:
    """Return the lines of a tree."""
    marks = {True: "✓", False: "✗", None: "?"}
    lines = [f"{marks[node.truth]} {node.text}{_values_text(node.values)}"]
    for i, part in enumerate(node.parts):
        last = i == len(node.parts) - 1
        for j, line in enumerate(tree_lines(part)):
            stem = ("└─ " if last else "├─ ") if j == 0 else ("   " if last else "│  ")
            lines.append(stem + line)
    return lines


def _plain_values(values: Mapping[str, Value]) -> dict[str, object]:
    return {name: _plain_value(value) for name, value in values.items()}


def _plain_value(value: Value) -> object:
    if value is OPAQUE:
        return value.value
    return str(value) if isinstance(value, Timestamp) else value


def _node_dict(node: ExplanationNode) -> dict[str, object]:
    return {
        "text": node.text,
        "truth": node.truth,
        "values": _plain_values(node.values),
        "parts": [_node_dict(part) for part in node.parts],
    }
