"""The subscriptions of the bucket, indexed: every broker has them all.

A broker reads the whole bucket when it starts, and again whenever its consumer was lost; then it
follows the changes. All work on the index is done by one thread, that which also judges events, so
an event is judged by the subscriptions of exactly one revision.
"""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from nats.aio.msg import Msg

from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.follow import SnapshotEnd, follow_bucket
from tamis.broker.protocol.names import Names, key_of, parts_of
from tamis.broker.protocol.wire import MARKER, OPERATION, decode_object, place_of
from tamis.engines.subscription import Subscription
from tamis.errors import TamisError
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


class Register:
    """All subscriptions by key, in a matcher.

    Attributes:
        matcher: Those that are no sequences; to be used on the executor only.
        entries: All, by key.
        revision: The last change that is in it.
        sequences: Those that are sequences, by key.
        of_subscriber: The keys of each subscriber, with what they stand for.
        refused: Keys of the bucket that are no good subscriptions, and why.
        ready: Set when all that was in the bucket at the start is in it.
        listener: Who is told of each change, if anybody is.
    """

    def __init__(
        self,
        connection: Connection,
        names: Names,
        matcher: Matcher,
        executor: Executor,
    ) -> None:
        """Begin with none.

        Args:
            connection: To NATS.
            names: All names.
            matcher: An empty one.
            executor: With one thread.
        """
        self._connection = connection
        self._stream = names.bucket_stream(names.subscriptions)
        self._subjects = names.bucket_subject(names.subscriptions, ">")
        self._skip = len(self._subjects) - 1
        self._executor = executor
        self.matcher = matcher
        self.entries: dict[str, Entry] = {}
        self.sequences: dict[str, Entry] = {}
        self.of_subscriber: dict[str, dict[str, Entry]] = {}
        self.refused: dict[str, str] = {}
        self.revision = 0
        self.ready = asyncio.Event()
        self.listener: Listener | None = None
        self._moved = asyncio.Condition()

    async def run(self) -> None:
        """Follow the bucket, for ever."""
        loop = asyncio.get_running_loop()
        async for news in follow_bucket(self._connection, self._stream, self._subjects):
            if isinstance(news, SnapshotEnd):
                await loop.run_in_executor(self._executor, self._keep_only, news.keys)
                self.ready.set()
            else:
                await loop.run_in_executor(self._executor, self._apply, news)
            async with self._moved:
                self._moved.notify_all()

    async def wait_for_revision(self, revision: int) -> None:
        """Wait until a change is in it."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.revision >= revision)

    def entries_of(self, subscriber: str) -> list[Entry]:
        """All subscriptions of a subscriber, by id."""
        # A copy, as the other thread may be at work.
        found = self.of_subscriber.get(subscriber, {}).copy()
        return sorted(found.values(), key=lambda entry: entry.id)

    def subscription_count(self, subscriber: str) -> int:
        """How many subscriptions a subscriber has."""
        return len(self.of_subscriber.get(subscriber, ()))

    # -- on the executor --------------------------------------------------------------------------

    def _apply(self, messages: list[Msg]) -> None:
        for message in messages:
            revision = place_of(message.reply).sequence
            key = message.subject[self._skip :]
            headers = message.headers or {}
            try:
                if OPERATION in headers or MARKER in headers:
                    self._remove(key)
                else:
                    self._put(key, message.data, revision)
                self.refused.pop(key, None)
            except (TamisError, ValueError, TypeError, KeyError) as error:
                # Nobody but brokers writes here; what somebody wrote all the same harms nobody.
                log.warning("subscription %s: %s", key, error)
                self._remove(key)
                self.refused[key] = str(error)
            self.revision = max(self.revision, revision)

    def _put(self, key: str, data: bytes, revision: int) -> None:
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
        matcher = self.matcher
        prepared = Subscription.of(
            key, entry.selector, entry.priority, matcher.schema, matcher.semantics
        )
        entry.is_sequence = isinstance(prepared.selector, Sequence)
        self._remove(key)
        if entry.is_sequence:
            self.sequences[key] = entry
        else:
            matcher.add(key, entry.selector, entry.priority)
        self.entries[key] = entry
        self.of_subscriber.setdefault(subscriber, {})[key] = entry
        if self.listener is not None:
            self.listener.add_subscription(key, prepared)

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
        if self.listener is not None:
            self.listener.remove_subscription(key)

    def _keep_only(self, keys: set[str]) -> None:
        for key in [key for key in self.entries if key not in keys]:
            self._remove(key)
