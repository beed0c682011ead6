"""Send deliveries as server-sent events, and acknowledge them.

The id of a server-sent event is the acknowledgement id of its delivery, which starts with the
position of the delivery. A client that was disconnected sends the last id that it received
(`Last-Event-ID`) and gets the deliveries after it again, which may not have arrived.
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

IsConnected = Callable[[], bool]


async def stream_deliveries(request: Request, context: GatewayContext) -> Response:
    """Stream deliveries as they arrive."""
    subscriber = request.path_params["subscriber"]
    ack = request.query_params.get("ack", "auto")
    if ack not in ("auto", "explicit"):
        raise BrokerError("ack must be auto or explicit", "request")
    limit = query_number(request, "limit", 1, 1e9)
    idle = query_number(request, "idle", 0, 86_400)
    last = request.headers.get("last-event-id") or None
    if last is not None:
        place_of_ack_id(last)
    settings = context.settings
    if context.streams[subscriber] >= settings.streams_each:
        raise BrokerError(
            f"{subscriber} already has {settings.streams_each} streams; close one", "busy"
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
    ids = field(body, "ids", list, "a list of delivery ids")
    if len(ids) > _MOST_ACKS:
        raise BrokerError(f"at most {_MOST_ACKS:,} ids per request", "limit")
    await acknowledge(
        context.broker.connection, context.broker.names, request.path_params["subscriber"], ids
    )
    return json_response({"acknowledged": len(ids)})


class Deliveries(Response):
    """A stream of deliveries, until the client disconnects or the subscriber is removed."""

    def __init__(
        self,
        context: GatewayContext,
        subscriber: str,
        acknowledges: bool,
        limit: int | None,
        idle: float | None,
        last: str | None,
    ) -> None:
        """Choose the subscriber and the options.

        Args:
            context: The shared state of the handlers.
            subscriber: The subscriber whose deliveries to send.
            acknowledges: Whether a delivery is acknowledged once it is sent; otherwise the client
                acknowledges it.
            limit: End after so many deliveries; None for no limit.
            idle: End after so many seconds without a delivery; None for no limit.
            last: The id of the last delivery that the client has; None if unknown.
        """
        super().__init__()
        self._context = context
        self._subscriber = subscriber
        self._acknowledges = acknowledges
        self._left = limit
        self._idle = idle
        self._last = last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        context = self._context
        context.streams[self._subscriber] += 1
        begun = False
        try:
            broker = context.broker
            reader = Reader(
                broker.connection, broker.names, self._subscriber, context.settings.timeout
            )
            async with reader:
                await self._start(send)
                begun = True
                async with _until_disconnect(receive) as is_connected:
                    await self._send_deliveries(reader, send, is_connected)
        except TimeoutError:
            pass  # the client does not read: close the connection
        except TamisError as error:
            if not begun:
                await error_response(error)(scope, receive, send)
                return
            # The response has started, so its status cannot report the error.
            fields = encode_json({"code": getattr(error, "code", ""), "message": str(error)})
            await self._write(send, b"event: error\ndata: " + fields + b"\n\n")
        finally:
            context.streams[self._subscriber] -= 1
            context.streams += type(context.streams)()  # drop subscribers without streams
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _start(self, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        # At once, so that the client knows that the stream is open.
        await self._write(send, b"retry: 1000\n\n")

    async def _send_deliveries(self, reader: Reader, send: Send, is_connected: IsConnected) -> None:
        again: set[int] = set()
        if self._last is not None and self._acknowledges:
            async for some in reader.missed_deliveries(self._last):
                some = some[: self._left]
                again.update(each.place for each in some)
                await self._write(send, b"".join(_event(each, True) for each in some))
                if self._count_to_limit(len(some)) or not is_connected():
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
                if not is_connected():  # what was written is lost, and returned to NATS
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
        """Count deliveries; return whether the limit is reached."""
        if self._left is not None:
            self._left -= count
        return self._left is not None and self._left <= 0

    async def _write(self, send: Send, data: bytes) -> None:
        if data:
            async with asyncio.timeout(self._context.settings.stuck):
                await send({"type": "http.response.body", "body": data, "more_body": True})


@asynccontextmanager
async def _until_disconnect(receive: Receive) -> AsyncIterator[IsConnected]:
    """Cancel the block when the client disconnects; yield a function that tells whether it did not.

    The block must call that function too, as `wait_for` may swallow the cancellation.
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
    fields = {
        "sequence": message.sequence,
        "subscriptions": message.subscriptions,
        "priority": message.priority,
        "revision": message.revision,
        "time": message.time,
        "redelivered": again or message.redelivered,
    }
    if message.left_out:
        fields["left_out"] = message.left_out
    # The event as it was published. A line break in it would end the line of the stream.
    event = message.data.replace(b"\r", b" ").replace(b"\n", b" ")
    data = encode_json(fields)[:-1] + b',"event":' + event + b"}"
    return b"id: %s\nevent: match\ndata: %s\n\n" % (delivery.ack_id.encode(), data)
