"""How a broker is reached from elsewhere, without `await`: ranges read, parts of batches published.

For what runs in many places, as Spark's tasks do: a `Reach` is small, and can be pickled.
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

# How a client may show who it is; files are read where it connects.
LOGIN = ("token", "user", "password", "credentials", "nkey", "tlsCa", "tlsCert", "tlsKey")
_CONNECTING = 10.0


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    """Where a broker is, and who we are.

    Attributes:
        url: Of the NATS server; several with commas between them.
        prefix: What the names of the brokers begin with.
        timeout: How many seconds NATS may be away before that is an error.
        login: `token`; `user` and `password`; `credentials`, a file; `nkey`, a file with the seed;
            `tlsCa`, `tlsCert` and `tlsKey`, files.
    """

    url: str = DEFAULT_URL
    prefix: str = DEFAULT_PREFIX
    timeout: float = 30.0
    login: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> Names:
        """What everything is called there."""
        return Names(self.prefix)

    def options(self) -> dict[str, Any]:
        """What `nats.connect` is to be told.

        Raises:
            BrokerError: A file cannot be read.
        """
        given = dict(self.login)
        names = {"credentials": "user_credentials", "nkey": "nkeys_seed"}
        told: dict[str, Any] = {
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
                raise BrokerError(f"the files for TLS cannot be used: {error}", "auth") from error
            told["tls"] = context
        return told


class _SyncConnection:
    """For `with`: a connection, on a loop of its own."""

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
        reach = self._settings
        wait = min(_CONNECTING, reach.timeout)
        connection = await open_connection(reach.url, name=name, wait=wait, **reach.options())
        self._stack.push_async_callback(connection.close)
        self._connection = connection

    def close(self) -> None:
        """Hang up."""
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
    """For `with`: a reader of events, or of a subscriber's deliveries; see `Ranges`."""

    def __init__(self, settings: ConnectionSettings, subscriber: str | None = None) -> None:
        """Say what is read.

        Args:
            settings: Where.
            subscriber: Whose deliveries; None for all events.

        Raises:
            BrokerError: It is no subscriber.
        """
        super().__init__(settings)
        names = settings.names
        self._what: tuple[str, str | None] = (names.event_stream, None)
        if subscriber is not None:
            subject = names.deliveries_to(checked_name(subscriber))
            self._what = (names.delivery_stream, subject)

    def __enter__(self) -> BrokerReader:
        """Connect.

        Raises:
            BrokerError: No server answers, or it refuses us.
        """
        self._open("tamis reader")
        return self

    async def _enter(self, name: str) -> None:
        await super()._enter(name)
        ranges = Ranges(self._connection, *self._what, timeout=self._settings.timeout)
        self._ranges = await self._stack.enter_async_context(ranges)

    def state(self) -> StreamState:
        """How far the stream goes now."""
        return self._loop.run(self._ranges.state())

    def first_since(self, time: datetime) -> int | None:
        """The sequence of the first message that was stored at a time or later, if there is one."""
        return self._loop.run(self._ranges.first_since(time))

    def stop_after(self, start: int, rows: int, last: int) -> int:
        """Where to stop so that at most so many messages are read, and not many fewer."""
        return self._loop.run(self._ranges.stop_after(start, rows, last))

    def first_remaining(self, start: int) -> int | None:
        """The first sequence that is left, if messages from a sequence on are gone."""
        return self._loop.run(self._ranges.first_remaining(start))

    def read(self, start: int, stop: int) -> Iterator[list[StoredMessage]]:
        """The messages from one sequence up to another, which does not belong to them."""
        coming = self._ranges.read(start, stop)

        async def next_batch() -> list[StoredMessage] | None:
            return await anext(coming, None)

        while (found := self._loop.run(next_batch())) is not None:
            yield found


class BrokerWriter(_SyncConnection):
    """For `with`: publishes one part of one batch; see `tamis.broker.client.resumable_batch`."""

    def __init__(self, settings: ConnectionSettings, writer: str, batch: int, part: int) -> None:
        """Name the part."""
        super().__init__(settings)
        self._named = (writer, batch, part)

    def __enter__(self) -> BrokerWriter:
        """Connect, and find out what is stored of it already.

        Raises:
            BrokerError: No server answers, or it refuses us.
        """
        self._open("tamis writer")
        return self

    async def _enter(self, name: str) -> None:
        await super()._enter(name)
        reach = self._settings
        part = PartPublisher(self._connection, reach.names, *self._named, timeout=reach.timeout)
        self._part = await self._stack.enter_async_context(part)

    def publish(self, rows: list[OutgoingEvent]) -> None:
        """Publish some of its events, and wait until they are stored."""
        self._loop.run(self._part.publish(rows))

    @property
    def published_count(self) -> int:
        """How many events were stored."""
        return self._part.published_count

    @property
    def repeated_count(self) -> int:
        """How many of them were there already."""
        return self._part.repeated_count
