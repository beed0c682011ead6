"""Read ranges of a stream by sequence, repeatably and without state on the server.

There is no consumer. A batched direct get (NATS 2.11) returns the next messages from a sequence on,
so readers are independent of each other, and one that dies leaves nothing behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.errors import APIError, NotFoundError

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.wire import STATUS, encode_json
from tamis.errors import BrokerError

_MESSAGES = 1000  # per answer
_BYTES = 8 * 1024 * 1024
_SILENCE = 3.0  # after which a message counts as lost
_PAUSE = 0.1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SEQUENCE = "Nats-Sequence"
_BEFORE = "Nats-Last-Sequence"
_PENDING = "Nats-Num-Pending"
_TIME = "Nats-Time-Stamp"
_SUBJECT = "Nats-Subject"


class StoredMessage(NamedTuple):
    """A message of a stream; `time` is in microseconds since 1970."""

    sequence: int
    time: int
    subject: str
    headers: dict[str, str]
    data: bytes


class StreamState(NamedTuple):
    """The bounds of a stream.

    Attributes:
        first: The first stored sequence; in an empty stream, the next sequence.
        last: The last assigned sequence, whether or not it is still stored; 0 if there was none.
        most_per_subject: The most messages that are kept per subject; None for no limit.
    """

    first: int
    last: int
    most_per_subject: int | None


class Ranges:
    """Reads a stream, or one subject of it; an async context manager."""

    def __init__(
        self, connection: Connection, stream: str, subject: str | None = None, timeout: float = 30.0
    ) -> None:
        """Choose what to read.

        Args:
            connection: The connection to NATS, which the caller closes.
            stream: The stream.
            subject: Read only messages of this subject; None for all.
            timeout: How many seconds NATS may be unreachable before an error is raised.
        """
        self._connection = connection
        self._nats = connection.nats
        self._stream = stream
        self._subject = subject
        self._timeout = timeout
        self._get = f"$JS.API.DIRECT.GET.{stream}"
        self._number = 0

    async def __aenter__(self) -> Ranges:
        """Listen for answers."""
        self._inbox = self._nats.new_inbox()
        self._answers: asyncio.Queue[Msg] = asyncio.Queue()
        self._subscription: Subscription = await self._nats.subscribe(
            f"{self._inbox}.*",
            cb=self._answers.put,
            pending_msgs_limit=-1,
            pending_bytes_limit=-1,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        if not self._nats.is_closed:
            await self._subscription.unsubscribe()

    # -- bounds -----------------------------------------------------------------------------------

    async def state(self) -> StreamState:
        """Return the current bounds of the stream, from its leader.

        Raises:
            BrokerError: The stream does not exist, or NATS does not answer.
        """
        js = self._nats.jetstream()
        deadline = self._deadline()
        while True:
            try:
                info = await js.stream_info(self._stream)
            except NotFoundError:
                raise BrokerError(self._no_stream, "storage") from None
            except (NatsError, APIError, TimeoutError, OSError) as error:
                await self._pause_before_retry(deadline, error)
                continue
            most = info.config.max_msgs_per_subject or -1
            return StreamState(
                info.state.first_seq, info.state.last_seq, most if most > 0 else None
            )

    async def count(self, start: int) -> int:
        """Return how many messages there are from a sequence on."""
        messages = await self._request({"seq": max(1, start), "batch": 1})
        return int(_headers(messages[0])[_PENDING]) + 1 if messages else 0

    async def first_since(self, time: datetime) -> int | None:
        """Return the sequence of the first message stored at a time or later; None without one."""
        when = time.astimezone(UTC).isoformat().replace("+00:00", "Z")
        messages = await self._request({"start_time": when, "batch": 1})
        return int(_headers(messages[0])[_SEQUENCE]) if messages else None

    async def stop_after(self, start: int, rows: int, last: int) -> int:
        """Return where to stop so that at most `rows` messages are read, and not many fewer.

        Args:
            start: The first sequence.
            rows: The most messages to read.
            last: The last sequence that may be read.
        """
        low, high = min(start + rows, last + 1), last + 1
        if self._subject is None:
            return low
        while low < high:
            middle = (low + high + 1) // 2
            # In this order: a message that arrives in between can only raise the difference.
            after = await self.count(middle)
            if await self.count(start) - after <= rows:
                low = middle
            else:
                high = middle - 1
        return low

    async def first_remaining(self, start: int) -> int | None:
        """Return the first sequence still stored if messages from `start` on are gone, else None.

        With one subject, the removed messages may all have been of other subjects; that cannot be
        known any more.
        """
        state = await self.state()
        if state.first > start:
            return state.first
        if self._subject is None or state.most_per_subject is None:
            return None
        if await self.count(1) < state.most_per_subject:
            return None
        oldest = await self._request({"seq": 1, "batch": 1})
        first = int(_headers(oldest[0])[_SEQUENCE]) if oldest else start
        return first if first > start else None

    async def latest(self, subject: str) -> StoredMessage | None:
        """Return the latest message of a subject, or None."""
        messages = await self._request({"last_by_subj": subject}, batched=False)
        return _stored_message(messages[0]) if messages else None

    # -- reading ----------------------------------------------------------------------------------

    async def read(self, start: int, stop: int) -> AsyncIterator[list[StoredMessage]]:
        """Yield the messages from sequence `start` up to but not including `stop`, in batches.

        Raises:
            BrokerError: NATS does not answer.
        """
        start = max(1, start)
        deadline = self._deadline()
        while start < stop:
            messages = await self._request(
                {"seq": start, "batch": min(_MESSAGES, stop - start), "max_bytes": _BYTES}
            )
            some = [stored for stored in map(_stored_message, messages) if stored.sequence < stop]
            if some:
                yield some
                deadline = self._deadline()
            if len(some) < len(messages):  # the server is past the end of the range
                return
            start = some[-1].sequence + 1 if some else start
            if not messages and not await self._is_behind(start, stop, deadline):
                return

    async def _is_behind(self, start: int, stop: int, deadline: float) -> bool:
        """Return whether the leader has more messages; a replica may lag behind it."""
        js = self._nats.jetstream()
        while True:
            try:
                more = await js.get_msg(
                    self._stream, seq=start, subject=self._subject or ">", next=True
                )
            except NotFoundError:
                return False
            except (NatsError, APIError, TimeoutError, OSError) as error:
                await self._pause_before_retry(deadline, error)
                continue
            if (more.seq or 0) >= stop:
                return False
            await self._pause_before_retry(deadline, "a replica lags behind")
            return True

    # -- requests ---------------------------------------------------------------------------------

    async def _request(self, request: dict[str, Any], batched: bool = True) -> list[Msg]:
        """Return the messages that answer a request; repeat it until the answer is complete."""
        if batched and self._subject is not None:
            request = request | {"next_by_subj": self._subject}
        deadline = self._deadline()
        while True:
            self._number += 1
            reply = f"{self._inbox}.{self._number}"
            try:
                await self._nats.publish(self._get, encode_json(request), reply=reply)
                return await self._receive_answer(reply, batched)
            except (NatsError, TimeoutError, OSError, _IncompleteAnswer) as error:
                await self._pause_before_retry(deadline, error)

    async def _receive_answer(self, reply: str, batched: bool) -> list[Msg]:
        messages: list[Msg] = []
        before = 0
        while True:
            if self._answers.empty():  # a timer per message would dominate the cost
                message = await asyncio.wait_for(self._answers.get(), _SILENCE)
            else:
                message = self._answers.get_nowait()
            if message.subject != reply:
                continue  # the answer to an abandoned request
            headers = _headers(message)
            status = headers.get(STATUS)
            if status in ("404", "204"):
                if status == "204" and int(headers.get(_BEFORE, 0)) != before:
                    raise _IncompleteAnswer("messages of the answer were lost")
                return messages
            if status is not None:
                reason = headers.get("Description", "")
                if status == "503":
                    reason = self._no_stream
                raise _IncompleteAnswer(f"{status} {reason}".strip())
            # Each message names the sequence before it.
            if batched and int(headers.get(_BEFORE, 0)) != before:
                raise _IncompleteAnswer("messages of the answer were lost")
            before = int(headers[_SEQUENCE])
            messages.append(message)
            if not batched:
                return messages

    @property
    def _no_stream(self) -> str:
        return f"there is no stream {self._stream}; is `tamis serve` running, with this prefix?"

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._timeout

    async def _pause_before_retry(self, deadline: float, error: object) -> None:
        """Wait a little before a retry.

        Raises:
            BrokerError: The deadline has passed.
        """
        if self._nats.is_closed or asyncio.get_running_loop().time() > deadline:
            why = str(error) or "NATS does not answer"
            raise BrokerError(f"cannot read {self._stream}: {why}", "timeout")
        await asyncio.sleep(_PAUSE)


class _IncompleteAnswer(Exception):
    """An answer that is not complete."""


def _headers(message: Msg) -> dict[str, str]:
    return message.headers or {}


def _stored_message(message: Msg) -> StoredMessage:
    headers = _headers(message)
    time = datetime.fromisoformat(headers[_TIME])
    return StoredMessage(
        int(headers[_SEQUENCE]),
        (time - _EPOCH) // timedelta(microseconds=1),
        headers[_SUBJECT],
        headers,
        message.data,
    )
