"""The answer: which events matched which subscriptions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import InputError

Id = str | int
Ints = npt.NDArray[np.int64]

# Pairs that are sorted at a time: sixteen kilobytes of keys. Ten million pairs take 0.2 s so, and
# 0.7 s in one piece.
_SLICE = 4096
# Below so many pairs each is ranked by itself; finding the distinct subscriptions costs more.
_FEW = 1000


class _Pairs(NamedTuple):
    """Per pair, the position of the event and that of the subscription."""

    event: Ints
    code: Ints
    ordered: bool


class Matches:
    """Pairs (event, subscription), by event, then highest priority first, then by id.

    The order does not depend on the engine, nor on the order in which subscriptions were added. It
    is made when it is first looked at; counting does without.

    Attributes:
        events: How many events were asked about.
        event: Per pair, the position of the event in its batch.
        subscription: Per pair, the id of the subscription.
        priority: Per pair, the priority of the subscription.
    """

    def __init__(
        self, events: int, event: Ints, code: Ints, ids: pa.Array, priorities: Ints
    ) -> None:
        """Take the pairs an engine found, in any order.

        The arrays are kept, not copied: the engine must leave them as they are. Quickest is by
        event, and within an event by code.

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
        # Replaced as a whole when put in order: a thread sees the pairs as found or as ordered.
        self._pairs = _Pairs(event, code, ordered=len(code) < 2)

    @property
    def event(self) -> Ints:
        """Per pair, the position of the event in its batch."""
        return self._ordered().event

    @property
    def subscription(self) -> npt.NDArray[Any]:
        """Per pair, the id of the subscription."""
        return self._named(self._ordered().code)

    @property
    def priority(self) -> Ints:
        """Per pair, the priority of the subscription."""
        return self._priorities[self._ordered().code]

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._pairs.code)

    def __iter__(self) -> Iterator[tuple[int, Id]]:
        """The pairs."""
        event, code, _ = self._ordered()
        return zip(event.tolist(), self._named(code).tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        """Equal when they say the same, whatever engine said it."""
        if not isinstance(other, Matches):
            return NotImplemented
        if self.events != other.events or len(self) != len(other):
            return False
        return bool(self.to_arrow().equals(other.to_arrow()))

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
        pairs = self._ordered()
        low, high = pairs.event.searchsorted((event, event + 1))
        found: list[Id] = self._named(pairs.code[low:high]).tolist()
        return found

    def per_event(self) -> list[list[Id]]:
        """For each event, the ids it matched, highest priority first."""
        pairs = self._ordered()
        ids = self._named(pairs.code).tolist()
        bounds = pairs.event.searchsorted(np.arange(self.events + 1)).tolist()
        return [ids[low:high] for low, high in pairwise(bounds)]

    def counts(self) -> dict[Id, int]:
        """How many events each subscription matched, for those that matched any."""
        code = self._pairs.code
        if _are_few(code, self._ids):
            matched, totals = np.unique(code, return_counts=True)
        else:
            totals = np.bincount(code, minlength=len(self._ids))
            matched = np.flatnonzero(totals)
            totals = totals[matched]
        return dict(zip(self._named(matched).tolist(), totals.tolist(), strict=True))

    def event_counts(self) -> Ints:
        """How many subscriptions each event matched."""
        return np.bincount(self._pairs.event, minlength=self.events).astype(np.int64, copy=False)

    def limited(self, limit: int) -> Matches:
        """Only the first `limit` of each event: those of highest priority."""
        counts = self.event_counts()
        limit = min(max(limit, 0), len(self))
        if counts.max(initial=0) <= limit:
            return self
        pairs = self._ordered()
        kept = np.minimum(counts, limit)
        # A pair that is kept stands as many places on as pairs before it are left out.
        left_out = np.cumsum(counts - kept) - (counts - kept)
        where = np.arange(kept.sum()) + np.repeat(left_out, kept)
        few = Matches(
            self.events, pairs.event[where], pairs.code[where], self._ids, self._priorities
        )
        few._pairs = few._pairs._replace(ordered=True)
        return few

    def to_arrow(self) -> pa.Table:
        """A table of the pairs: event, subscription, priority."""
        event, code, _ = self._ordered()
        return pa.table(
            {
                "event": pa.array(event, pa.int64()),
                "subscription": self._ids.take(pa.array(code)),
                "priority": pa.array(self._priorities[code], pa.int64()),
            }
        )

    def _ordered(self) -> _Pairs:
        pairs = self._pairs
        if not pairs.ordered:
            pairs = _in_order(pairs, self._ids, self._priorities)
            self._pairs = pairs
        return pairs

    def _named(self, code: Ints) -> npt.NDArray[Any]:
        """The ids that codes stand for; strings as Python's, each made once if most are wanted.

        Where no code leads `ids` may be null, and must not turn the others into floats.
        """
        ids = self._ids
        few_strings = len(code) < len(ids) and ids.type != pa.int64()
        if few_strings or ids.null_count:
            ids, code = ids.take(pa.array(code)), np.arange(len(code))
        every: npt.NDArray[Any] = ids.to_numpy(zero_copy_only=False)
        return every[code]


def _are_few(code: Ints, ids: pa.Array) -> bool:
    """Whether it costs less to sort the codes than to look at all ids."""
    return len(code) < max(_FEW, len(ids) // 64)


def _in_order(pairs: _Pairs, ids: pa.Array, priorities: Ints) -> _Pairs:
    """The pairs by event, priority and id."""
    event, code, _ = pairs
    if _are_few(code, ids):
        order = _by_id(code, ids)
        order = order[np.lexsort((_urgency(priorities[code[order]]), event[order]))]
        return _Pairs(event[order], code[order], ordered=True)
    if (event[1:] < event[:-1]).any():
        # A radix sort if the positions of events fit into 16 bits.
        order = np.argsort(event.astype(np.min_scalar_type(event.max())), kind="stable")
        event, code = event[order], code[order]
    seen = np.zeros(len(ids), np.bool_)
    seen[code] = True
    matched = np.flatnonzero(seen)
    by_rank = matched[_by_id(matched, ids)]
    by_rank = by_rank[np.argsort(_urgency(priorities[by_rank]), kind="stable")]
    codes_rank = (by_rank[1:] > by_rank[:-1]).all()
    if codes_rank and ((code[1:] >= code[:-1]) | (event[1:] > event[:-1])).all():
        return _Pairs(event, code, ordered=True)
    return _Pairs(event, _sorted_within(event, code, by_rank, len(ids)), ordered=True)


def _by_id(code: Ints, ids: pa.Array) -> Ints:
    """Where the codes are, from the smallest id to the greatest."""
    order: Ints = pc.sort_indices(ids.take(pa.array(code))).to_numpy()
    return order


def _urgency(priorities: Ints) -> Ints:
    """Least for the highest priority; a minus would overflow at the lowest."""
    return ~priorities


def _sorted_within(event: Ints, code: Ints, by_rank: Ints, subscriptions: int) -> Ints:
    """The codes, those of each event by rank; `event` ascends already.

    Event and rank make one number, and from the sorted numbers the codes are read again: far
    cheaper than to sort positions. It goes by some events at a time, so that the numbers stay in
    the cache and fit into 32 bits, unless events that matched are very far apart.
    """
    bits = (len(by_rank) - 1).bit_length()
    span = int(event[-1] - event[0]) + 1
    step = max(1, min(span * _SLICE // len(code), 1 << (62 - bits)))
    kind = np.uint32 if step << bits <= 1 << 32 else np.int64
    rank = np.empty(subscriptions, kind)
    rank[by_rank] = np.arange(len(by_rank), dtype=kind)
    ordered = np.empty(len(code), np.int64)
    cuts = event.searchsorted(np.arange(event[0], event[-1] + 1, step)).tolist()
    for low, high in pairwise([*cuts, len(code)]):
        if low < high:
            keys = (event[low:high] - event[low]).astype(kind)
            keys <<= kind(bits)
            keys |= rank[code[low:high]]
            keys.sort()
            keys &= kind((1 << bits) - 1)
            ordered[low:high] = by_rank[keys]
    return ordered
