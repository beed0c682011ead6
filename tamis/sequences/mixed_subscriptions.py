"""The subscriptions of a matcher: sequences, and simple ones, which the engine holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tamis.engines.subscription import Subscription
from tamis.language.expr import Sequence
from tamis.matches import Id
from tamis.sequences.sequence_engine import Sequences
from tamis.storage.index.subscription_records import Subscriptions, other_if_mixed


class MatcherSubscriptions:
    """Simple subscriptions and sequences together; implements the protocol `Subscriptions`."""

    def __init__(self, simple: Subscriptions, sequences: Sequences) -> None:
        """Take the simple subscriptions and the sequences."""
        self._simple = simple
        self._sequences = sequences

    def add(self, subscription: Subscription) -> None:
        """Add a subscription of either kind."""
        if isinstance(subscription.selector, Sequence):
            self._sequences.add(subscription)
        else:
            self._simple.add(subscription)

    def remove(self, id: Id) -> None:
        """Remove a subscription of either kind."""
        if id in self._sequences:
            self._sequences.remove(id)
        else:
            self._simple.remove(id)

    def __getitem__(self, id: Id) -> Subscription:
        """Return a subscription by its id."""
        if id in self._sequences:
            return self._sequences[id].subscription
        return self._simple[id]

    def __contains__(self, id: Id) -> bool:
        """Return whether a subscription has this id."""
        return id in self._sequences or id in self._simple

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order of insertion, those of sequences last."""
        yield from self._simple
        yield from self._sequences

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._simple) + len(self._sequences)

    def restorer(self, id: Id) -> Callable[[], None]:
        """Return a function that adds the subscription again; a sequence then starts afresh."""
        if id in self._sequences:
            return partial(self._sequences.add, self._sequences[id].subscription)
        return self._simple.restorer(id)

    def conflicting_id(self, id: Id) -> Id | None:
        """Return an existing id of the other type (string or integer), if there is one."""
        other = self._simple.conflicting_id(id)
        return other_if_mixed(id, next(iter(self._sequences), id)) if other is None else other
