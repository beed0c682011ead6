"""An index of the subscriptions in the bucket; every broker has all of them.

The thread that changes the index also matches events, so an event is matched against the
subscriptions of exactly one revision.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from tamis.broker.fabric.bucket_follower import BucketFollower
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.protocol.names import Names, key_of, parts_of
from tamis.broker.protocol.wire import decode_object
from tamis.engines.subscription import Subscription
from tamis.language.expr import Sequence
from tamis.matcher import Matcher


@dataclass(slots=True)
class Entry:
    """An entry of the bucket of subscriptions.

    Attributes:
        subscriber: The subscriber.
        id: The id that the subscriber chose.
        selector: The text of the selector.
        priority: The priority; higher ones come first.
        since: The last event that was stored when the subscription was added; a sequence sees only
            later events.
        ttl: The time to live in seconds, from the revision on; None for no end.
        revision: The revision of the bucket that wrote the entry.
        token: The id as ASCII JSON, for headers.
        renewed: Whether the entry was written again to extend its time to live.
        is_sequence: Whether the selector is a sequence, which the `SequenceMatcher` matches.
    """

    subscriber: str
    id: str
    selector: str
    priority: int
    since: int
    ttl: float | None
    revision: int
    token: str
    renewed: bool = False
    is_sequence: bool = False

    @property
    def key(self) -> str:
        """The key in the bucket."""
        return key_of(self.subscriber, self.id)


class Listener(Protocol):
    """Receives each change of the subscriptions, on the executor."""

    def add_subscription(self, key: str, subscription: Subscription) -> None:
        """Add a subscription, or replace the one with its key."""

    def remove_subscription(self, key: str) -> None:
        """Remove a subscription, if there is one with this key."""


class SubscriptionRegistry(BucketFollower):
    """The subscriptions of the bucket, by key and in a matcher.

    Attributes:
        matcher: The subscriptions that are not sequences; use it on the executor only.
        entries: All entries by key.
        sequences: The entries that are sequences, by key.
        of_subscriber: The entries of each subscriber, by key.
        refused: Keys of entries that are not valid subscriptions, with the reason.
        revision: The last revision that has been applied.
        ready: Set once the initial contents of the bucket have been applied.
    """

    def __init__(
        self,
        connection: Connection,
        names: Names,
        matcher: Matcher,
        executor: Executor,
        listener: Listener | None = None,
    ) -> None:
        """Start without subscriptions; `run` reads them.

        Args:
            connection: The connection to NATS.
            names: The names of the system.
            matcher: An empty matcher.
            executor: An executor with one thread.
            listener: Called on each change, on the executor.
        """
        super().__init__(connection, names, names.subscriptions, executor)
        self.matcher = matcher
        self.entries: dict[str, Entry] = {}
        self.sequences: dict[str, Entry] = {}
        self.of_subscriber: dict[str, dict[str, Entry]] = {}
        self.refused: dict[str, str] = {}
        self._listener = listener
        self._offered: dict[str, Subscription] = {}

    def offer(self, subscription: Subscription) -> None:
        """Hand over a parsed subscription whose entry is about to be written to the bucket.

        When that entry comes back it is not parsed again. Its id is its key in the bucket.
        """
        self._offered[str(subscription.id)] = subscription

    def withdraw(self, keys: Iterable[str]) -> None:
        """Forget what was offered under some keys, if it was not needed."""
        for key in keys:
            self._offered.pop(key, None)

    def entries_of(self, subscriber: str) -> list[Entry]:
        """Return the subscriptions of a subscriber, ordered by id."""
        # A copy, as the executor may change it meanwhile.
        entries = self.of_subscriber.get(subscriber, {}).copy()
        return sorted(entries.values(), key=lambda entry: entry.id)

    def subscription_count(self, subscriber: str) -> int:
        """Return how many subscriptions a subscriber has."""
        return len(self.of_subscriber.get(subscriber, ()))

    # -- on the executor --------------------------------------------------------------------------

    def _held_keys(self) -> Collection[str]:
        return self.entries

    def _put(self, key: str, data: bytes, revision: int) -> None:
        self._index(key, data, revision)
        self.refused.pop(key, None)

    def _delete(self, key: str) -> None:
        self._remove(key)
        self.refused.pop(key, None)

    def _reject(self, key: str, error: Exception) -> None:
        log.warning("subscription %s: %s", key, error)
        self._remove(key)
        self.refused[key] = str(error)

    def _index(self, key: str, data: bytes, revision: int) -> None:
        subscriber, id = parts_of(key)
        fields = decode_object(data)
        entry = Entry(
            subscriber,
            id,
            fields["selector"],
            fields.get("priority", 0),
            fields.get("since", 0),
            fields.get("ttl"),
            revision,
            json.dumps(id),
            fields.get("renewed", False),
        )
        old = self.entries.get(key)
        if old is not None and (old.selector, old.priority) == (entry.selector, entry.priority):
            # Only its time to live was extended.
            if not old.is_sequence or old.since == entry.since:
                old.revision, old.ttl, old.renewed = revision, entry.ttl, entry.renewed
                return
        subscription = self._parse(key, entry)
        entry.is_sequence = isinstance(subscription.selector, Sequence)
        self._remove(key)
        if entry.is_sequence:
            self.sequences[key] = entry
        else:
            self.matcher.add_subscription(subscription)
        self.entries[key] = entry
        self.of_subscriber.setdefault(subscriber, {})[key] = entry
        if self._listener is not None:
            self._listener.add_subscription(key, subscription)

    def _parse(self, key: str, entry: Entry) -> Subscription:
        offered = self._offered.pop(key, None)
        if offered is not None and (offered.text, offered.priority) == (
            entry.selector,
            entry.priority,
        ):
            return offered
        matcher = self.matcher
        return Subscription.of(
            key, entry.selector, entry.priority, matcher.schema, matcher.semantics
        )

    def _remove(self, key: str) -> None:
        entry = self.entries.pop(key, None)
        if entry is None:
            return
        others = self.of_subscriber[entry.subscriber]
        del others[key]
        if not others:
            del self.of_subscriber[entry.subscriber]
        if entry.is_sequence:
            del self.sequences[key]
        else:
            self.matcher.remove(key)
        if self._listener is not None:
            self._listener.remove_subscription(key)
