"""Pull messages from a consumer in batches, with requests for more always in flight.

NATS answers pull requests in order, so a message counts for the oldest open request. A status
message that ends a request names it. If no heartbeat arrives for a while, or after a reconnect, all
requests are abandoned and sent again.
"""

from __future__ import annotations

import asyncio
from collections import deque

from nats.aio.msg import Msg

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.wire import STATUS, encode_json

_EXPIRES = 10.0
_HEARTBEAT = 2.0
_NANO = 1_000_000_000


class Pull:
    """Pulls the messages of one consumer; an async context manager.

    Attributes:
        gone: Whether NATS has reported that the consumer does not exist.
    """

    def __init__(self, connection: Connection, stream: str, consumer: str, ahead: int) -> None:
        """Choose the consumer.

        Args:
            connection: The connection to NATS.
            stream: The stream.
            consumer: The name of the consumer.
            ahead: The most messages that are requested or received and not yet taken.
        """
        self._connection = connection
        self._nats = connection.nats
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._ahead = ahead
        self._inbox = self._nats.new_inbox()
        # Per request, its number and how many messages are still expected.
        self._requests: deque[list[int]] = deque()
        self._number = 0
        self._requested = 0
        self._ready: deque[Msg] = deque()
        self._arrived = asyncio.Event()
        self._heard = 0.0
        self._stopping = False
        self.gone = False

    async def __aenter__(self) -> Pull:
        """Start to pull."""
        self._subscription = await self._nats.subscribe(
            f"{self._inbox}.*", cb=self._receive, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        self._forget = self._connection.on_reconnect(self._restart_requests)
        self._watch = asyncio.create_task(self._watch_heartbeat())
        await self._restart_requests()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop; received messages can still be taken."""
        await self.stop()

    async def stop(self) -> None:
        """Stop requesting messages, and let those in flight arrive or be redelivered."""
        if self._stopping:
            return
        self._stopping = True
        self._forget()
        self._watch.cancel()
        if self._nats.is_connected:
            # Messages that NATS has sent already still arrive; else it would redeliver them only
            # much later.
            await self._subscription.drain()  # type: ignore[no-untyped-call]
        elif not self._nats.is_closed:
            await self._subscription.unsubscribe()
        self._arrived.set()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called, so that no more messages arrive."""
        return self._stopping

    @property
    def ready_messages(self) -> list[Msg]:
        """The messages that have arrived and were not taken yet."""
        return list(self._ready)

    async def take(self, limit: int, wait: float, timeout: float | None = None) -> list[Msg]:
        """Return the next messages; wait for one, and then a little for more.

        Args:
            limit: The most messages to return.
            wait: How many seconds to wait for more messages once there is one.
            timeout: How many seconds to wait for the first; None to wait until `stop`.
        """
        self.gone = False
        if not self._ready:
            try:
                await asyncio.wait_for(self._wait_for_first(), timeout)
            except TimeoutError:
                return []
        if len(self._ready) < limit and wait > 0 and not self._stopping:
            await asyncio.sleep(wait)
        taken = [self._ready.popleft() for _ in range(min(limit, len(self._ready)))]
        if not self._ready:
            self._arrived.clear()
        await self._request_more()
        return taken

    async def _wait_for_first(self) -> None:
        while not self._ready and not self._stopping and not self.gone:
            self._arrived.clear()
            await self._arrived.wait()

    async def _request_more(self) -> None:
        """Keep the window full. At least half of it is requested at a time, so requests are few."""
        missing = self._ahead - self._requested - len(self._ready)
        if self._stopping or not self._nats.is_connected or missing * 2 < self._ahead:
            return
        self._number += 1
        self._requests.append([self._number, missing])
        self._requested += missing
        request = {
            "batch": missing,
            "expires": int(_EXPIRES * _NANO),
            "idle_heartbeat": int(_HEARTBEAT * _NANO),
        }
        await self._nats.publish(
            self._next, encode_json(request), reply=f"{self._inbox}.{self._number}"
        )

    async def _receive(self, message: Msg) -> None:
        self._heard = asyncio.get_running_loop().time()
        status = message.headers.get(STATUS) if message.headers else None
        if status is None or not message.subject.startswith(self._inbox):
            self._ready.append(message)
            self._arrived.set()
            if self._requests:
                self._requested -= 1
                self._requests[0][1] -= 1
                if self._requests[0][1] == 0:
                    self._requests.popleft()
            return
        if status == "100":
            return
        number = int(message.subject.rpartition(".")[2])
        for request in self._requests:
            if request[0] == number:
                self._requests.remove(request)
                self._requested -= request[1]
                break
        if status not in ("404", "408"):
            description = (message.headers or {}).get("Description", "").lower()
            if status == "503" or "consumer deleted" in description:
                self.gone = True
                self._arrived.set()
            await asyncio.sleep(0.05)  # the cause will not go away at once
        await self._request_more()

    async def _restart_requests(self) -> None:
        self._requests.clear()
        self._requested = 0
        self._heard = asyncio.get_running_loop().time()
        await self._request_more()

    async def _watch_heartbeat(self) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT)
            now = asyncio.get_running_loop().time()
            if now - self._heard > 3 * _HEARTBEAT and self._nats.is_connected:
                await self._restart_requests()
            else:
                await self._request_more()
