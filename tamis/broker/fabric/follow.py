"""Read a stream in order from a given place on; a lost consumer is recreated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import BadRequestError

from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.pull import Pull

_PAUSE = 0.2
_INACTIVE = 60.0
_IDLE = 5.0


class ReadStart:
    """Reading starts with a new consumer.

    Attributes:
        pending: How many stored messages the consumer delivers first.
    """

    def __init__(self, pending: int) -> None:
        """Set the number of stored messages."""
        self.pending = pending


async def follow_stream(
    connection: Connection,
    stream: str,
    start: Callable[[], ConsumerConfig],
    *,
    batch: int = 1000,
    wait: float = 0.0,
) -> AsyncGenerator[ReadStart | list[Msg], None]:
    """Yield messages in batches, and a `ReadStart` before the first and after each new consumer.

    Args:
        connection: The connection to NATS.
        stream: The stream.
        start: Returns where to start, for each new consumer: see `start_at_sequence` and
            `latest_per_subject`.
        batch: The most messages in a batch.
        wait: How many seconds to wait for more messages once there is one.
    """
    js = connection.nats.jetstream()

    async def make() -> tuple[str, int]:
        info = await js.add_consumer(stream, ephemeral_consumer(start()))
        return info.name, info.num_pending or 0

    async def exists(name: str) -> bool:
        return await has_consumer(js, stream, name)

    reading = follow_consumer(connection, stream, make, exists, batch=batch, wait=wait)
    async with aclosing(reading):
        async for news in reading:
            yield news


async def _assume_exists(name: str) -> bool:
    """Return True: NATS answers every pull request to a missing consumer with an error."""
    return True


async def follow_consumer(
    connection: Connection,
    stream: str,
    make: Callable[[], Awaitable[tuple[str, int]]],
    exists: Callable[[str], Awaitable[bool]] = _assume_exists,
    *,
    batch: int = 1000,
    wait: float = 0.0,
) -> AsyncGenerator[ReadStart | list[Msg], None]:
    """Yield messages like `follow_stream`, with consumers that the caller creates.

    Args:
        connection: The connection to NATS.
        stream: The stream.
        make: Creates a consumer; returns its name and how many stored messages it delivers first.
        exists: Returns whether a consumer still exists; called when no message arrives.
        batch: The most messages in a batch.
        wait: How many seconds to wait for more messages once there is one.
    """
    while not connection.nats.is_closed:
        try:
            name, pending = await make()
        except BadRequestError:
            raise
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot read %s, retrying: %s", stream, error)
            await asyncio.sleep(_PAUSE)
            continue
        yield ReadStart(pending)
        expected = 1
        async with Pull(connection, stream, name, 2 * batch) as pull:
            while True:
                taken = await pull.take(batch, wait, timeout=_IDLE)
                if not taken:
                    if pull.gone or not await exists(name):
                        break
                    continue
                good = _messages_before_gap(taken, expected)
                expected += len(good)
                if good:
                    yield good
                if len(good) < len(taken):  # a message was lost
                    break


class SnapshotEnd:
    """All entries that the bucket had when reading started have been yielded.

    Attributes:
        keys: The keys of these entries.
    """

    def __init__(self, keys: set[str]) -> None:
        """Set the keys."""
        self.keys = keys


async def follow_bucket(
    connection: Connection, stream: str, subjects: str
) -> AsyncGenerator[SnapshotEnd | list[Msg], None]:
    """Yield the latest message of each subject, then all new messages, in batches.

    A `SnapshotEnd` follows the last stored message: a key that it does not have is not in the
    bucket.

    Args:
        connection: The connection to NATS.
        stream: The stream of the bucket.
        subjects: A prefix and `>`; the part of a subject that `>` matches is the key.
    """
    reading = follow_stream(connection, stream, lambda: latest_per_subject(subjects))
    async with aclosing(mark_snapshots(reading, len(subjects) - 1)) as news:
        async for each in news:
            yield each


async def mark_snapshots(
    reading: AsyncGenerator[ReadStart | list[Msg], None], skip: int
) -> AsyncGenerator[SnapshotEnd | list[Msg], None]:
    """Add a `SnapshotEnd` to messages that are being read.

    Args:
        reading: The latest message of each subject, then all new messages.
        skip: The length of the prefix of a subject, before the key.
    """
    left, seen = 0, set[str]()
    async with aclosing(reading):
        async for news in reading:
            if isinstance(news, ReadStart):
                left, seen = news.pending, set()
            else:
                yield news
                if left <= 0:
                    continue
                seen.update(message.subject[skip:] for message in news)
                left -= len(news)
            if left <= 0:
                yield SnapshotEnd(seen)
                left, seen = 0, set()


def start_at_sequence(sequence: int) -> ConsumerConfig:
    """Return the configuration of a consumer that starts at a sequence."""
    return ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=max(1, sequence)
    )


def latest_per_subject(subjects: str) -> ConsumerConfig:
    """Return the configuration of a consumer of the latest message per subject and all new ones."""
    return ConsumerConfig(deliver_policy=DeliverPolicy.LAST_PER_SUBJECT, filter_subject=subjects)


def ephemeral_consumer(start: ConsumerConfig) -> ConsumerConfig:
    """Return the configuration of a consumer that NATS removes when no client pulls."""
    return start.evolve(
        ack_policy=AckPolicy.NONE,
        inactive_threshold=_INACTIVE,
        mem_storage=True,
        num_replicas=1,
    )


async def has_consumer(js: JetStreamContext, stream: str, name: str) -> bool:
    """Return whether a consumer exists; False also if NATS does not answer."""
    try:
        await js.consumer_info(stream, name)
    except (NatsError, OSError, TimeoutError):
        return False
    return True


def _messages_before_gap(taken: list[Msg], expected: int) -> list[Msg]:
    """Return the messages before the first gap in the sequence of the consumer."""
    for i, message in enumerate(taken):
        if message.metadata.sequence.consumer != expected + i:
            return taken[:i]
    return taken
