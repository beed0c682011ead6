"""Reports of an engine: how it indexes a subscription and why, and what subscriptions cost.

The reports are plain data, so that printing them requires no knowledge of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

from tamis.events.batch import EventBatch
from tamis.matches import Id

# How a subscription is found: the values of `SubscriptionPlan.way` and `Cost.way`.
WAYS = {
    "value": "found by one value of the event",
    "cover": "found by a cover: tests of which one must hold",
    "block": "evaluated in blocks of events",
    "never": "never evaluated: no event can match it",
    "oracle": "evaluated on every event: too large for the engine",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A part of a selector, as the engine checks it.

    Attributes:
        text: The test; for a junction its name, e.g. "OR".
        share: The fraction of events that satisfy the test; None for a junction.
        parts: The operands of a junction, in the order in which they are checked.
    """

    text: str
    share: float | None
    parts: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class SubscriptionPlan:
    """How a subscription is indexed, and why; prints as a tree.

    Attributes:
        id: The subscription.
        selector: Its text.
        way: How it is found: one of `WAYS`.
        why: The reason, in words.
        segment: The number of its segment, from 1; None if it is in none.
        segments: The number of segments.
        size: The number of subscriptions in its segment.
        events: The number of events that the shares are measured on; 0 if they are estimates.
        block_size: The number of events in a block; None if it is not evaluated in blocks.
        cover: The tests that it is indexed under: the selector is true only if one of them is.
        checks: The tests that are checked after that, in order.
        looks: The fraction of events for which it is a candidate.
        cost: Its cost per event, where 1 is the average of its segment.
    """

    id: Id
    selector: str
    way: str
    why: str
    segment: int | None
    segments: int
    size: int
    events: int
    block_size: int | None
    cover: tuple[Check, ...]
    checks: tuple[Check, ...]
    looks: float
    cost: float | None

    def __str__(self) -> str:
        """Return the choice, the reason and the order of the checks."""
        lines = [f"{self.id}: {WAYS[self.way]}", f"  why: {self.why}"]
        if self.segment is not None:
            lines.append(
                f"  segment {self.segment} of {self.segments}, with "
                f"{_count_text(self.size, 'subscription')}; shares {self._share_basis()}"
            )
        if self.cover:
            lines += ["  indexed under", *_check_tree_lines(self.cover)]
        if self.checks:
            then = "then checked" if self.cover else "checked"
            lines += [f"  {then}, in this order", *_check_tree_lines(self.checks)]
        lines.append(f"  cost: {self._cost()}")
        return "\n".join(lines)

    def _share_basis(self) -> str:
        return f"of {_count_text(self.events, 'event')}" if self.events else "are estimates"

    def _cost(self) -> str:
        looks = f"{_amount(1000 * self.looks)} checks per 1,000 events"
        if self.block_size is not None:
            looks += f" (blocks of {self.block_size:,})"
        if self.cost is None:
            return looks
        return f"{looks}; {_amount(self.cost)} times the average of its segment"

    def to_dict(self) -> dict[str, object]:
        """Return the same as plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cost:
    """The counted cost of a subscription.

    Attributes:
        id: The subscription.
        way: How it is found: one of `WAYS`.
        checks: How often it is checked per 1,000 events; in blocks, one check covers a whole block.
        matches: How many of 1,000 events match it; None if matches are not counted.
        share: Its estimated fraction of the cost of all subscriptions.
    """

    id: Id
    way: str
    checks: float
    matches: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The subscriptions by cost, the most expensive first; prints as a table.

    Attributes:
        events: The number of events counted; recent ones weigh more.
        rows: The subscriptions.
    """

    events: int
    rows: tuple[Cost, ...]

    def __iter__(self) -> Iterator[Cost]:
        """Iterate over the rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __str__(self) -> str:
        """Return a table with one line per subscription."""
        if not self.events:
            return "no events have been counted yet"
        lines = ["  cost  checks/1000  matches/1000  way     subscription"]
        for row in self.rows:
            matches = "-" if row.matches is None else f"{row.matches:,.1f}"
            lines.append(
                f"{row.share:6.1%}  {row.checks:11,.1f}  {matches:>12}  {row.way:<6}  {row.id}"
            )
        return "\n".join([*lines, f"counted on {_count_text(self.events, 'event')}"])

    def to_dict(self) -> dict[str, object]:
        """Return the same as plain data for JSON."""
        return asdict(self)


@runtime_checkable
class CostBasedEngine(Protocol):
    """An engine that arranges subscriptions by cost, and counts their checks and matches."""

    def plan_of(self, id: Id, events: EventBatch | None = None) -> SubscriptionPlan:
        """Return how a subscription is indexed, and why; given events, learn from them first."""

    def learn(self, events: EventBatch) -> None:
        """Use statistics of these events from now on, and replace layouts made by estimates."""

    def costs(self, limit: int = 20) -> Costs:
        """Return the most expensive subscriptions."""


def _check_tree_lines(checks: tuple[Check, ...]) -> list[str]:
    lines = []
    for i, check in enumerate(checks):
        last = i == len(checks) - 1
        for j, line in enumerate(_check_lines(check)):
            stem = ("└─ " if last else "├─ ") if j == 0 else ("   " if last else "│  ")
            lines.append(f"  {stem}{line}")
    return lines


def _check_lines(check: Check) -> list[str]:
    share = "" if check.share is None else f"  ({percent(check.share)} of events)"
    return [f"{check.text}{share}", *(line[2:] for line in _check_tree_lines(check.parts))]


def percent(share: float) -> str:
    """Format a fraction as a percentage with its significant digits only."""
    return f"{_amount(100 * share)} %"


def _amount(number: float) -> str:
    if 0 < number < 0.01:
        return "under 0.01"
    return f"{number:.2g}" if number < 9.95 else f"{number:,.0f}"


def _count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
