"""A delivery, as a subscriber receives it."""

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
    """An event that matched; acknowledge it once you have processed it.

    Attributes:
        data: The event as it was published.
        delivery: The sequence number of this delivery in the stream of deliveries.
        sequence: The sequence number of the event in its stream.
        subscriptions: The ids of the matching subscriptions, highest priority first.
        left_out: How many matching ids are missing from `subscriptions` for lack of space.
        priority: The highest priority among them.
        revision: The revision of the subscriptions against which the event was matched.
        time: When the event was stored, in seconds since 1970.
        origin: In an overlay, the node where the event was published and its number there.
        published: In an overlay, when it was stored there, in seconds since 1970.
        redelivered: Whether you may have seen this delivery before: it was sent to this subscriber
            and not acknowledged, or a broker had to match the event again.
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
            message: The message of NATS.
            connection: The connection to NATS.
            acked: Called when the message is acknowledged.

        Raises:
            BrokerError: The message is not a delivery of a broker.
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
            raise BrokerError(
                f"the message is not a delivery of a broker: {error!r}", "message"
            ) from error
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
        """Acknowledge the delivery, so that it is not sent again."""
        await self._send_ack(b"+ACK")
        self._acked(self)

    async def nak(self, delay: float = 0.0) -> None:
        """Have the delivery sent again, after a delay in seconds."""
        payload = b"-NAK" if not delay else b'-NAK {"delay": %d}' % int(delay * 1e9)
        await self._send_ack(payload)

    async def working(self) -> None:
        """Extend the time to acknowledge, so that the delivery is not sent again meanwhile."""
        await self._send_ack(b"+WPI")

    async def _send_ack(self, payload: bytes) -> None:
        try:
            await self._connection.nats.publish(self._reply, payload)
        except NatsError as error:
            raise BrokerError(f"cannot acknowledge the delivery: {error}", "unreachable") from error

    def __repr__(self) -> str:
        """Return a short description."""
        again = ", redelivered" if self.redelivered else ""
        return f"<Message: event {self.sequence} for {self.subscriptions}{again}>"
