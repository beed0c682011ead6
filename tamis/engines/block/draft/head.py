"""Subscriptions that are in no segment that stays yet.

Each is in the draft at once. The next match makes a small segment of it, the *tail*, and another
one when there are more; when the tail is large enough it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tamis.engines.block.draft.draft import Draft
from tamis.engines.block.id_table import tag_of
from tamis.engines.block.layout.rules import prune_rules
from tamis.engines.block.report.costs import carry_over
from tamis.engines.block.segment.ledger import Ledger
from tamis.engines.block.segment.segment import EventSample, Segment, numbers_of
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.matches import Id
from tamis.predicates import PredicateIndex

# A draft of so many subscriptions becomes a segment that stays.
_SEALED = 4096
# It is begun again when so many in it have been removed, and most of it.
_IDLE = 64


class PendingSubscriptions:
    """A draft and its tail. Whoever calls a method that changes it holds the engine's lock.

    Attributes:
        tail: The segment of those that were in the draft at the last match, if there were any.
    """

    def __init__(self, terms: Terms, index: PredicateIndex) -> None:
        """Begin with none."""
        self._terms, self._index = terms, index
        self.clear()

    def clear(self) -> None:
        """Begin again with none; the tail goes on to whoever has taken it."""
        self._draft = Draft(self._terms)
        # By record: ids, texts and priorities. The trees are not needed any more.
        self._drafted: list[tuple[Id, str, int]] = []
        self._places: dict[Id, int] = {}
        self.tail: Segment | None = None

    def __len__(self) -> int:
        """How many subscriptions there are, without those removed."""
        return len(self._places)

    def __contains__(self, id: Id) -> bool:
        """Whether a subscription is here."""
        return id in self._places

    def __iter__(self) -> Iterator[Id]:
        """The ids in the order of adding."""
        return iter(self._places)

    @property
    def is_full(self) -> bool:
        """Whether there are enough for a segment that stays."""
        return len(self._drafted) >= _SEALED

    @property
    def has_room(self) -> bool:
        """Whether another subscription may be added."""
        return not self.is_full and self._draft.has_room

    def place(self, id: Id) -> int:
        """The record in the tail of a subscription that is here."""
        return self._places[id]

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of a subscription that is here as it was written, and its priority."""
        return self._drafted[self._places[id]][1:]

    def add(self, subscription: Subscription) -> None:
        """Take a subscription.

        Raises:
            TooLarge: It takes too many words; nothing has been added.
        """
        self._draft.add(subscription)
        self._places[subscription.id] = len(self._drafted)
        self._drafted.append((subscription.id, subscription.text, subscription.priority))

    def remove(self, id: Id) -> None:
        """Forget a subscription that is here."""
        place = self._places.pop(id)
        if self.tail is not None and place < len(self.tail.ledger):
            self.tail.alive[place] = 0
            self.tail.dead += 1
        # When none is left, the next ids may be of the other kind.
        if not self._places or len(self._drafted) > _IDLE + 4 * len(self._places):
            self._redraft()

    def forget_removed(self) -> None:
        """Begin again without those that were removed, if there are any."""
        if len(self._drafted) > len(self._places):
            self._redraft()

    def _redraft(self) -> None:
        """Begin the draft again, with those that have not been removed."""
        places = list(self._places.values())
        draft, kept = self._draft.select(places), [self._drafted[place] for place in places]
        if self.tail is not None:
            self.tail.release_predicates(self._index)
        self.clear()
        self._draft, self._drafted = draft, kept
        self._places = {id: place for place, (id, _, _) in enumerate(kept)}

    def is_behind(self, events_known: bool) -> bool:
        """Whether the tail is not what it would be if it were made now."""
        if self.tail is None:
            return bool(self._drafted)
        if len(self.tail.ledger) < len(self._drafted):
            return True
        return events_known and not self.tail.informed

    def catch_up(self, sample: Callable[[], EventSample | None]) -> None:
        """Make the tail anew of all that is in the draft.

        Args:
            sample: What is known of events, as soon as all predicates have numbers.
        """
        drafted = self._drafted
        ids, texts, priorities = zip(*drafted, strict=True)
        ledger = Ledger.of(ids, texts, priorities, [tag_of(id) for id in ids])
        rules = prune_rules(self._draft.rules())
        numbers = numbers_of(rules.predicates, self._index)
        tail = Segment.of(ledger, rules, sample())
        tail.numbers = numbers
        alive = np.zeros(len(drafted), np.uint8)
        alive[list(self._places.values())] = 1
        tail.alive, tail.dead = alive, len(drafted) - len(self._places)
        if self.tail is not None:
            carry_over(self.tail, tail, np.arange(len(self.tail.ledger)), 0)
            self.tail.release_predicates(self._index)
        self.tail = tail
