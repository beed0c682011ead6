"""What an engine is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from tamis.engines.subscription import Subscription
from tamis.events import EventBatch
from tamis.matches import Id, Matches


class Engine(Protocol):
    """An algorithm that finds, for every event, the subscriptions it satisfies.

    An engine equals the oracle (`language/evaluate.py`) on everything that it accepts. The caller
    sees to it that ids are new when added and known when removed.
    """

    name: ClassVar[str]

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            UnsupportedExpression: The engine cannot express its selector, and is unchanged.
        """

    def remove(self, id: Id) -> None:
        """Forget a subscription."""

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """All subscriptions that each event of the batch satisfies.

        With a limit, the first `limit` of the answer are enough: an engine may stop there, or give
        more.
        """

    def stats(self) -> Mapping[str, object]:
        """Sizes and counters, by name; at least `subscriptions`."""

    def to_dot(self) -> str:
        """The structure, as a Graphviz digraph."""
