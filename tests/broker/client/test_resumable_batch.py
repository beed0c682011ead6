"""A part of a batch that is published several times stores each of its events once."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tamis.broker.client.resumable_batch import OutgoingEvent, PartPublisher
from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import Connection, open_connection
from tamis.broker.fabric.stream_ranges import Ranges
from tamis.broker.fabric.streams import prepare
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError
from tests.broker.conftest import Nats, run

WINDOW = 0.1  # the shortest that NATS accepts


@asynccontextmanager
async def ready(nats: Nats, prefix: str, window: float = WINDOW) -> AsyncIterator[Connection]:
    connection = await open_connection(nats.url)
    try:
        settings = Settings(prefix=prefix, dedupe=window)
        await prepare(connection.nats.jetstream(), Names(prefix), settings)
        yield connection
    finally:
        await connection.close()


async def stored(connection: Connection, names: Names) -> Counter[bytes]:
    async with Ranges(connection, names.event_stream) as ranges:
        last = (await ranges.state()).last
        return Counter([one.data async for some in ranges.read(1, last + 1) for one in some])


def test_a_batch_published_again_in_any_order_is_stored_once(
    shared_nats: Nats, prefix: str
) -> None:
    draw, names = random.Random(3), Names(prefix)

    async def work() -> None:
        expected = Counter[bytes]()
        async with ready(shared_nats, prefix) as connection:
            for batch in range(4):
                # Equal events are stored as often as they are published in the part.
                rows = [OutgoingEvent(b'{"n": %d}' % draw.randrange(60)) for _ in range(100)]
                expected.update(row.data for row in rows)
                for attempt in (0, 0, 30, 70, 100, 100):
                    draw.shuffle(rows)
                    async with PartPublisher(connection, names, "w", batch, 0) as part:
                        await part.publish(rows[: attempt // 2])
                        await part.publish(rows[attempt // 2 : attempt])
                    await asyncio.sleep(1.5 * WINDOW)
                assert (part.published_count, part.repeated_count) == (100, 100)
            assert await stored(connection, names) == expected

    run(work())


def test_parts_batches_and_writers_are_apart(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with ready(shared_nats, prefix, window=60) as connection:
            for writer, batch, number in [("v", 0, 0), ("w", 0, 0), ("w", 0, 1), ("w", 1, 0)] * 2:
                async with PartPublisher(connection, names, writer, batch, number) as part:
                    await part.publish([OutgoingEvent(b"{}")])
            assert await stored(connection, names) == {b"{}": 4}
            with pytest.raises(BrokerError, match="a writer must be 1 to 64 letters"):
                PartPublisher(connection, names, "a.b", 0, 0)

    run(work())


def test_events_may_have_their_own_ids_and_ttls(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with ready(shared_nats, prefix) as connection:
            rows = [
                OutgoingEvent(b"1", "one", 3600.0),
                OutgoingEvent(b"2", "two"),
                OutgoingEvent(b"3", "one"),
            ]
            for _ in range(2):
                async with PartPublisher(connection, names, "w", 5, 2) as part:
                    await part.publish(rows)
                await asyncio.sleep(1.5 * WINDOW)
            async with Ranges(connection, names.event_stream) as ranges:
                (some,) = [some async for some in ranges.read(1, 9)]
            assert [(one.data, one.headers.get("Nats-TTL")) for one in some] == [
                (b"1", "3600"),
                (b"2", None),
            ]
            assert {one.subject for one in some} == {f"{prefix}.events.w.2"}
            with pytest.raises(BrokerError, match="ttl must be a number of seconds, 1 or more"):
                async with PartPublisher(connection, names, "w", 6, 2) as part:
                    await part.publish([OutgoingEvent(b"1", ttl=0.5)])

    run(work())


def test_a_message_that_nats_does_not_accept_is_an_error(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with ready(shared_nats, prefix) as connection:
            async with PartPublisher(connection, names, "w", 0, 0) as part:
                with pytest.raises(BrokerError, match="NATS does not accept the message"):
                    await part.publish([OutgoingEvent(b"{}"), OutgoingEvent(b"x" * 2_000_000)])
            with pytest.raises(BrokerError, match="there is no stream NOBODY_EVENTS"):
                async with PartPublisher(connection, Names("nobody"), "w", 0, 0, timeout=0.3):
                    pass

    run(work())
