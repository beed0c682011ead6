"""The input and output of matching: decoded events, and messages to publish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tamis.broker.protocol.wire import MessagePlace


class OutgoingMessage(NamedTuple):
    """A message to publish."""

    subject: str
    payload: bytes
    headers: dict[str, str]


class Event(NamedTuple):
    """A decoded event.

    Attributes:
        place: Its position in the stream.
        data: The event as it was published.
        row: The decoded event.
        ttl: The seconds that it has left to live; None without a time to live.
        subject: The subject on which it was published.
        headers: The headers of its message.
    """

    place: MessagePlace
    data: bytes
    row: dict[str, object]
    ttl: float | None
    subject: str
    headers: Mapping[str, str] | None = None
