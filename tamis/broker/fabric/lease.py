"""A lease in a bucket: one broker at a time holds it, and it expires if that broker dies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.tasks import cancel_and_wait
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import OPERATION, TTL, is_delete_marker

LASTS = 6
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"


class Lease:
    """A named lease that several brokers compete for."""

    def __init__(self, js: JetStreamContext, names: Names, name: str, holder: str) -> None:
        """Choose the lease and the broker that tries to hold it."""
        self._js = js
        self._stream = names.bucket_stream(names.state)
        self._subject = names.bucket_subject(names.state, name)
        self._holder = holder
        self._revision = 0

    async def acquire(self) -> bool:
        """Try to acquire or renew the lease; return whether it is held for the next seconds."""
        try:
            if not self._revision:
                free = await self._free_revision()
                if free is None:
                    return False
                self._revision = free
            headers = {_EXPECTED: str(self._revision), TTL: str(LASTS)}
            stored = await self._js.publish(
                self._subject, self._holder.encode(), timeout=2, headers=headers
            )
        except APIError:  # another broker was faster
            self._revision = 0
            return False
        except (NatsError, OSError, TimeoutError):
            return False  # whether the lease is still held shows when NATS is back
        self._revision = stored.seq
        return True

    async def release(self) -> None:
        """Release the lease, so that another broker can acquire it at once."""
        if self._revision:
            headers = {_EXPECTED: str(self._revision), OPERATION: "DEL", TTL: str(LASTS)}
            try:
                await self._js.publish(self._subject, b"", timeout=1, headers=headers)
            except (NatsError, OSError, TimeoutError):
                pass  # the lease expires
            self._revision = 0

    async def _free_revision(self) -> int | None:
        """Return the expected last sequence if the lease is free; None if it is held."""
        try:
            last = await self._js.get_last_msg(self._stream, self._subject)
        except NotFoundError:
            return 0
        mine = last.data == self._holder.encode()
        return last.seq if mine or is_delete_marker(last.headers) else None


async def run_while_held(
    lease: Lease,
    connection: Connection,
    work: Callable[[], Awaitable[None]],
    on_renewed: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Run something while a lease is held; return when the lease is lost or the work has ended.

    Args:
        lease: The lease, which the caller has acquired.
        connection: The connection to NATS.
        work: What to run; it is cancelled when the lease is lost.
        on_renewed: Called each time that the lease was renewed.
    """
    working = asyncio.ensure_future(work())
    try:
        while not working.done():
            await asyncio.wait([working], timeout=LASTS / 3)
            if working.done():
                break
            if await lease.acquire():
                if on_renewed is not None:
                    await on_renewed()
            elif connection.nats.is_connected:  # else no other broker can acquire it either
                return
        working.result()
    finally:
        await cancel_and_wait(working)
