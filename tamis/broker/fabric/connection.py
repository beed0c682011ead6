"""A connection to NATS: it reconnects for ever, and its errors are ours."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from nats.aio.client import Client as Nats
from nats.errors import Error as NatsError

from tamis.errors import BrokerError

DEFAULT_URL = "nats://127.0.0.1:4222"

log = logging.getLogger("tamis.broker")

# What is published while NATS is away waits here, in bytes; then publishers wait.
_PENDING = 8 * 1024 * 1024


class _Client(Nats):
    """The client of NATS, which reads on."""

    async def _process_pong(self) -> None:
        # Whoever waited for it may have given up. The client would fail to tell them, and then stop
        # reading without a word: everybody else would wait until NATS is missed, for minutes.
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()


class Connection:
    """NATS, and who is to be told that it is back.

    Attributes:
        nats: The client of NATS.
    """

    def __init__(self, nats: Nats) -> None:
        """Take a client that is about to connect."""
        self.nats = nats
        self._reconnect_callbacks: list[Callable[[], Awaitable[None]]] = []

    def on_reconnect(self, call: Callable[[], Awaitable[None]]) -> Callable[[], None]:
        """Call something each time after NATS was away; gives what ends that."""
        self._reconnect_callbacks.append(call)
        return lambda: self._reconnect_callbacks.remove(call)

    async def _run_reconnect_callbacks(self) -> None:
        log.info("NATS is back")
        for call in list(self._reconnect_callbacks):
            await call()

    async def wait_connected(self, seconds: float) -> bool:
        """Wait until NATS is there, at most so long; whether it is."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.nats.is_connected:
            if self.nats.is_closed or asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.05)
        return True

    async def close(self) -> None:
        """Send what waits, and hang up."""
        if self.nats.is_closed:
            return
        try:
            if self.nats.is_connected:
                await asyncio.wait_for(self.nats.flush(), 5)
        except (NatsError, TimeoutError, OSError):
            pass
        with suppress(NatsError, OSError):  # a server that is gone cannot be told
            await self.nats.close()


async def open_connection(
    url: str = DEFAULT_URL, *, name: str = "tamis", wait: float = 5.0, **options: Any
) -> Connection:
    """Connect, trying for some seconds.

    Args:
        url: Of the server, or several with commas between them.
        name: What NATS is to call us.
        wait: How long to try.
        **options: What `nats.connect` takes: `token`, `user`, `password`, `nkeys_seed_str`,
            `user_credentials`, `tls`, and so on.

    Raises:
        BrokerError: Nobody answers, or NATS refuses us.
    """
    client = _Client()
    connection = Connection(client)
    troubles: list[Exception] = []

    async def keep_error(error: Exception) -> None:
        troubles[:] = [error]
        log.debug("NATS: %s", error)

    asked: dict[str, Any] = {
        "name": name,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.2,
        "pending_size": _PENDING,
        "error_cb": keep_error,
        "disconnected_cb": _log_disconnect,
        "reconnected_cb": connection._run_reconnect_callbacks,
        "connect_timeout": 2,
    } | options
    # Without reconnects until the first connection: whoever waits is to hear why.
    connecting = client.connect(url.split(","), **(asked | {"allow_reconnect": False}))
    try:
        await asyncio.wait_for(connecting, wait)
    except (NatsError, OSError, TimeoutError, ValueError) as error:
        with suppress(TimeoutError):  # after a TLS handshake that failed it would wait for ever
            await asyncio.wait_for(client.close(), 1)
        why = troubles[0] if isinstance(error, TimeoutError) and troubles else error
        raise BrokerError(f"{url}: {_reason(why)}", _code(why)) from error
    client.options["allow_reconnect"] = True
    return connection


def _code(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "tls"
    return "auth" if "authorization" in str(error).lower() else "unreachable"


def _reason(error: Exception) -> str:
    if _code(error) == "auth":
        return f"NATS refuses us: {error}"
    if _code(error) == "tls":
        return f"no TLS with NATS: {error}; are its certificates trusted (--tls-ca)?"
    return f"no NATS server answers ({error or type(error).__name__}); is `tamis serve` running?"


async def _log_disconnect() -> None:
    log.info("NATS is away")
