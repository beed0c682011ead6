"""Publish batches of events so that a batch published again is stored once.

A writer publishes one batch after the other, each in parts. A part that fails halfway is published
again from the start, possibly with its rows in another order, possibly hours later. Therefore

- an event has an id made of its writer, batch, part and content, or an id of its own. NATS
  remembers ids for its duplicate window, two minutes by default;
- a part has its own subject, and its events carry the number of their batch and the sequence after
  which the part began. When a part starts it reads the latest event of its subject: if that belongs
  to the same batch, the part reads its stored events and skips them. This works for as long as
  events are kept.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import xxhash

from tamis.broker.config.limits import check_ttl
from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.fabric.stream_ranges import Ranges
from tamis.broker.protocol.names import Names, checked_name
from tamis.broker.protocol.time_to_live import ttl_headers
from tamis.broker.protocol.wire import AFTER, BATCH, MSG_ID
from tamis.errors import BrokerError


class OutgoingEvent(NamedTuple):
    """An event to publish, with an optional id and an optional time to live in seconds."""

    data: bytes
    id: str | None = None
    ttl: float | None = None


class PartPublisher:
    """Publishes one part of one batch; an async context manager.

    Attributes:
        published_count: The number of events that are stored.
        repeated_count: The number of them that were stored already.
    """

    def __init__(
        self,
        connection: Connection,
        names: Names,
        writer: str,
        batch: int,
        part: int,
        timeout: float = 30.0,
    ) -> None:
        """Choose the part.

        Args:
            connection: The connection to NATS, which the caller closes.
            names: The names of the system.
            writer: The name of the writer; use the same name when you publish a batch again.
            batch: The number of the batch.
            part: The number of the part.
            timeout: How many seconds NATS may be unreachable before an error is raised.

        Raises:
            BrokerError: The writer is not a valid name.
        """
        checked_name(writer, "writer")
        self._connection = connection
        self._stream = names.event_stream
        self._subject = names.events_of(writer, part)
        self._name = f"{writer}.{batch}.{part}"
        self._batch = str(batch)
        self._timeout = timeout
        self._seen = Counter[int]()
        self._stored: set[str] = set()
        self.published_count = self.repeated_count = 0

    async def __aenter__(self) -> PartPublisher:
        """Look up which events of the part are stored already.

        Raises:
            BrokerError: The stream does not exist, or NATS does not answer.
        """
        async with Ranges(self._connection, self._stream, self._subject, self._timeout) as ranges:
            latest = await ranges.latest(self._subject)
            self._after = "0" if latest is None else str(latest.sequence)
            if latest is not None and latest.headers.get(BATCH) == self._batch:
                self._after = latest.headers.get(AFTER, "0")
                async for some in ranges.read(int(self._after) + 1, latest.sequence + 1):
                    self._stored.update(stored.headers.get(MSG_ID, "") for stored in some)
        self._publisher = Publisher(self._connection)
        await self._publisher.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop publishing."""
        await self._publisher.__aexit__()

    async def publish(self, rows: Iterable[OutgoingEvent]) -> None:
        """Publish events of the part, and wait until they are stored.

        Raises:
            BrokerError: One of the events cannot be stored; those before and after it may be.
        """
        group = PublishGroup()
        try:
            for row in rows:
                self.published_count += 1
                id = self._id(row.data) if row.id is None else row.id
                if id in self._stored:
                    self.repeated_count += 1
                    continue
                check_ttl(row.ttl)
                headers = {MSG_ID: id, BATCH: self._batch, AFTER: self._after}
                headers |= ttl_headers(row.ttl)
                if self._publisher.is_full:
                    await asyncio.wait_for(self._publisher.wait_for_room(), self._timeout)
                await self._publisher.publish(group, self._subject, row.data, headers)
            await asyncio.wait_for(group.wait_confirmed(), self._timeout)
        except TimeoutError:
            self._publisher.abandon(group)
            why = group.trouble or "NATS does not answer"
            raise BrokerError(f"cannot publish: {why}", "timeout") from None
        group.check()
        self.repeated_count += group.duplicates

    def _id(self, data: bytes) -> str:
        """Return an id made of the content, as the order of the rows may differ the next time."""
        content = xxhash.xxh3_64_intdigest(data)
        self._seen[content] += 1
        return f"{self._name}.{content:016x}.{self._seen[content]}"
