"""The subscriptions of a matcher: the sequences here, all others with the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from tamis.engines.subscription import Subscription
from tamis.language.expr import Sequence
from tamis.matches import Id
from tamis.sequences.sequence_engine import Sequences
from tamis.storage.index.subscription_records import Subscriptions, other_if_mixed


class MatcherSubscriptions:
    """Both kinds under one roof; see the protocol `Subscriptions`."""

    def __init__(self, simple: Subscriptions, sequences: Sequences) -> None:
        """Take those that are one selector each, and those that are several."""
        self._simple = simple
        self._sequences = sequences

    def add(self, subscription: Subscription) -> None:
        """Take a subscription of either kind."""
        if isinstance(subscription.selector, Sequence):
            self._sequences.add(subscription)
        else:
            self._simple.add(subscription)

    def remove(self, id: Id) -> None:
        """Take one away."""
        if id in self._sequences:
            self._sequences.remove(id)
        else:
            self._simple.remove(id)

    def __getitem__(self, id: Id) -> Subscription:
        """A subscription by its id."""
        if id in self._sequences:
            return self._sequences[id].subscription
        return self._simple[id]

    def __contains__(self, id: Id) -> bool:
        """Whether there is one."""
        return id in self._sequences or id in self._simple

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding; those of sequences come last."""
        yield from self._simple
        yield from self._sequences

    def __len__(self) -> int:
        """How many there are."""
        return len(self._simple) + len(self._sequences)

    def restorer(self, id: Id) -> Callable[[], None]:
        """What adds one again; a sequence has then seen no events."""
        if id in self._sequences:
            return partial(self._sequences.add, self._sequences[id].subscription)
        return self._simple.restorer(id)

    def conflicting_id(self, id: Id) -> Id | None:
        """An id of the other kind, if there is any."""
        other = self._simple.conflicting_id(id)
        return other_if_mixed(id, next(iter(self._sequences), id)) if other is None else other
