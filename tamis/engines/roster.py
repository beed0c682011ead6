"""The subscriptions of an engine under small numbers, which are reused when free."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tamis.engines.subscription import Subscription
from tamis.matches import Id, Matches, ids_array


class Roster:
    """Subscriptions by number, and the conversion of numbers into matches."""

    def __init__(self) -> None:
        """Create an empty roster."""
        self._numbers: dict[Id, int] = {}
        self._subscriptions: list[Subscription | None] = []
        self._free: list[int] = []

    @property
    def capacity(self) -> int:
        """One more than the highest number that was ever in use."""
        return len(self._subscriptions)

    @property
    def next(self) -> int:
        """The number that the next subscription gets."""
        return self._free[-1] if self._free else len(self._subscriptions)

    def add(self, subscription: Subscription) -> int:
        """Add a subscription and return its number."""
        number = self.next
        if self._free:
            self._subscriptions[self._free.pop()] = subscription
        else:
            self._subscriptions.append(subscription)
        self._numbers[subscription.id] = number
        return number

    def remove(self, id: Id) -> int:
        """Remove a subscription and return the number that it had."""
        number = self._numbers.pop(id)
        self._subscriptions[number] = None
        self._free.append(number)
        return number

    def __getitem__(self, number: int) -> Subscription:
        """Return the subscription with a number that is in use."""
        subscription = self._subscriptions[number]
        assert subscription is not None
        return subscription

    def number(self, id: Id) -> int:
        """Return the number of a subscription."""
        return self._numbers[id]

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the numbers in use, in the order of addition."""
        return iter(self._numbers.values())

    def matches(self, events: int, event: NDArray[np.int64], number: NDArray[np.int32]) -> Matches:
        """Return the matches for pairs of an event and a subscription number."""
        seen = np.zeros(self.capacity, np.bool_)
        seen[number] = True
        matched = [self[each] for each in np.flatnonzero(seen).tolist()]
        places = np.cumsum(seen) - 1
        priorities = np.array([subscription.priority for subscription in matched], np.int64)
        ids = ids_array([subscription.id for subscription in matched])
        return Matches(events, event, places[number], ids, priorities)

    def matches_from_ends(self, ends: NDArray[np.int64], number: NDArray[np.int32]) -> Matches:
        """Return the matches for all subscription numbers, given where each event's end."""
        event = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        return self.matches(len(ends), event, number)
