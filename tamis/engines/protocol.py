"""The interface of an engine, and the optional interfaces that an engine may add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol, runtime_checkable

from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.matches import Id, Matches


class Engine(Protocol):
    """An algorithm that finds, for every event, the subscriptions that it satisfies.

    An engine equals the oracle (`language/evaluate.py`) on everything that it accepts. The caller
    ensures that an id is new when it is added and known when it is removed.
    """

    name: ClassVar[str]

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: The engine cannot express its selector. The engine is unchanged.
        """

    def remove(self, id: Id) -> None:
        """Remove a subscription."""

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies.

        With a limit, the first `limit` matches of each event are enough: an engine may stop there,
        or return more.
        """

    def stats(self) -> Mapping[str, object]:
        """Return sizes and counters by name; at least `subscriptions`."""

    def to_dot(self) -> str:
        """Return the structure as a Graphviz digraph."""


@runtime_checkable
class RecordingEngine(Protocol):
    """An engine that keeps the text of its subscriptions, so that its owner need not."""

    def text(self, id: Id) -> tuple[str, int]:
        """Return the selector of a subscription as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription. `remove` raises it too.
        """

    def __contains__(self, id: Id) -> bool:
        """Return whether there is a subscription with this id."""

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in the order of addition."""

    def __len__(self) -> int:
        """Return the number of subscriptions."""


@runtime_checkable
class SingleEventEngine(Protocol):
    """An engine with a faster path for a single event."""

    def match_event(self, event: Mapping[str, object]) -> list[Id] | None:
        """Return the ids that an event matches, in answer order; None if `match` must be used."""


@runtime_checkable
class MatchCountEngine(Protocol):
    """An engine that can count matches without storing them."""

    def counts(self, batch: EventBatch) -> dict[Id, int]:
        """Return how many events of the batch match each subscription; only nonzero counts."""
