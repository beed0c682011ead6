"""Pending subscriptions: those that are in no segment of the stack yet.

They go into a draft. The next match builds a small segment from it, the *tail*, and builds it again
when the draft has grown. When the draft is large enough, its tail joins the stack.
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

# A draft of this many subscriptions becomes a segment of the stack.
_SEALED = 4096
# The draft is rebuilt when more than this many and most of its subscriptions have been removed.
_IDLE = 64


class PendingSubscriptions:
    """A draft and its tail. Callers of methods that change it hold the engine's lock.

    Attributes:
        tail: The segment of the draft as of the last match; None if the draft was empty.
    """

    def __init__(self, terms: Terms, index: PredicateIndex) -> None:
        """Create an empty draft."""
        self._terms, self._index = terms, index
        self.clear()

    def clear(self) -> None:
        """Start an empty draft. The tail, if the stack has taken it, is not affected."""
        self._draft = Draft(self._terms)
        # By record: id, text and priority. The syntax tree is not needed any more.
        self._drafted: list[tuple[Id, str, int]] = []
        self._places: dict[Id, int] = {}
        self.tail: Segment | None = None

    def __len__(self) -> int:
        """Return the number of subscriptions, without those removed."""
        return len(self._places)

    def __contains__(self, id: Id) -> bool:
        """Return whether a subscription is pending."""
        return id in self._places

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in insertion order."""
        return iter(self._places)

    @property
    def is_full(self) -> bool:
        """Whether the draft is large enough to be sealed."""
        return len(self._drafted) >= _SEALED

    @property
    def has_room(self) -> bool:
        """Whether another subscription may be added."""
        return not self.is_full and self._draft.has_room

    def place(self, id: Id) -> int:
        """Return the record of a pending subscription in the tail."""
        return self._places[id]

    def text(self, id: Id) -> tuple[str, int]:
        """Return the selector of a pending subscription as it was written, and its priority."""
        return self._drafted[self._places[id]][1:]

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            TooManyWords: It takes too many words; nothing has been added.
        """
        self._draft.add(subscription)
        self._places[subscription.id] = len(self._drafted)
        self._drafted.append((subscription.id, subscription.text, subscription.priority))

    def remove(self, id: Id) -> None:
        """Remove a pending subscription."""
        place = self._places.pop(id)
        if self.tail is not None and place < len(self.tail.ledger):
            self.tail.alive[place] = 0
            self.tail.dead += 1
        # When none is left, the next ids may be of the other type (integers or texts).
        if not self._places or len(self._drafted) > _IDLE + 4 * len(self._places):
            self._redraft()

    def forget_removed(self) -> None:
        """Rebuild the draft without the removed subscriptions, if there are any."""
        if len(self._drafted) > len(self._places):
            self._redraft()

    def _redraft(self) -> None:
        """Rebuild the draft from the subscriptions that have not been removed."""
        places = list(self._places.values())
        draft, kept = self._draft.select(places), [self._drafted[place] for place in places]
        if self.tail is not None:
            self.tail.release_predicates(self._index)
        self.clear()
        self._draft, self._drafted = draft, kept
        self._places = {id: place for place, (id, _, _) in enumerate(kept)}

    def is_behind(self, events_known: bool) -> bool:
        """Return whether the tail must be rebuilt: the draft has grown, or events are known now."""
        if self.tail is None:
            return bool(self._drafted)
        if len(self.tail.ledger) < len(self._drafted):
            return True
        return events_known and not self.tail.informed

    def catch_up(self, sample: Callable[[], EventSample | None]) -> None:
        """Rebuild the tail from the whole draft.

        Args:
            sample: Returns the sample of events; called after all predicates have numbers.
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
