"""Synchronous access to the brokers: read ranges of a stream, publish parts of a batch.

It is made for distributed programs such as Spark tasks: `ConnectionSettings` is small and can be
pickled.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any

from tamis.broker.client.loop_thread import LoopThread
from tamis.broker.client.resumable_batch import OutgoingEvent, PartPublisher
from tamis.broker.fabric.connection import DEFAULT_URL, open_connection
from tamis.broker.fabric.stream_ranges import Ranges, StoredMessage, StreamState
from tamis.broker.protocol.names import DEFAULT_PREFIX, Names, checked_name
from tamis.errors import BrokerError

# How a client can authenticate. Files are read on the machine that connects.
LOGIN = ("token", "user", "password", "credentials", "nkey", "tlsCa", "tlsCert", "tlsKey")
_CONNECTING = 10.0


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """How to connect to the brokers.

    Attributes:
        url: The address of the NATS server, or several separated by commas.
        prefix: The prefix of the names of the brokers.
        timeout: How many seconds NATS may be unreachable before an error is raised.
        login: The credentials: `token`; `user` and `password`; `credentials`, a file; `nkey`, a
            file with the seed; `tlsCa`, `tlsCert` and `tlsKey`, files.
    """

    url: str = DEFAULT_URL
    prefix: str = DEFAULT_PREFIX
    timeout: float = 30.0
    login: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> Names:
        """The names of streams and subjects under the prefix."""
        return Names(self.prefix)

    def options(self) -> dict[str, Any]:
        """Return the options for `nats.connect`.

        Raises:
            BrokerError: A file cannot be read.
        """
        given = dict(self.login)
        names = {"credentials": "user_credentials", "nkey": "nkeys_seed"}
        options: dict[str, Any] = {
            names.get(name, name): given[name]
            for name in ("token", "user", "password", "credentials", "nkey")
            if name in given
        }
        if any(name.startswith("tls") for name in given):
            try:
                context = ssl.create_default_context(cafile=given.get("tlsCa"))
                if "tlsCert" in given:
                    context.load_cert_chain(given["tlsCert"], given.get("tlsKey"))
            except OSError as error:
                raise BrokerError(f"cannot load the TLS files: {error}", "auth") from error
            options["tls"] = context
        return options


class _SyncConnection:
    """A connection on its own event loop; a context manager."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings

    def _open(self, name: str) -> None:
        self._loop = LoopThread(name)
        self._stack = AsyncExitStack()
        try:
            self._loop.run(self._enter(name))
        except BaseException:
            self.close()
            raise

    async def _enter(self, name: str) -> None:
        settings = self._settings
        wait = min(_CONNECTING, settings.timeout)
        connection = await open_connection(settings.url, name=name, wait=wait, **settings.options())
        self._stack.push_async_callback(connection.close)
        self._connection = connection

    def close(self) -> None:
        """Close the connection."""
        try:
            self._loop.run(self._stack.aclose())
        finally:
            self._loop.end()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class BrokerReader(_SyncConnection):
    """Reads events or the deliveries of a subscriber; a context manager. See `Ranges`."""

    def __init__(self, settings: ConnectionSettings, subscriber: str | None = None) -> None:
        """Choose what to read.

        Args:
            settings: How to connect.
            subscriber: The subscriber whose deliveries to read; None for all events.

        Raises:
            BrokerError: The name of the subscriber is invalid.
        """
        super().__init__(settings)
        names = settings.names
        self._source: tuple[str, str | None] = (names.event_stream, None)
        if subscriber is not None:
            subject = names.deliveries_to(checked_name(subscriber))
            self._source = (names.delivery_stream, subject)

    def __enter__(self) -> BrokerReader:
        """Connect.

        Raises:
            BrokerError: No server answers, or it rejects the credentials.
        """
        self._open("tamis reader")
        return self

    async def _enter(self, name: str) -> None:
        await super()._enter(name)
        ranges = Ranges(self._connection, *self._source, timeout=self._settings.timeout)
        self._ranges = await self._stack.enter_async_context(ranges)

    def state(self) -> StreamState:
        """Return the current bounds of the stream."""
        return self._loop.run(self._ranges.state())

    def first_since(self, time: datetime) -> int | None:
        """Return the sequence of the first message stored at a time or later; None without one."""
        return self._loop.run(self._ranges.first_since(time))

    def stop_after(self, start: int, rows: int, last: int) -> int:
        """Return where to stop so that at most `rows` messages are read, and not many fewer."""
        return self._loop.run(self._ranges.stop_after(start, rows, last))

    def first_remaining(self, start: int) -> int | None:
        """Return the first sequence still stored, if messages from `start` on are gone."""
        return self._loop.run(self._ranges.first_remaining(start))

    def read(self, start: int, stop: int) -> Iterator[list[StoredMessage]]:
        """Yield the messages from sequence `start` up to but not including `stop`, in batches."""
        batches = self._ranges.read(start, stop)

        async def next_batch() -> list[StoredMessage] | None:
            return await anext(batches, None)

        while (batch := self._loop.run(next_batch())) is not None:
            yield batch


class BrokerWriter(_SyncConnection):
    """Publishes one part of a batch; a context manager.

    See `tamis.broker.client.resumable_batch`.
    """

    def __init__(self, settings: ConnectionSettings, writer: str, batch: int, part: int) -> None:
        """Choose the part to publish."""
        super().__init__(settings)
        self._part_name = (writer, batch, part)

    def __enter__(self) -> BrokerWriter:
        """Connect, and look up which events of the part are stored already.

        Raises:
            BrokerError: No server answers, or it rejects the credentials.
        """
        self._open("tamis writer")
        return self

    async def _enter(self, name: str) -> None:
        await super()._enter(name)
        settings = self._settings
        part = PartPublisher(
            self._connection, settings.names, *self._part_name, timeout=settings.timeout
        )
        self._part = await self._stack.enter_async_context(part)

    def publish(self, rows: list[OutgoingEvent]) -> None:
        """Publish events of the part, and wait until they are stored."""
        self._loop.run(self._part.publish(rows))

    @property
    def published_count(self) -> int:
        """The number of events that are stored."""
        return self._part.published_count

    @property
    def repeated_count(self) -> int:
        """The number of them that were stored already."""
        return self._part.repeated_count
