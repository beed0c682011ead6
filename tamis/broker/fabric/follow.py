"""A stream read in order from some place on, for ever, by a consumer that is made again if lost."""

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
    """A consumer was made: how many messages of the past it will give first."""

    def __init__(self, pending: int) -> None:
        """Take the number."""
        self.pending = pending


async def follow_stream(
    connection: Connection,
    stream: str,
    start: Callable[[], ConsumerConfig],
    *,
    batch: int = 1000,
    wait: float = 0.0,
) -> AsyncGenerator[ReadStart | list[Msg], None]:
    """Messages in batches, and, before them and each time that reading begins anew, where it is.

    Args:
        connection: To NATS.
        stream: The stream.
        start: Where to begin, asked each time; `from_sequence` and `latest_of_each` make it.
        batch: At most so many at a time.
        wait: How long to wait for more once there is one.
    """
    js = connection.nats.jetstream()

    async def make() -> tuple[str, int]:
        made = await js.add_consumer(stream, ephemeral_consumer(start()))
        return made.name, made.num_pending or 0

    async def exists(name: str) -> bool:
        return await has_consumer(js, stream, name)

    reading = follow_consumer(connection, stream, make, exists, batch=batch, wait=wait)
    async with aclosing(reading):
        async for news in reading:
            yield news


async def _assume_exists(name: str) -> bool:
    """NATS says to whoever pulls that a consumer is gone, and repeats it."""
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
    """The same, with consumers that somebody else makes.

    Args:
        connection: To NATS.
        stream: The stream.
        make: Makes a consumer; gives its name, and how many messages of the past it will give.
        exists: Whether it is still there; asked when nothing comes.
        batch: At most so many at a time.
        wait: How long to wait for more once there is one.
    """
    while not connection.nats.is_closed:
        try:
            name, pending = await make()
        except BadRequestError:
            raise
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot read %s yet: %s", stream, error)
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
                if len(good) < len(taken):  # something was lost on the way
                    break


class SnapshotEnd:
    """All that was there when reading began has been given: its keys."""

    def __init__(self, keys: set[str]) -> None:
        """Take the keys."""
        self.keys = keys


async def follow_bucket(
    connection: Connection, stream: str, subjects: str
) -> AsyncGenerator[SnapshotEnd | list[Msg], None]:
    """The latest message of each subject, and then all new ones, in batches, for ever.

    Whenever the past has been given, `Whole` follows: what is not among its keys is not there.

    Args:
        connection: To NATS.
        stream: The stream.
        subjects: A prefix and `>`; what stands for that in a subject is a key.
    """
    reading = follow_stream(connection, stream, lambda: latest_per_subject(subjects))
    async with aclosing(mark_snapshots(reading, len(subjects) - 1)) as news:
        async for each in news:
            yield each


async def mark_snapshots(
    reading: AsyncGenerator[ReadStart | list[Msg], None], skip: int
) -> AsyncGenerator[SnapshotEnd | list[Msg], None]:
    """The same, of what is read already.

    Args:
        reading: The latest message of each subject, and then all new ones.
        skip: How many characters of a subject come before the key.
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
    """All messages from a place on."""
    return ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=max(1, sequence)
    )


def latest_per_subject(subjects: str) -> ConsumerConfig:
    """The latest message of each subject, and then all new ones."""
    return ConsumerConfig(deliver_policy=DeliverPolicy.LAST_PER_SUBJECT, filter_subject=subjects)


def ephemeral_consumer(start: ConsumerConfig) -> ConsumerConfig:
    """A consumer that goes by itself when nobody pulls."""
    return start.evolve(
        ack_policy=AckPolicy.NONE,
        inactive_threshold=_INACTIVE,
        mem_storage=True,
        num_replicas=1,
    )


async def has_consumer(js: JetStreamContext, stream: str, name: str) -> bool:
    """Whether NATS has a consumer, as far as it says."""
    try:
        await js.consumer_info(stream, name)
    except (NatsError, OSError, TimeoutError):
        return False
    return True


def _messages_before_gap(taken: list[Msg], expected: int) -> list[Msg]:
    """Those before the first gap in what the consumer has numbered."""
    for i, message in enumerate(taken):
        if message.metadata.sequence.consumer != expected + i:
            return taken[:i]
    return taken
