"""A connection to NATS that reconnects for ever and raises the errors of Tamis."""

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

# The buffer for messages published while NATS is unreachable, in bytes. When it is full, publishers
# wait.
_PENDING = 8 * 1024 * 1024


class _Client(Nats):
    """The NATS client, fixed to go on reading after a late PONG."""

    async def _process_pong(self) -> None:
        # The waiter may have given up. The client would then fail to set its future and silently
        # stop reading, and everything else would hang until NATS is found missing, minutes later.
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()


class Connection:
    """A NATS client with callbacks for reconnects.

    Attributes:
        nats: The NATS client.
    """

    def __init__(self, nats: Nats) -> None:
        """Wrap a client that is about to connect."""
        self.nats = nats
        self._reconnect_callbacks: list[Callable[[], Awaitable[None]]] = []

    def on_reconnect(self, call: Callable[[], Awaitable[None]]) -> Callable[[], None]:
        """Call a function after each reconnect; return a function that ends that."""
        self._reconnect_callbacks.append(call)
        return lambda: self._reconnect_callbacks.remove(call)

    async def _run_reconnect_callbacks(self) -> None:
        log.info("reconnected to NATS")
        for call in list(self._reconnect_callbacks):
            await call()

    async def wait_connected(self, seconds: float) -> bool:
        """Wait until NATS is connected, for some seconds; return whether it is."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.nats.is_connected:
            if self.nats.is_closed or asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(0.05)
        return True

    async def close(self) -> None:
        """Send pending messages, and close the connection."""
        if self.nats.is_closed:
            return
        try:
            if self.nats.is_connected:
                await asyncio.wait_for(self.nats.flush(), 5)
        except (NatsError, TimeoutError, OSError):
            pass
        with suppress(NatsError, OSError):  # the server may be gone
            await self.nats.close()


async def open_connection(
    url: str = DEFAULT_URL, *, name: str = "tamis", wait: float = 5.0, **options: Any
) -> Connection:
    """Connect to NATS, retrying for some seconds.

    Args:
        url: The address of the server, or several separated by commas.
        name: The name of the connection, which NATS shows.
        wait: How many seconds to try.
        **options: Options of `nats.connect`: `token`, `user`, `password`, `nkeys_seed_str`,
            `user_credentials`, `tls`, and so on.

    Raises:
        BrokerError: No server answers, or it rejects the credentials.
    """
    client = _Client()
    connection = Connection(client)
    errors: list[Exception] = []

    async def keep_error(error: Exception) -> None:
        errors[:] = [error]
        log.debug("NATS: %s", error)

    settings: dict[str, Any] = {
        "name": name,
        "max_reconnect_attempts": -1,
        "reconnect_time_wait": 0.2,
        "pending_size": _PENDING,
        "error_cb": keep_error,
        "disconnected_cb": _log_disconnect,
        "reconnected_cb": connection._run_reconnect_callbacks,
        "connect_timeout": 2,
    } | options
    # No reconnects until the first connection, so that the caller learns why it fails.
    connecting = client.connect(url.split(","), **(settings | {"allow_reconnect": False}))
    try:
        await asyncio.wait_for(connecting, wait)
    except (NatsError, OSError, TimeoutError, ValueError) as error:
        with suppress(TimeoutError):  # after a failed TLS handshake it never returns
            await asyncio.wait_for(client.close(), 1)
        why = errors[0] if isinstance(error, TimeoutError) and errors else error
        raise BrokerError(f"{url}: {_reason(why)}", _code(why)) from error
    client.options["allow_reconnect"] = True
    return connection


def _code(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "tls"
    return "auth" if "authorization" in str(error).lower() else "unreachable"


def _reason(error: Exception) -> str:
    if _code(error) == "auth":
        return f"NATS rejects the credentials: {error}"
    if _code(error) == "tls":
        return f"the TLS handshake with NATS failed: {error}; trust its certificate with --tls-ca"
    return f"no NATS server answers ({error or type(error).__name__}); is `tamis serve` running?"


async def _log_disconnect() -> None:
    log.info("disconnected from NATS")
