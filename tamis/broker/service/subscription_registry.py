"""The subscriptions of the bucket, indexed: every broker has them all.

A broker reads the whole bucket when it starts, and again whenever its consumer was lost; then it
follows the changes. All work on the index is done by one thread, that which also judges events, so
an event is judged by the subscriptions of exactly one revision.
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
    """A subscription, as the bucket has it.

    Attributes:
        subscriber: Whose it is.
        id: What the subscriber calls it.
        selector: As it was written.
        priority: The higher, the earlier.
        since: The last event that was stored when it was made; a sequence sees only later ones.
        ttl: How long it lives from its revision on, in seconds; None for ever.
        revision: When it last changed: its number in the bucket.
        token: The id as JSON in ASCII, for headers.
        renewed: Whether it was written again since, to live on.
        is_sequence: Whether it is one, which other hands judge.
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
        """Its key in the bucket."""
        return key_of(self.subscriber, self.id)


class Listener(Protocol):
    """Who is told of each change, on the executor."""

    def add_subscription(self, key: str, subscription: Subscription) -> None:
        """A subscription is there, or another one under its key."""

    def remove_subscription(self, key: str) -> None:
        """It is gone, if it was there."""


class Register(BucketFollower):
    """All subscriptions by key, in a matcher.

    Attributes:
        matcher: Those that are no sequences; to be used on the executor only.
        entries: All, by key.
        revision: The last change that is in it.
        sequences: Those that are sequences, by key.
        of_subscriber: The keys of each subscriber, with what they stand for.
        refused: Keys of the bucket that are no good subscriptions, and why.
        ready: Set when all that was in the bucket at the start is in it.
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
        """All subscriptions of a subscriber, by id."""
        # A copy, as the other thread may be at work.
        found = self.of_subscriber.get(subscriber, {}).copy()
        return sorted(found.values(), key=lambda entry: entry.id)

    def subscription_count(self, subscriber: str) -> int:
        """How many subscriptions a subscriber has."""
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
        told = decode_object(data)
        entry = Entry(
            subscriber,
            id,
            told["selector"],
            told.get("priority", 0),
            told.get("since", 0),
            told.get("ttl"),
            revision,
            json.dumps(id),
            told.get("renewed", False),
        )
        old = self.entries.get(key)
        if old is not None and (old.selector, old.priority) == (entry.selector, entry.priority):
            if not old.is_sequence or old.since == entry.since:  # it lives on, that is all
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
        theirs = self.of_subscriber[entry.subscriber]
        del theirs[key]
        if not theirs:
            del self.of_subscriber[entry.subscriber]
        if entry.is_sequence:
            del self.sequences[key]
        else:
            self.matcher.remove(key)
        if self._listener is not None:
            self._listener.remove_subscription(key)
