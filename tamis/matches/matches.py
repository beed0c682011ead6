"""The result of matching a batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.errors import InputError
from tamis.matches.best import best_of_both, best_of_pairs
from tamis.matches.bitmaps import bitmaps
from tamis.matches.code_names import Id, Ints, SubscriptionTable, ids_array
from tamis.matches.pairs import Pairs, are_few, sort_pairs
from tamis.matches.tiles import Tiles

if TYPE_CHECKING:
    from pyroaring import BitMap

_NOTHING = np.zeros(0, np.int64)
_NO_TILES = Tiles(_NOTHING, _NOTHING, np.zeros((0, 1), np.uint64))


class _PairsAndTiles(NamedTuple):
    """All matches: pairs and tiles."""

    pairs: Pairs
    tiles: Tiles


class Matches:
    """Pairs (event, subscription), by event, then highest priority first, then by id.

    The order depends neither on the engine nor on the order in which subscriptions were added.
    Matches are sorted when the order is first needed; `len`, `counts`, `event_counts`, `limited`
    and `bitmaps` do not need it. If the engine returned masks, these do not create pairs either.

    Attributes:
        events: The number of events that were matched.
        event: Per pair, the position of the event in its batch.
        subscription: Per pair, the id of the subscription.
        priority: Per pair, the priority of the subscription.
    """

    def __init__(
        self,
        events: int,
        event: Ints,
        code: Ints,
        ids: pa.Array,
        priorities: Ints,
        tiles: Tiles | None = None,
    ) -> None:
        """Take the pairs that an engine found, in any order.

        The arrays are kept, not copied: the engine must not change them. Sorting is fastest if
        they are ordered by event, and within an event by code.

        Args:
            events: The number of events that were matched.
            event: Per pair, the position of the event.
            code: Per pair, the position of the subscription in `ids`.
            ids: The ids by code, all int64 or all string.
            priorities: The priority of each of `ids`.
            tiles: Further matches, as masks, in any order. No match occurs twice in the pairs and
                tiles, and none is of an event beyond the last.
        """
        self.events = events
        self._subscriptions = SubscriptionTable(ids, priorities)
        # Replaced as a whole by the sorted one, so that threads never see a mix of both.
        self._found = _PairsAndTiles(Pairs(event, code, ordered=len(code) < 2), tiles or _NO_TILES)

    @property
    def event(self) -> Ints:
        """Per pair, the position of the event in its batch."""
        return self._ordered_pairs().event

    @property
    def subscription(self) -> npt.NDArray[Any]:
        """Per pair, the id of the subscription."""
        return self._subscriptions.ids_of(self._ordered_pairs().code)

    @property
    def priority(self) -> Ints:
        """Per pair, the priority of the subscription."""
        return self._subscriptions.priorities[self._ordered_pairs().code]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return self._length

    @cached_property
    def _length(self) -> int:
        pairs, tiles = self._found
        return len(pairs.code) + int(tiles.sizes().sum())

    def __iter__(self) -> Iterator[tuple[int, Id]]:
        """Iterate over the pairs (event, id) in order."""
        event, code, _ = self._ordered_pairs()
        return zip(event.tolist(), self._subscriptions.ids_of(code).tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same matches, whatever engine they are from."""
        if not isinstance(other, Matches):
            return NotImplemented
        if self.events != other.events or len(self) != len(other):
            return False
        return bool(self.to_arrow().equals(other.to_arrow()))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the numbers of pairs and events."""
        return f"<Matches: {len(self)} pairs of {self.events} events>"

    def of_event(self, event: int) -> list[Id]:
        """Return the ids that one event matched, highest priority first.

        For all events, `per_event` is faster.

        Raises:
            InputError: The position is out of range.
        """
        if not 0 <= event < self.events:
            raise InputError(
                f"there is no event {event} among {self.events}, which are counted from 0"
            )
        pairs, tiles = self._found
        if len(tiles.code):  # sorting all matches would turn the tiles into pairs
            mixed = np.concatenate([pairs.code[pairs.event == event], tiles.codes_of(event)])
            code = self._subscriptions.ranked_codes(mixed)
        else:
            pairs = self._ordered_pairs()
            low, high = pairs.event.searchsorted((event, event + 1))
            code = pairs.code[low:high]
        found: list[Id] = self._subscriptions.ids_of(code).tolist()
        return found

    def per_event(self) -> list[list[Id]]:
        """Return the ids that each event matched, highest priority first."""
        pairs = self._ordered_pairs()
        ids = self._subscriptions.ids_of(pairs.code).tolist()
        bounds = pairs.event.searchsorted(np.arange(self.events + 1)).tolist()
        return [ids[low:high] for low, high in pairwise(bounds)]

    def counts(self) -> dict[Id, int]:
        """Return the number of events that each subscription matched, without zeros."""
        matched, totals = self._code_counts()
        names = self._subscriptions.ids_of(matched).tolist()
        return dict(zip(names, totals.tolist(), strict=True))

    def event_counts(self) -> Ints:
        """Return the number of subscriptions that each event matched."""
        pairs, tiles = self._found
        counts = np.bincount(pairs.event, minlength=self.events).astype(np.int64, copy=False)
        return counts + tiles.event_counts(self.events) if len(tiles.code) else counts

    def bitmaps(self) -> dict[Id, BitMap]:
        """Return the events that each subscription matched; omit those that matched none.

        The bitmaps are Roaring bitmaps of the package pyroaring: sets with fast union,
        intersection and counting.

        >>> import tamis
        >>> m = tamis.Matcher()
        >>> m.add("cheap", "price < 10")
        >>> m.add("paris", "city = 'Paris'")
        >>> found = m.match_batch([{"price": 5, "city": "Paris"}, {"price": 7}])
        >>> found.bitmaps()["cheap"] & found.bitmaps()["paris"]
        BitMap([0])

        Raises:
            InputError: There are more than 2 ** 32 events.
        """
        counts, size = self._code_counts(), len(self._subscriptions.ids)
        by_code = bitmaps(self.events, *self._found, counts, size)
        return dict(zip(self._subscriptions.ids_of(counts[0]).tolist(), by_code, strict=True))

    def limited(self, limit: int) -> Matches:
        """Return only the first `limit` matches of each event: those of highest priority."""
        pairs, tiles = self._found
        limit = min(max(limit, 0), len(self._subscriptions.ids))
        if limit == len(self._subscriptions.ids):
            return self
        if limit == 0:
            return self._with_pairs(Pairs(_NOTHING, _NOTHING, ordered=True))
        if len(tiles.code):
            both = best_of_both(self.events, pairs, tiles, limit, self._subscriptions)
            return self._with_pairs(both)
        counts = self.event_counts()
        if counts.max(initial=0) <= limit:
            return self
        return self._with_pairs(best_of_pairs(pairs, counts, limit, self._subscriptions))

    def also(self, event: list[int], ids: list[Id], priorities: list[int]) -> Matches:
        """Return these matches and further ones, of subscriptions that are not in these.

        Args:
            event: Per match, the position of the event; each pair of event and id is unique.
            ids: Per match, the id of the subscription.
            priorities: Per match, the priority of the subscription.
        """
        if not ids:
            return self
        pairs, tiles = self._found
        old = self._subscriptions
        added = dict(zip(ids, priorities, strict=True))
        code = {id: len(old.ids) + i for i, id in enumerate(added)}
        more = ids_array(list(added))
        # If all ids are null, their type was a guess.
        known = old.ids.null_count < len(old.ids)
        before = old.ids if known else pa.nulls(len(old.ids), more.type)
        return Matches(
            self.events,
            np.concatenate([pairs.event, np.array(event, np.int64)]),
            np.concatenate([pairs.code, np.array([code[id] for id in ids], np.int64)]),
            pa.concat_arrays([before, more.cast(before.type)]),
            np.concatenate([old.priorities, np.array(list(added.values()), np.int64)]),
            tiles,
        )

    def to_arrow(self) -> pa.Table:
        """Return the pairs as a table with the columns event, subscription and priority."""
        event, code, _ = self._ordered_pairs()
        ids, priorities = self._subscriptions
        return pa.table(
            {
                "event": pa.array(event, pa.int64()),
                "subscription": ids.take(pa.array(code)),
                "priority": pa.array(priorities[code], pa.int64()),
            }
        )

    def _code_counts(self) -> tuple[Ints, Ints]:
        """Return the codes that matched any event, and how many events each matched."""
        pairs, tiles = self._found
        if are_few(pairs.code, self._subscriptions) and not len(tiles.code):
            return np.unique(pairs.code, return_counts=True)
        size = len(self._subscriptions.ids)
        totals = np.bincount(pairs.code, minlength=size) + tiles.code_counts(size)
        matched = np.flatnonzero(totals)
        return matched, totals[matched]

    def _with_pairs(self, pairs: Pairs) -> Matches:
        few = Matches(self.events, pairs.event, pairs.code, *self._subscriptions)
        few._found = _PairsAndTiles(pairs, _NO_TILES)
        return few

    def _ordered_pairs(self) -> Pairs:
        pairs, tiles = self._found
        if pairs.ordered and not len(tiles.code):
            return pairs
        if len(tiles.code):
            pairs = best_of_both(self.events, pairs, tiles, None, self._subscriptions)
        else:
            pairs = sort_pairs(pairs, self._subscriptions)
        self._found = _PairsAndTiles(pairs, _NO_TILES)
        return pairs
