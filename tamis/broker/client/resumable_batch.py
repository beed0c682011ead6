"""Publishing a batch of events that may be published again, and is stored once.

A writer publishes batch after batch, each in parts. What has failed in the middle is done again
from the start, maybe with the rows in another order, maybe hours later. So

- an event has an id made of its writer, batch, part and content (or one that it brings along): NATS
  knows ids for as long as its duplicate window, two minutes unless told otherwise;
- a part has a subject of its own, and its events name their batch, and the sequence after which it
  began. A part that begins looks at the latest of them: if that is of the same batch, what is
  stored of it is read, and left out. This holds for as long as events are kept.
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
    """An event to be published, with an id if it has one, and the seconds that it lives."""

    data: bytes
    id: str | None = None
    ttl: float | None = None


class PartPublisher:
    """For `async with`: one part of one batch.

    Attributes:
        published: How many events were stored.
        repeated: How many of them were there already.
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
        """Name it.

        Args:
            connection: To NATS; it stays the caller's.
            names: What everything is called.
            writer: Who writes; the same one again for what is to be stored once.
            batch: The number of the batch.
            part: The number of the part.
            timeout: How many seconds NATS may be away before that is an error.

        Raises:
            BrokerError: The writer is no name.
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
        """Find out what is stored of it already.

        Raises:
            BrokerError: There is no stream, or NATS does not answer.
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
        """Stop."""
        await self._publisher.__aexit__()

    async def publish(self, rows: Iterable[OutgoingEvent]) -> None:
        """Publish some of its events, and wait until they are stored.

        Raises:
            BrokerError: One of them cannot be stored; those before and after it may be.
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
        """By content, and not by place: the order of rows may be another one the next time."""
        content = xxhash.xxh3_64_intdigest(data)
        self._seen[content] += 1
        return f"{self._name}.{content:016x}.{self._seen[content]}"
