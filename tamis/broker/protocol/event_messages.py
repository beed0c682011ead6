"""What a judge takes and gives: events that can be judged, messages to be published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tamis.broker.protocol.wire import MessagePlace


class OutgoingMessage(NamedTuple):
    """A message to be published."""

    subject: str
    payload: bytes
    headers: dict[str, str]


class Event(NamedTuple):
    """An event that can be judged."""

    place: MessagePlace
    data: bytes
    row: dict[str, object]
    ttl: float | None
    subject: str
    headers: Mapping[str, str] | None = None
