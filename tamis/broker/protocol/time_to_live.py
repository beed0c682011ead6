"""The time to live of events and subscriptions, as the header `Nats-TTL` carries it; no I/O."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping

from tamis.broker.protocol.wire import TTL

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(\d+(?:\.\d*)?)(h|ms|us|µs|ns|m|s)")


def ttl_seconds(ttl: str) -> float | None:
    """Parse a time to live as NATS accepts it in a header; None for one without an end.

    >>> ttl_seconds("90"), ttl_seconds("1m30s"), ttl_seconds("never")
    (90.0, 90.0, None)
    """
    if ttl.isdigit():
        return float(ttl)
    parts = _DURATION.findall(ttl)
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else None


def remaining_ttl(
    headers: Mapping[str, str] | None, stored: int, now: int | None = None
) -> float | None:
    """Return how many seconds a message has left to live; None without a time to live.

    >>> remaining_ttl({"Nats-TTL": "90"}, stored=1_000_000_000, now=31_000_000_000)
    60.0

    Args:
        headers: The headers of the message.
        stored: When NATS stored it, in nanoseconds since 1970.
        now: The time to compare with, in the same unit; None for the current time.

    Returns:
        The remaining seconds; zero or less if the message has expired.
    """
    ttl = ttl_seconds(headers.get(TTL, "")) if headers else None
    if ttl is None:
        return None
    return ttl - ((time.time_ns() if now is None else now) - stored) / 1e9


def ttl_headers(ttl: float | None) -> dict[str, str]:
    """Return the headers of a message with a time to live that a client chose, in seconds.

    >>> ttl_headers(90.4), ttl_headers(None)
    ({'Nats-TTL': '90'}, {})
    """
    return {} if ttl is None else {TTL: str(round(ttl))}


def remaining_ttl_headers(ttl: float | None) -> dict[str, str]:
    """Return the headers of a message made from another, which had so many seconds left.

    It is rounded up to whole seconds: the copy must not expire before the original.

    >>> remaining_ttl_headers(59.2), remaining_ttl_headers(0.1), remaining_ttl_headers(None)
    ({'Nats-TTL': '60'}, {'Nats-TTL': '1'}, {})
    """
    return {} if ttl is None else {TTL: str(max(1, math.ceil(ttl)))}
