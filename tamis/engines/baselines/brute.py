"""Brute force: every selector is evaluated on every event. The oracle as an engine.

It is slow on purpose. It evaluates the selector as it was written, so it also checks the rewriter
that the other engines build on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from tamis.dot import quote
from tamis.engines.subscription import Subscription, satisfies
from tamis.errors import UnsupportedExpression
from tamis.events.batch import EventBatch
from tamis.language.expr import Sequence
from tamis.matches import Id, Matches, ids_array


class BruteEngine:
    """A list of subscriptions, all of which are evaluated."""

    name: ClassVar[str] = "brute"

    def __init__(self) -> None:
        """Create an engine without subscriptions."""
        self._subscriptions: dict[Id, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        """Add a subscription."""
        if isinstance(subscription.selector, Sequence):
            raise UnsupportedExpression("a sequence (FIRST … THEN …)", self.name)
        self._subscriptions[subscription.id] = subscription

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        del self._subscriptions[id]

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        subscriptions = list(self._subscriptions.values())
        pairs = [
            (event, code)
            for event, row in enumerate(batch.rows())
            for code, subscription in enumerate(subscriptions)
            if satisfies(row, subscription)
        ]
        event, code = np.array(pairs, np.int64).reshape(-1, 2).T
        ids = ids_array([subscription.id for subscription in subscriptions])
        priorities = np.array([s.priority for s in subscriptions], np.int64)
        return Matches(len(batch), event, code, ids, priorities)

    def stats(self) -> Mapping[str, object]:
        """Return the number of subscriptions."""
        return {"subscriptions": len(self._subscriptions)}

    def to_dot(self) -> str:
        """Return one node per subscription: there is no structure to draw."""
        nodes = [
            f"  {quote(str(s.id))} [label={quote(s.text)}];" for s in self._subscriptions.values()
        ]
        return "\n".join(["digraph brute {", "  node [shape=box];", *nodes, "}"])
