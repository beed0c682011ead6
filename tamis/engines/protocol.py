"""What an engine is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol, runtime_checkable

from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
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


@runtime_checkable
class RecordingEngine(Protocol):
    """An engine that keeps what it was given as text, so that nobody else need keep it."""

    def text(self, id: Id) -> tuple[str, int]:
        """The selector of an id as it was written, and its priority.

        Raises:
            KeyError: There is no such subscription. `remove` raises it too.
        """

    def __contains__(self, id: Id) -> bool:
        """Whether there is a subscription of that id."""

    def __iter__(self) -> Iterator[Id]:
        """The ids, in the order of adding."""

    def __len__(self) -> int:
        """How many subscriptions there are."""


@runtime_checkable
class SingleEventEngine(Protocol):
    """An engine with a quicker way for one event."""

    def match_event(self, event: Mapping[str, object]) -> list[Id] | None:
        """The ids that an event matches, in the order of an answer; None to have `match` asked."""


@runtime_checkable
class MatchCountEngine(Protocol):
    """An engine that can count without keeping what it found."""

    def counts(self, batch: EventBatch) -> dict[Id, int]:
        """How many events of the batch each subscription matches, for those that match any."""
