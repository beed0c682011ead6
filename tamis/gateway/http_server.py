"""Run the HTTP server in the process of a broker."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from tamis.broker.security.exposure import check_exposed
from tamis.broker.security.guard import UsersFile
from tamis.broker.service.broker import Broker
from tamis.errors import BrokerError
from tamis.gateway.app import application
from tamis.gateway.context import GatewayContext
from tamis.gateway.gateway_settings import GatewaySettings
from tamis.gateway.head_timeout import HeadTimeout


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the process that runs the broker handles signals


@asynccontextmanager
async def gateway(
    broker: Broker, settings: GatewaySettings, file: UsersFile | None
) -> AsyncIterator[str]:
    """Serve HTTP inside the block; yield the address.

    Args:
        broker: The broker.
        settings: The settings of the gateway.
        file: The users, or None for no authentication, which is allowed on the loopback interface
            only.

    Raises:
        BrokerError: The gateway would be open to everybody, or cannot listen.
    """
    check_exposed(settings.host, file is not None, "HTTP")
    listening = _bind_socket(settings.host, settings.port)
    async with GatewayContext(broker, settings, file) as context:
        try:
            config = uvicorn.Config(
                application(context),
                http=HeadTimeout.with_timeout(settings.arrival),
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=settings.connections,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=2,
                ssl_certfile=settings.certificate,
                ssl_keyfile=settings.key,
            )
            config.load()
        except OSError as error:  # ssl.SSLError is one
            listening.close()
            raise BrokerError(
                f"{settings.certificate}: cannot load the certificate: {error}", "tls"
            ) from None
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            host, port = listening.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            yield f"{'https' if settings.certificate else 'http'}://{shown}:{port}"
        finally:
            server.should_exit = True
            await asyncio.wait([serving])
            listening.close()


def _bind_socket(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = addresses[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise BrokerError(
            f"cannot listen on {host}:{port}: {error.strerror or error}", "taken"
        ) from None
    return listening
