"""What `tamis serve` runs: a NATS server if there is none, and a broker, until told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from tamis.broker.broker import Broker
from tamis.broker.config import ServerConfig
from tamis.broker.connection import connected
from tamis.broker.server import Server, answers
from tamis.broker.settings import Settings


async def serve(
    settings: Settings,
    *,
    url: str | None = None,
    server: ServerConfig | None = None,
    say: Callable[[str], None] = lambda text: None,
    ready: Callable[[str], None] = lambda url: None,
    **options: Any,
) -> Broker:
    """Serve until SIGINT or SIGTERM, or until the broker fails.

    Args:
        settings: Of the broker.
        url: The NATS server to join; None to start one, or to join the one that is there.
        server: What a server that is started is told.
        say: Told what happens.
        ready: Called with the address of the NATS server, once the broker serves.
        **options: For the connection, as `nats.connect` takes them.

    Returns:
        The broker, which has stopped.

    Raises:
        BrokerError: NATS cannot be started or reached, or refuses.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        if url is None:
            assert server is not None
            url = f"nats://{server.host}:{server.port}"
            if await asyncio.to_thread(answers, server.host, server.port):
                say(f"joining the NATS server at {url}")
            else:
                await stack.enter_async_context(Server(server))
                say(f"started a NATS server at {url}, which keeps everything in {server.store}")
        connection = await connected(url, name="tamis broker", **options)
        stack.push_async_callback(connection.close)
        broker = Broker(connection, settings)
        async with broker:
            ready(url)
            failed = asyncio.ensure_future(broker.failed())
            stopped = asyncio.ensure_future(stop.wait())
            await asyncio.wait([failed, stopped], return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if failed.done():
                failed.result()
            failed.cancel()
            say("draining")
        return broker
