"""Read the deliveries of a subscriber, and acknowledge them by id, for the HTTP gateway.

The acknowledgement id of a delivery holds everything that NATS needs, so any process can
acknowledge it, even one that has never seen the delivery.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from tamis.broker.client.message import Message
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.follow import ReadStart, follow_stream, start_at_sequence
from tamis.broker.fabric.pull import Pull
from tamis.broker.fabric.request import ask
from tamis.broker.fabric.streams import MOST_OPEN
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import place_of
from tamis.errors import BrokerError

# Small, as events may be large and there may be many readers.
_AHEAD = 32
_ACK_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery and the id that acknowledges it.

    Attributes:
        ack_id: The acknowledgement id; it starts with the sequence in the stream of deliveries.
        place: The sequence in the stream of deliveries.
        message: The event and the subscriptions that it matches.
    """

    ack_id: str
    place: int
    message: Message


class Reader:
    """Reads the unacknowledged deliveries of a subscriber; an async context manager."""

    def __init__(
        self, connection: Connection, names: Names, subscriber: str, timeout: float
    ) -> None:
        """Choose the subscriber."""
        self._connection = connection
        self._names = names
        self._subscriber = subscriber
        self._timeout = timeout
        self._stack = AsyncExitStack()
        self._open: dict[int, str] = {}  # reply subjects by sequence

    async def __aenter__(self) -> Reader:
        """Open the consumer of the subscriber.

        Raises:
            BrokerError: No broker answers.
        """
        await ask(self._connection, self._names, self._subscriber, "open", {}, self._timeout)
        pull = Pull(self._connection, self._names.delivery_stream, self._subscriber, _AHEAD)
        self._pull = await self._stack.enter_async_context(pull)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Return unacknowledged deliveries to NATS, so that the next reader gets them at once."""
        await self._pull.stop()
        try:
            left = [message.reply for message in await self._pull.take(2 * _AHEAD, 0, 0)]
            for reply in (*self._open.values(), *left):
                await self._connection.nats.publish(reply, b"-NAK")
        except NatsError as error:
            log.debug("cannot return deliveries, NATS redelivers them later: %s", error)
        await self._stack.aclose()

    async def is_subscriber_gone(self) -> bool:
        """Return whether the subscriber was closed; call it when no delivery arrives."""
        # Always asked: NATS reports it only once to a pull request, which may have been missed, and
        # a pull request may also fail for another reason.
        js = self._connection.nats.jetstream()
        try:
            await js.consumer_info(self._names.delivery_stream, self._subscriber)
        except NotFoundError:
            return True
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot look up the consumer of %s: %s", self._subscriber, error)
        return False

    async def take(self, limit: int, timeout: float) -> list[Delivery]:
        """Return the next deliveries; an empty list if none arrives in time.

        Args:
            limit: The most deliveries to return.
            timeout: How long to wait for the first one, in seconds.
        """
        taken = []
        for message in await self._pull.take(limit, 0, timeout):
            delivery = _delivery(message, self._connection)
            if delivery is None:
                await self._connection.nats.publish(message.reply, b"+TERM")
                continue
            self._open[delivery.place] = message.reply
            if len(self._open) > MOST_OPEN:  # acknowledged elsewhere, or NATS would have stopped
                del self._open[next(iter(self._open))]
            taken.append(delivery)
        return taken

    async def acknowledge(self, deliveries: list[Delivery]) -> None:
        """Acknowledge deliveries."""
        for delivery in deliveries:
            self._open.pop(delivery.place, None)
            await delivery.message.ack()

    async def missed_deliveries(self, ack_id: str) -> AsyncIterator[list[Delivery]]:
        """Yield the deliveries after one that were sent to a reader before.

        Args:
            ack_id: The acknowledgement id of the last delivery that arrived.

        Raises:
            BrokerError: The id is not one of a delivery, or NATS does not answer.
        """
        stream = self._names.delivery_stream
        js = self._connection.nats.jetstream()
        try:
            info = await js.consumer_info(stream, self._subscriber)
        except (NatsError, OSError, TimeoutError) as error:
            raise BrokerError(f"NATS does not answer: {error!r}", "unreachable") from error
        last = info.delivered.stream_seq if info.delivered else 0
        after = place_of_ack_id(ack_id)
        if after >= last:
            return
        start = start_at_sequence(after + 1)
        start.filter_subject = self._names.deliveries_to(self._subscriber)
        left = 0
        async with aclosing(follow_stream(self._connection, stream, lambda: start)) as news:
            async for some in news:
                if isinstance(some, ReadStart):
                    left = some.pending
                else:
                    left -= len(some)
                    found = [_delivery(message, self._connection) for message in some]
                    yield [
                        replace(each, ack_id=f"{each.place}-0-0")
                        for each in found
                        if each is not None and each.place <= last
                    ]
                    if place_of(some[-1].reply).sequence >= last:
                        return
                if left <= 0:
                    return


async def acknowledge(
    connection: Connection, names: Names, subscriber: str, ack_ids: list[str]
) -> None:
    """Acknowledge deliveries of a subscriber by their ids.

    Raises:
        BrokerError: One of the ids is invalid, and nothing is acknowledged; or NATS does not
            answer.
    """
    replies = []
    for ack_id in ack_ids:
        place, number, times = _parse_ack_id(ack_id)
        replies.append(f"$JS.ACK.{names.delivery_stream}.{subscriber}.{times}.{place}.{number}.0.0")
    try:
        for reply in replies:
            await connection.nats.publish(reply, b"+ACK")
        await connection.nats.flush()
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(f"NATS does not answer: {error!r}", "unreachable") from error


def place_of_ack_id(ack_id: str) -> int:
    """Return the sequence of a delivery in the stream of deliveries.

    Raises:
        BrokerError: The id is not one of a delivery.
    """
    return _parse_ack_id(ack_id)[0]


def _parse_ack_id(ack_id: object) -> tuple[int, int, int]:
    found = _ACK_ID.fullmatch(ack_id) if isinstance(ack_id, str) else None
    if found is None:
        raise BrokerError(f"{ack_id!r:.60} is not the id of a delivery", "request")
    place, number, times = map(int, found.groups())
    return place, number, times


def _delivery(message: Msg, connection: Connection) -> Delivery | None:
    place = place_of(message.reply)
    number = message.metadata.sequence.consumer
    try:
        read = Message(message, connection, lambda _: None)
    except BrokerError as error:
        log.warning("%s", error)
        return None
    return Delivery(f"{place.sequence}-{number}-{place.delivered}", place.sequence, read)
