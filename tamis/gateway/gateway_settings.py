"""The settings of the gateway."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class GatewaySettings:
    """The settings of the gateway; times are in seconds.

    Attributes:
        host: The address to listen on; the loopback interface by default.
        port: The port; 0 for any free port.
        certificate: The certificate file, or None for no TLS.
        key: The key file of the certificate.
        body: The largest request body, in bytes.
        arrival: How long a request may take to arrive.
        timeout: How long a broker may take to answer.
        connections: The most concurrent connections.
        streams: The most concurrent streams of deliveries.
        streams_each: The most concurrent streams of one subscriber.
        ping: The interval of keep-alive comments in a stream without deliveries.
        stuck: How long a client may read nothing before its stream is closed.
        work: How long an explain or lint request may take.
        work_memory: The most memory of such a request, in bytes.
        work_queue: The most such requests that wait.
        lint_limit: The most subscriptions in one lint request.
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
