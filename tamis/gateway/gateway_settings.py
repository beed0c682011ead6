"""What a gateway can be told."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class GatewaySettings:
    """How a gateway works; times are in seconds.

    Attributes:
        host: Where it listens; the loopback unless told otherwise.
        port: Its port; 0 for any that is free.
        certificate: A file, or None for no TLS.
        key: Its key.
        body: Bytes of a request.
        arrival: How long a request may take to arrive.
        timeout: How long a broker may take to answer.
        connections: At most so many at a time.
        streams: So many of them may wait for deliveries.
        streams_each: So many of one subscriber.
        ping: After so long without a delivery a stream says that it is alive.
        stuck: A reader that takes nothing for so long is sent away.
        work: How long an explanation or the findings about a set may take.
        work_memory: Bytes that they may take.
        work_queue: At most so many of them wait.
        lint_limit: Subscriptions that are looked at together.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: str | None = None
    key: str | None = None
    body: int = MIB
    arrival: float = 10.0
    timeout: float = 10.0
    connections: int = 2000
    streams: int = 1000
    streams_each: int = 8
    ping: float = 15.0
    stuck: float = 60.0
    work: float = 10.0
    work_memory: int = 2048 * MIB
    work_queue: int = 32
    lint_limit: int = 5000
