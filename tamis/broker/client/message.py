"""A delivery, as a subscriber has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.wire import (
    AGAIN,
    EVENT,
    LEFT_OUT,
    ORIGIN,
    PRIORITY,
    PUBLISHED,
    REVISION,
    SUBSCRIPTIONS,
    TIME,
    place_of,
)
from tamis.errors import BrokerError

_decode = msgspec.json.Decoder().decode


class Message:
    """An event that matched, to be acknowledged when it has been dealt with.

    Attributes:
        data: The event as it was published.
        delivery: The number of this delivery in the stream of deliveries.
        sequence: The number of the event in its stream.
        subscriptions: The ids of the subscriptions that it matched, highest priority first.
        left_out: How many more it matched, for which there was no room.
        priority: The highest of their priorities.
        revision: The version of all subscriptions that it was judged by.
        time: When the event was stored, in seconds since 1970.
        origin: In an overlay, the node at which the event was published, and its number there.
        published: In an overlay, when it was stored there, in seconds since 1970.
        redelivered: Whether this may not be the first time: it was given to this subscriber
            before, and not acknowledged, or a broker had to judge the event again.
    """

    __slots__ = (
        "_acked",
        "_connection",
        "_reply",
        "data",
        "delivery",
        "left_out",
        "origin",
        "priority",
        "published",
        "redelivered",
        "revision",
        "sequence",
        "subscriptions",
        "time",
    )

    def __init__(
        self, message: Msg, connection: Connection, acked: Callable[[Message], None]
    ) -> None:
        """Read the headers.

        Args:
            message: As NATS gave it.
            connection: To NATS.
            acked: To be told of the acknowledgement.

        Raises:
            BrokerError: It is no delivery of a broker.
        """
        headers = message.headers or {}
        self._connection = connection
        self._acked = acked
        self._reply = message.reply
        self.data = message.data
        try:
            self.sequence = int(headers[EVENT])
            self.subscriptions: list[str] = _decode(headers[SUBSCRIPTIONS])
            self.priority = int(headers[PRIORITY])
            self.revision = int(headers[REVISION])
            self.time = int(headers[TIME]) / 1e9
        except (KeyError, ValueError) as error:
            raise BrokerError(f"not a delivery of a broker: {error!r}", "message") from error
        self.left_out = int(headers.get(LEFT_OUT, 0))
        self.origin: str | None = headers.get(ORIGIN)
        self.published = int(headers[PUBLISHED]) / 1e9 if PUBLISHED in headers else self.time
        place = place_of(message.reply)
        self.delivery = place.sequence
        self.redelivered = AGAIN in headers or place.delivered > 1

    @property
    def event(self) -> dict[str, Any]:
        """The event."""
        found: dict[str, Any] = _decode(self.data)
        return found

    async def ack(self) -> None:
        """Say that it has been dealt with; it will not come again."""
        await self._send_ack(b"+ACK")
        self._acked(self)

    async def nak(self, delay: float = 0.0) -> None:
        """Ask for it again, after some seconds."""
        told = b"-NAK" if not delay else b'-NAK {"delay": %d}' % int(delay * 1e9)
        await self._send_ack(told)

    async def working(self) -> None:
        """Say that it takes longer, so that it does not come again meanwhile."""
        await self._send_ack(b"+WPI")

    async def _send_ack(self, what: bytes) -> None:
        try:
            await self._connection.nats.publish(self._reply, what)
        except NatsError as error:
            raise BrokerError(f"cannot tell NATS: {error}", "unreachable") from error

    def __repr__(self) -> str:
        """What it is."""
        again = ", redelivered" if self.redelivered else ""
        return f"<Message: event {self.sequence} for {self.subscriptions}{again}>"
