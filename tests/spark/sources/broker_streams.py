"""Streams of brokers for tests: create, fill and read them without Spark."""

import json
from collections.abc import Iterable
from typing import Any

import tamis
from tamis.broker.client.broker_access import BrokerReader, ConnectionSettings
from tamis.broker.client.loop_thread import LoopThread
from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.streams import prepare
from tamis.broker.protocol.names import Names


def prepared(url: str, prefix: str, **settings: Any) -> None:
    """Create the streams, without a broker."""

    async def work() -> None:
        connection = await open_connection(url)
        await prepare(
            connection.nats.jetstream(), Names(prefix), Settings(prefix=prefix, **settings)
        )
        await connection.close()

    on_a_loop(work())


def purged(url: str, stream: str, before: int) -> None:
    """Remove the messages before a sequence."""

    async def work() -> None:
        connection = await open_connection(url)
        await connection.nats.jetstream().purge_stream(stream, seq=before)
        await connection.close()

    on_a_loop(work())


def on_a_loop(work: Any) -> None:
    loop = LoopThread()
    try:
        loop.run(work)
    finally:
        loop.end()


def published(url: str, prefix: str, events: Iterable[Any]) -> list[int]:
    with tamis.connect(url, prefix=prefix) as client:
        return client.publish_many(events)


def stored(url: str, prefix: str) -> list[dict[str, Any]]:
    """Return all stored events, in order."""
    with BrokerReader(ConnectionSettings(url=url, prefix=prefix)) as reading:
        last = reading.state().last
        return [json.loads(one.data) for some in reading.read(1, last + 1) for one in some]
