"""Deliveries as server-sent events, and their acknowledgement.

The id of an event of the stream is the word that acknowledges a delivery, and begins with its
place: a reader that was cut off comes back with it (`Last-Event-ID`), and gets what was sent after
it and perhaps never arrived.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tamis.broker.client.delivery_reader import Delivery, Reader, acknowledge, place_of_ack_id
from tamis.broker.protocol.wire import encode_json
from tamis.errors import BrokerError, TamisError
from tamis.gateway.bodies import check_fields, field, query_number, read_object
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import error_response, json_response

_AT_ONCE = 16
_MOST_ACKS = 10_000

Here = Callable[[], bool]


async def stream_deliveries(request: Request, context: GatewayContext) -> Response:
    """Send deliveries as they come."""
    subscriber = request.path_params["subscriber"]
    ack = request.query_params.get("ack", "auto")
    if ack not in ("auto", "explicit"):
        raise BrokerError("ack is auto or explicit", "request")
    limit = query_number(request, "limit", 1, 1e9)
    idle = query_number(request, "idle", 0, 86_400)
    last = request.headers.get("last-event-id") or None
    if last is not None:
        place_of_ack_id(last)
    settings = context.settings
    if context.streams[subscriber] >= settings.streams_each:
        raise BrokerError(
            f"{subscriber} has {settings.streams_each} streams already; close one", "busy"
        )
    if context.streams.total() >= settings.streams:
        raise BrokerError("too many streams; try again later", "busy")
    return Deliveries(
        context, subscriber, ack == "auto", None if limit is None else int(limit), idle, last
    )


async def acknowledge_deliveries(request: Request, context: GatewayContext) -> Response:
    """Acknowledge deliveries by their ids."""
    body = await read_object(request, context.settings)
    check_fields(body, "ids")
    ids = field(body, "ids", list, "a list of ids of deliveries")
    if len(ids) > _MOST_ACKS:
        raise BrokerError(f"at most {_MOST_ACKS:,} ids at once", "limit")
    await acknowledge(
        context.broker.connection, context.broker.names, request.path_params["subscriber"], ids
    )
    return json_response({"acknowledged": len(ids)})


class Deliveries(Response):
    """An answer that goes on: deliveries, until the reader or the subscriber is gone."""

    def __init__(
        self,
        context: GatewayContext,
        subscriber: str,
        acknowledges: bool,
        limit: int | None,
        idle: float | None,
        last: str | None,
    ) -> None:
        """Say whose, and how.

        Args:
            context: What it works with.
            subscriber: Whose deliveries.
            acknowledges: Whether what was sent is acknowledged; else the reader does it.
            limit: End after so many; None for never.
            idle: End after so many seconds without any; None for never.
            last: The id of the last that the reader has; None for unknown.
        """
        super().__init__()
        self._context = context
        self._subscriber = subscriber
        self._acknowledges = acknowledges
        self._left = limit
        self._idle = idle
        self._last = last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send."""
        desk = self._context
        desk.streams[self._subscriber] += 1
        begun = False
        try:
            broker = desk.broker
            reader = Reader(
                broker.connection, broker.names, self._subscriber, desk.settings.timeout
            )
            async with reader:
                await self._start(send)
                begun = True
                async with _until_disconnect(receive) as here:
                    await self._send_deliveries(reader, send, here)
        except TimeoutError:
            pass  # a reader that does not read is hung up on
        except TamisError as error:
            if not begun:
                await error_response(error)(scope, receive, send)
                return
            # It has begun, so there is no status to say it with.
            told = encode_json({"code": getattr(error, "code", ""), "message": str(error)})
            await self._write(send, b"event: error\ndata: " + told + b"\n\n")
        finally:
            desk.streams[self._subscriber] -= 1
            desk.streams += type(desk.streams)()  # forget those that have none
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        # At once, so that the reader knows that it is served.
        await self._write(send, b"retry: 1000\n\n")

    async def _send_deliveries(self, reader: Reader, send: Send, here: Here) -> None:
        again: set[int] = set()
        if self._last is not None and self._acknowledges:
            async for some in reader.missed_deliveries(self._last):
                some = some[: self._left]
                again.update(each.place for each in some)
                await self._write(send, b"".join(_event(each, True) for each in some))
                if self._count_to_limit(len(some)) or not here():
                    return
        loop = asyncio.get_running_loop()
        heard = loop.time()
        ping = self._context.settings.ping
        while True:
            wait = ping if self._idle is None else min(ping, self._idle)
            most = _AT_ONCE if self._left is None else min(_AT_ONCE, self._left)
            taken = await reader.take(most, wait)
            if taken:
                heard = loop.time()
                new = [each for each in taken if each.place not in again]
                await self._write(send, b"".join(_event(each) for each in new))
                if not here():  # what was written went nowhere, and is given back
                    return
                if self._acknowledges:
                    await reader.acknowledge(taken)
                if self._count_to_limit(len(new)):
                    return
            elif await reader.is_subscriber_gone():
                await self._write(send, b"event: gone\ndata: {}\n\n")
                return
            elif self._idle is not None and loop.time() - heard >= self._idle:
                return
            else:
                await self._write(send, b": alive\n\n")

    def _count_to_limit(self, count: int) -> bool:
        """Count deliveries; whether that is enough."""
        if self._left is not None:
            self._left -= count
        return self._left is not None and self._left <= 0

    async def _write(self, send: Send, data: bytes) -> None:
        if data:
            async with asyncio.timeout(self._context.settings.stuck):
                await send({"type": "http.response.body", "body": data, "more_body": True})


@asynccontextmanager
async def _until_disconnect(receive: Receive) -> AsyncIterator[Here]:
    """End the block when the reader has hung up; tells whether it is still there.

    Whoever is in the block asks too: `wait_for` may swallow that it was told to end.
    """
    task = asyncio.current_task()
    assert task is not None
    left = False

    async def watch_disconnect() -> None:
        nonlocal left
        while (await receive())["type"] != "http.disconnect":
            pass
        left = True
        task.cancel()

    listening = asyncio.create_task(watch_disconnect())
    try:
        yield lambda: not left
    except asyncio.CancelledError:
        if not left or task.uncancel() > 0:
            raise
    finally:
        listening.cancel()


def _event(delivery: Delivery, again: bool = False) -> bytes:
    message = delivery.message
    told = {
        "sequence": message.sequence,
        "subscriptions": message.subscriptions,
        "priority": message.priority,
        "revision": message.revision,
        "time": message.time,
        "redelivered": again or message.redelivered,
    }
    if message.left_out:
        told["left_out"] = message.left_out
    # The event as it was published; a line break in it would be the end of a line of the stream.
    event = message.data.replace(b"\r", b" ").replace(b"\n", b" ")
    data = encode_json(told)[:-1] + b',"event":' + event + b"}"
    return b"id: %s\nevent: match\ndata: %s\n\n" % (delivery.ack_id.encode(), data)
