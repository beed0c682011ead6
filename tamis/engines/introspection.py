"""What an engine can tell of its choices, if it makes any: for people who ask what is expensive.

Plain data, so that who prints it need not know the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

from tamis.events.batch import EventBatch
from tamis.matches import Id

# What a subscription is found by; the words are what `SubscriptionPlan.way` and `Cost.way` say.
WAYS = {
    "value": "found by one value of the event",
    "cover": "found by tests of which one must hold",
    "block": "looked at in blocks of events",
    "never": "never looked at: no event can match it",
    "oracle": "evaluated on every event: it is too large for the engine",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A part of a selector as it is checked.

    Attributes:
        text: The test; for a junction its name, e.g. "OR".
        share: The part of the events that satisfies the test; None for a junction.
        parts: The operands of a junction, in the order in which they are checked.
    """

    text: str
    share: float | None
    parts: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class SubscriptionPlan:
    """Where a subscription is, and why; prints as a tree.

    Attributes:
        id: The subscription.
        selector: Its text.
        way: What finds it: one of `WAYS`.
        why: The reason, in words.
        segment: The number of its segment, from 1; None if it is in none.
        segments: How many segments there are.
        size: How many subscriptions its segment has.
        events: How many events the shares go by; 0 if they are guesses.
        block_size: How many events a block has; None if it is not looked at in blocks.
        cover: The tests that it hangs under: one of them must hold for the selector to hold.
        checks: What is checked after that, in order.
        looks: The part of the events that looks at it.
        cost: What it costs an event, where 1 is the average of its segment.
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
        """The choice, the reason, and what happens, in order."""
        lines = [f"{self.id}: {WAYS[self.way]}", f"  why: {self.why}"]
        if self.segment is not None:
            lines.append(
                f"  segment {self.segment} of {self.segments}, with "
                f"{_count_text(self.size, 'subscription')}; shares {self._share_basis()}"
            )
        if self.cover:
            lines += ["  hangs under", *_check_tree_lines(self.cover)]
        if self.checks:
            then = "then checked" if self.cover else "checked"
            lines += [f"  {then}, in this order", *_check_tree_lines(self.checks)]
        lines.append(f"  cost: {self._cost()}")
        return "\n".join(lines)

    def _share_basis(self) -> str:
        return f"of {_count_text(self.events, 'event')}" if self.events else "are guesses"

    def _cost(self) -> str:
        looks = f"{_amount(1000 * self.looks)} looks per 1,000 events"
        if self.block_size is not None:
            looks += f" (blocks of {self.block_size:,})"
        if self.cost is None:
            return looks
        return f"{looks}; {_amount(self.cost)} times the average of its segment"

    def to_dict(self) -> dict[str, object]:
        """The same, as plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a subscription costs, as counted.

    Attributes:
        id: The subscription.
        way: What finds it: one of `WAYS`.
        checks: How often it is looked at per 1,000 events; in blocks, a look is at a whole block.
        matches: How many of 1,000 events match it; None if that is not counted.
        share: Its part of the cost of all subscriptions, as estimated.
    """

    id: Id
    way: str
    checks: float
    matches: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Costs:
    """The most expensive subscriptions first; prints as a table.

    Attributes:
        events: How many events were counted; recent ones weigh more.
        rows: The subscriptions.
    """

    events: int
    rows: tuple[Cost, ...]

    def __iter__(self) -> Iterator[Cost]:
        """The rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def __str__(self) -> str:
        """A line for each."""
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
        """The same, as plain data for JSON."""
        return asdict(self)


@runtime_checkable
class CostBasedEngine(Protocol):
    """An engine that lays subscriptions out by what they cost, and counts what they do."""

    def plan_of(self, id: Id, events: EventBatch | None = None) -> SubscriptionPlan:
        """Where a subscription is, and why; by these events, if there are any, from now on."""

    def learn(self, events: EventBatch) -> None:
        """Go by these events from now on, and lay out what has been laid out by guesses."""

    def costs(self, limit: int = 20) -> Costs:
        """The most expensive subscriptions."""


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
    """A share with as many digits as say something."""
    return f"{_amount(100 * share)} %"


def _amount(number: float) -> str:
    if 0 < number < 0.01:
        return "under 0.01"
    return f"{number:.2g}" if number < 9.95 else f"{number:,.0f}"


def _count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
