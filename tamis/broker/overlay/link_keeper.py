"""Run a link, in one broker at a time of the node that opens it, and reconnect when it breaks."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import xxhash
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection, log, open_connection
from tamis.broker.fabric.lease import LASTS, Lease, run_while_held
from tamis.broker.fabric.tasks import run_until_first
from tamis.broker.overlay.event_mover import EventMover
from tamis.broker.overlay.handshake import (
    Handshake,
    ask_neighbour,
    establish_link,
    request_consumer,
)
from tamis.broker.overlay.interest_copier import InterestCopier
from tamis.broker.overlay.link_consumers import make_consumer
from tamis.broker.overlay.link_ends import LinkEnd, LinkInterruptedError
from tamis.broker.overlay.overlay_records import LinkRecord
from tamis.broker.overlay.route_bucket import link_record
from tamis.broker.protocol.wire import encode_json, refusal
from tamis.errors import BrokerError

_PAUSE = 0.2
_LONGEST = 2.0
_LOOK = 1.0
_ASKED = 10.0
# Error codes for which a retry is pointless; for the second set, only before the first link.
_FINAL = {"overlay", "loop", "name", "request"}
_AT_FIRST = {"auth", "tls"}


class _LinkRemovedError(Exception):
    """The link was removed."""


class LinkKeeper:
    """Keeps a link to the node at one NATS server.

    Attributes:
        display_url: The address of the server without a password.
        neighbour: The name of the node, once it is known.
        up: Whether the link works and this broker runs it.
        trying: Whether this broker tries to run the link.
        trouble: Why the link does not work.
    """

    def __init__(
        self, handshake: Handshake, url: str, holder: str, options: dict[str, Any]
    ) -> None:
        """Choose the server.

        Args:
            handshake: The handshake of this node.
            url: The NATS server of the other node.
            holder: The broker that tries to hold the lease.
            options: The options of `nats.connect`.
        """
        self._handshake = handshake
        self._url = url
        self._options = options
        self._holder = holder
        name = f"link-lease-{xxhash.xxh3_64_hexdigest(url.encode())}"
        self._lease = Lease(handshake.js, handshake.names, name, holder)
        self.display_url = redact_password(url)
        self.neighbour = ""
        self.up = self.trying = False
        self.trouble = ""
        self._over = self._linked = False

    async def run(self) -> None:
        """Keep the link until it is removed, or until cancelled.

        Raises:
            BrokerError: The link is not allowed.
        """
        try:
            while not self._over:
                if await self._lease.acquire():
                    await run_while_held(
                        self._lease, self._handshake.connection, self._retry_sessions
                    )
                await asyncio.sleep(LASTS / 6)
        finally:
            self.up = self.trying = False
            await self._lease.release()

    async def _retry_sessions(self) -> None:
        pause, self.trying = _PAUSE, True
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._run_session()
            except _LinkRemovedError:
                log.warning("the link to %s was removed", self.neighbour)
                self._over, self.trying = True, False
                return
            except BrokerError as error:
                reason = str(error).replace(self._url, self.display_url)  # hide a password
                if error.code in _FINAL or (error.code in _AT_FIRST and not self._linked):
                    raise BrokerError(reason, error.code) from None
                self._log_trouble(
                    reason
                    if reason.startswith(self.display_url)
                    else f"{self.display_url}: {reason}"
                )
            except (LinkInterruptedError, NatsError, OSError, TimeoutError) as error:
                self._log_trouble(
                    f"{self.neighbour or self.display_url}: the link is down: {error!r}"
                )
            finally:
                self.up = False
            if asyncio.get_running_loop().time() - began > 5:
                pause = _PAUSE
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _log_trouble(self, trouble: str) -> None:
        if trouble != self.trouble:
            log.warning("%s", trouble)
        self.trouble = trouble

    async def _run_session(self) -> None:
        """Run the link while both ends are connected."""
        if self._linked and self.neighbour not in self._handshake.table.records:
            raise _LinkRemovedError  # it was removed while the other end was unreachable
        closed = asyncio.Event()

        async def on_closed() -> None:
            closed.set()

        there = await open_connection(
            self._url,
            name=f"tamis link from {self._handshake.description.name}",
            closed_cb=on_closed,
            ping_interval=2,
            max_outstanding_pings=2,
            **self._options,
        )
        # A new connection each time: messages in the buffers of an old one must not be sent.
        there.nats.options["allow_reconnect"] = False
        handshake = self._handshake
        by_name = None
        try:
            if self._linked and handshake.table.records[self.neighbour].leaving:
                await self._remove_link(there)
                raise _LinkRemovedError
            self.neighbour, record = await establish_link(handshake, there)
            # Another broker of this node may have a link to another address of the same node.
            by_name = Lease(
                handshake.js, handshake.names, f"link-to-{self.neighbour}", self._holder
            )
            if not await by_name.acquire():
                raise LinkInterruptedError("another broker runs the link, to another address")
            me, you, names = handshake.description.name, self.neighbour, handshake.names
            here = LinkEnd(
                me,
                you,
                handshake.connection,
                names,
                partial(make_consumer, handshake.js, names, you),
            )
            other = LinkEnd(you, me, there, names, partial(request_consumer, there, names, me))
            self.up, self.trouble, self._linked = True, "", True
            await run_until_first(
                [
                    closed.wait(),
                    self._watch_link(other, record, by_name),
                    *(work.run() for work in (EventMover(here, other), EventMover(other, here))),
                    *(
                        work.run()
                        for work in (InterestCopier(here, other), InterestCopier(other, here))
                    ),
                    relay_requests(here, other),
                    relay_requests(other, here),
                ]
            )
            raise LinkInterruptedError("the connection is lost")
        finally:
            if by_name is not None:
                await by_name.release()
            await _abort(there)

    async def _watch_link(self, other: LinkEnd, record: LinkRecord, by_name: Lease) -> None:
        """Check periodically that both sides still have the link."""
        handshake = self._handshake
        js = other.connection.nats.jetstream()
        doubted = False
        while True:
            mine = handshake.table.records.get(other.name)
            theirs = await link_record(js, handshake.names, handshake.description.name, direct=True)
            known = _is_same(theirs, record)
            if not _is_same(mine, record) or (not known and doubted):
                refused = (mine and mine.refused) or (theirs and theirs.refused)
                await self._remove_link(other.connection)
                if refused:
                    raise BrokerError(refused, "loop")
                raise _LinkRemovedError
            if not await by_name.acquire() and handshake.connection.nats.is_connected:
                raise LinkInterruptedError("another broker runs the link")
            doubted = not known  # a replica that lags may have answered
            await asyncio.sleep(_LOOK)

    async def _remove_link(self, there: Connection) -> None:
        handshake = self._handshake
        await ask_neighbour(there, handshake.names, handshake.description.name, "bye", {})
        await handshake.clear(self.neighbour)


def _is_same(found: LinkRecord | None, record: LinkRecord) -> bool:
    return found is not None and found.id == record.id and not found.leaving and not found.refused


async def relay_requests(asking: LinkEnd, asked: LinkEnd) -> None:
    """Relay requests from one end about the nodes behind the other."""

    async def relay(message: Msg) -> None:
        try:
            reply = await asked.connection.nats.request(
                asked.names.overlay, message.data, timeout=_ASKED
            )
            answer = reply.data
        except (NatsError, OSError, TimeoutError) as error:
            answer = encode_json(refusal(BrokerError(f"{asked.name}: {error!r}", "unreachable")))
        with suppress(NatsError):
            await asking.connection.nats.publish(message.reply, answer)

    subscription = await asking.connection.nats.subscribe(
        asking.names.overlay_relay(asked.name), cb=relay
    )
    try:
        await asyncio.Event().wait()
    finally:
        if not asking.connection.nats.is_closed:
            with suppress(NatsError):
                await subscription.unsubscribe()


async def _abort(connection: Connection) -> None:
    """Close a connection at once, without sending buffered messages."""
    with suppress(Exception):
        writer = connection.nats._transport._io_writer  # type: ignore[union-attr]
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    with suppress(NatsError, OSError, TimeoutError):
        await asyncio.wait_for(connection.nats.close(), 2)


def redact_password(url: str) -> str:
    """Return an address without user and password, for messages.

    >>> redact_password("nats://ann:secret@rome.example.com:4222")
    'nats://rome.example.com:4222'
    """
    parts = urlsplit(url)
    return f"{parts.scheme or 'nats'}://{parts.netloc.rpartition('@')[2] or parts.path}"
