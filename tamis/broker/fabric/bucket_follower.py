"""The base class of the in-memory views of NATS key-value buckets."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from concurrent.futures import Executor
from typing import Any

import msgspec
from nats.aio.msg import Msg

from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.follow import SnapshotEnd, follow_bucket
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import is_delete_marker, place_of
from tamis.errors import TamisError


class BucketFollower(ABC):
    """Keeps a view of a bucket up to date.

    It reads the whole bucket when it starts, and again whenever its consumer is lost; in between it
    follows the changes. Every change is applied on the executor, which has one thread, so code that
    runs there sees the bucket as of exactly one revision.

    Attributes:
        revision: The last revision that has been applied.
        ready: Set once the initial contents of the bucket have been applied.
    """

    def __init__(
        self, connection: Connection, names: Names, bucket: str, executor: Executor
    ) -> None:
        """Start with an empty view; `run` fills it.

        Args:
            connection: The connection to NATS.
            names: The names of the system.
            bucket: The bucket to follow.
            executor: An executor with one thread.
        """
        self._connection = connection
        self._executor = executor
        self._stream = names.bucket_stream(bucket)
        self._subjects = names.bucket_subject(bucket, ">")
        self._skip = len(self._subjects) - 1
        self._moved = asyncio.Condition()
        self.revision = 0
        self.ready = asyncio.Event()

    async def run(self) -> None:
        """Follow the bucket until cancelled."""
        async for news in follow_bucket(self._connection, self._stream, self._subjects):
            if isinstance(news, SnapshotEnd):
                await self.run_on_executor(self._keep_only, news.keys)
                self.ready.set()
            else:
                await self.run_on_executor(self._apply, news)
            async with self._moved:
                self._moved.notify_all()

    async def wait_for_revision(self, revision: int) -> None:
        """Wait until a revision of the bucket has been applied."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.revision >= revision)

    async def run_on_executor(self, work: Callable[..., Any], *args: object) -> Any:
        """Call a function on the thread that applies changes, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)

    # -- on the executor --------------------------------------------------------------------------

    def _apply(self, messages: list[Msg]) -> None:
        for message in messages:
            key, revision = message.subject[self._skip :], place_of(message.reply).sequence
            try:
                if is_delete_marker(message.headers):
                    self._delete(key)
                else:
                    self._put(key, message.data, revision)
            except (TamisError, msgspec.DecodeError, ValueError, TypeError, KeyError) as error:
                # Only brokers and links write here. Anything else must not stop the follower.
                self._reject(key, error)
            self.revision = max(self.revision, revision)

    def _keep_only(self, keys: set[str]) -> None:
        """Delete the keys that a snapshot of the bucket does not have."""
        for key in [key for key in self._held_keys() if key not in keys]:
            self._delete(key)

    @abstractmethod
    def _held_keys(self) -> Collection[str]:
        """Return the keys that the view has."""

    @abstractmethod
    def _put(self, key: str, data: bytes, revision: int) -> None:
        """Apply a new value of a key."""

    @abstractmethod
    def _delete(self, key: str) -> None:
        """Apply the deletion of a key, which the view may not have."""

    def _reject(self, key: str, error: Exception) -> None:
        """Handle an entry that cannot be applied."""
        log.warning("%s: %s", key, error)
