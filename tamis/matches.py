"""The answer: which events matched which subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import InputError

Id = str | int
Ints = npt.NDArray[np.int64]


class Matches:
    """Pairs (event, subscription), by event, then highest priority first, then by id.

    The order does not depend on the engine, nor on the order in which subscriptions were added.

    Attributes:
        events: How many events were asked about.
        event: Per pair, the position of the event in its batch.
        subscription: Per pair, the id of the subscription.
        priority: Per pair, the priority of the subscription.
    """

    def __init__(
        self, events: int, event: Ints, code: Ints, ids: pa.Array, priorities: Ints
    ) -> None:
        """Order the pairs an engine found.

        Args:
            events: How many events were asked about.
            event: Per pair, the position of the event.
            code: Per pair, the position of the subscription in `ids`.
            ids: The ids that the codes stand for, all int64 or all string.
            priorities: The priority of each of `ids`.
        """
        self.events = events
        self._ids = ids
        self._priorities = priorities
        order = np.lexsort((_ranks(ids, priorities, code), event))
        self.event = event[order]
        self._code = code[order]

    @property
    def subscription(self) -> npt.NDArray[Any]:
        """Per pair, the id of the subscription."""
        ids: npt.NDArray[Any] = self._ids.to_numpy(zero_copy_only=False)
        return ids[self._code]

    @property
    def priority(self) -> Ints:
        """Per pair, the priority of the subscription."""
        return self._priorities[self._code]

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.event)

    def __iter__(self) -> Iterator[tuple[int, Id]]:
        """The pairs."""
        return zip(
            self.event.tolist(), self._ids.take(pa.array(self._code)).to_pylist(), strict=True
        )

    def __eq__(self, other: object) -> bool:
        """Equal when they say the same, whatever engine said it."""
        if not isinstance(other, Matches):
            return NotImplemented
        return self.events == other.events and self.to_arrow().equals(other.to_arrow())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """How much was found."""
        return f"<Matches: {len(self)} pairs of {self.events} events>"

    def of_event(self, event: int) -> list[Id]:
        """The ids that one event matched, highest priority first.

        Raises:
            InputError: There is no such event.
        """
        if not 0 <= event < self.events:
            raise InputError(f"there is no event {event}; there are {self.events}, from 0 on")
        low, high = np.searchsorted(self.event, (event, event + 1))
        found: list[Id] = self._ids.take(pa.array(self._code[low:high])).to_pylist()
        return found

    def per_event(self) -> list[list[Id]]:
        """For each event, the ids it matched, highest priority first."""
        ids = self._ids.take(pa.array(self._code)).to_pylist()
        bounds = np.searchsorted(self.event, np.arange(self.events + 1)).tolist()
        return [ids[low:high] for low, high in pairwise(bounds)]

    def counts(self) -> dict[Id, int]:
        """How many events each subscription matched, for those that matched any."""
        totals = np.bincount(self._code, minlength=len(self._ids))
        matched = np.flatnonzero(totals)
        ids = self._ids.take(pa.array(matched)).to_pylist()
        return dict(zip(ids, totals[matched].tolist(), strict=True))

    def event_counts(self) -> Ints:
        """How many subscriptions each event matched."""
        return np.bincount(self.event, minlength=self.events).astype(np.int64)

    def limited(self, limit: int) -> Matches:
        """Only the first `limit` of each event: those of highest priority."""
        first = np.searchsorted(self.event, self.event)
        kept = np.arange(len(self)) - first < limit
        return Matches(self.events, self.event[kept], self._code[kept], self._ids, self._priorities)

    def to_arrow(self) -> pa.Table:
        """A table of the pairs: event, subscription, priority."""
        return pa.table(
            {
                "event": pa.array(self.event, pa.int64()),
                "subscription": self._ids.take(pa.array(self._code)),
                "priority": pa.array(self.priority, pa.int64()),
            }
        )


def _ranks(ids: pa.Array, priorities: Ints, code: Ints) -> Ints:
    """Per pair, the place of its subscription in the order of answers.

    Only those that matched are sorted: often a few of millions.
    """
    matched, places = np.unique(code, return_inverse=True)
    table = pa.table(
        {
            "id": ids.take(pa.array(matched)),
            "priority": pa.array(priorities[matched], pa.int64()),
        }
    )
    order = pc.sort_indices(
        table, sort_keys=[("priority", "descending"), ("id", "ascending")]
    ).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[places]
