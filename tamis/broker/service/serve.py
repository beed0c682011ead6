"""Run a broker, and a NATS server if there is none, until a signal arrives; for `tamis serve`."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from typing import Any

from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.server import Server, is_nats_listening
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.security.exposure import check_exposed
from tamis.broker.security.guard import Guard
from tamis.broker.service.broker import Broker
from tamis.broker.service.warm_up import warm

# Longer than it takes to load compiled kernels.
_NOTICE_AFTER = 5.0


async def serve(
    settings: Settings,
    *,
    url: str | None = None,
    server: ServerConfig | None = None,
    guard: Guard | None = None,
    companion: Callable[[Broker], AbstractAsyncContextManager[object]] | None = None,
    say: Callable[[str], None] = lambda text: None,
    ready: Callable[[str], None] = lambda url: None,
    **options: Any,
) -> Broker:
    """Serve until SIGINT or SIGTERM, or until the broker fails.

    Args:
        settings: The settings of the broker.
        url: The NATS server to join; None to start one, or to join one that runs at the address of
            `server`.
        server: The configuration of a server that is started.
        guard: The users and the certificate of that server; None for no authentication.
        companion: Makes a context manager that runs beside the broker, such as an HTTP server.
        say: Called with progress messages.
        ready: Called with the address of the NATS server once the broker serves.
        **options: Options of `nats.connect`.

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
            if guard is not None:
                server = replace(server, sections=(*server.sections, *guard.sections()))
                options = guard.options() | options
            check_exposed(server.host, guard is not None and guard.file is not None, "NATS")
            own = Server(server)
            url = own.url
            if await asyncio.to_thread(is_nats_listening, own.connect_host, server.port):
                say(f"joining the NATS server at {url}")
            else:
                await stack.enter_async_context(own)
                say(f"started a NATS server at {url}, which stores its data in {server.store}")
                if guard is not None:
                    watching = asyncio.create_task(guard.watch(own.reload))
                    stack.callback(watching.cancel)
        connection = await open_connection(url, name="tamis broker", **options)
        stack.push_async_callback(connection.close)
        await _warm_kernels(settings, say)
        broker = Broker(connection, settings)
        async with broker, companion(broker) if companion is not None else nullcontext():
            ready(url)
            failed = asyncio.ensure_future(broker.wait_for_failure())
            stopped = asyncio.ensure_future(stop.wait())
            await asyncio.wait([failed, stopped], return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            if failed.done():
                failed.result()
            failed.cancel()
            say("draining")
        return broker


async def _warm_kernels(settings: Settings, say: Callable[[str], None]) -> None:
    warming = asyncio.ensure_future(asyncio.to_thread(warm, settings))
    done, _ = await asyncio.wait([warming], timeout=_NOTICE_AFTER)
    if not done:
        say("compiling the kernels: up to a minute, once per installation")
    await warming
