"""Ranges of a stream, read by sequence: whoever asks again gets the same, and nothing is kept.

There is no consumer. The server is asked for the next messages from a sequence on (a batched direct
get, NATS 2.11), so two readers do not know of each other, and one that dies leaves nothing behind.
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

_MESSAGES = 1000  # of one answer
_BYTES = 8 * 1024 * 1024
_SILENCE = 3.0  # after which something was lost on the way
_PAUSE = 0.1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SEQUENCE = "Nats-Sequence"
_BEFORE = "Nats-Last-Sequence"
_PENDING = "Nats-Num-Pending"
_TIME = "Nats-Time-Stamp"
_SUBJECT = "Nats-Subject"


class StoredMessage(NamedTuple):
    """A message of a stream; its time is in microseconds since 1970."""

    sequence: int
    time: int
    subject: str
    headers: dict[str, str]
    data: bytes


class StreamState(NamedTuple):
    """How far a stream goes.

    Attributes:
        first: The first sequence that is there; if it is empty, the one that will be.
        last: The last that was given, still there or not; 0 if none was.
        most_per_subject: At most so many messages of a subject are kept; None for all.
    """

    first: int
    last: int
    most_per_subject: int | None


class Ranges:
    """For `async with`: a reader of one stream, or of one subject in it."""

    def __init__(
        self, connection: Connection, stream: str, subject: str | None = None, timeout: float = 30.0
    ) -> None:
        """Name what is read.

        Args:
            connection: To NATS; it stays the caller's.
            stream: The stream.
            subject: Only messages of this subject.
            timeout: How many seconds NATS may be away before that is an error.
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

    # -- how far it goes --------------------------------------------------------------------------

    async def state(self) -> StreamState:
        """How far the stream goes now, as its leader knows.

        Raises:
            BrokerError: There is no such stream, or NATS does not answer.
        """
        js = self._nats.jetstream()
        deadline = self._deadline()
        while True:
            try:
                found = await js.stream_info(self._stream)
            except NotFoundError:
                raise BrokerError(self._no_stream, "storage") from None
            except (NatsError, APIError, TimeoutError, OSError) as error:
                await self._pause_before_retry(deadline, error)
                continue
            most = found.config.max_msgs_per_subject or -1
            return StreamState(
                found.state.first_seq, found.state.last_seq, most if most > 0 else None
            )

    async def count(self, start: int) -> int:
        """How many messages there are from a sequence on."""
        found = await self._request({"seq": max(1, start), "batch": 1})
        return int(_headers(found[0])[_PENDING]) + 1 if found else 0

    async def first_since(self, time: datetime) -> int | None:
        """The sequence of the first message that was stored at a time or later, if there is one."""
        when = time.astimezone(UTC).isoformat().replace("+00:00", "Z")
        found = await self._request({"start_time": when, "batch": 1})
        return int(_headers(found[0])[_SEQUENCE]) if found else None

    async def stop_after(self, start: int, rows: int, last: int) -> int:
        """Where to stop so that at most so many messages are read, and not many fewer.

        Args:
            start: The first sequence.
            rows: How many.
            last: The last sequence that may be read.
        """
        low, high = min(start + rows, last + 1), last + 1
        if self._subject is None:
            return low
        while low < high:
            middle = (low + high + 1) // 2
            # In this order: what arrives in between makes it look like more, and never like fewer.
            after = await self.count(middle)
            if await self.count(start) - after <= rows:
                low = middle
            else:
                high = middle - 1
        return low

    async def first_remaining(self, start: int) -> int | None:
        """The first sequence that is left, if messages from a sequence on are gone.

        Of one subject it may be that none was among those that are gone: nobody knows any more.
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
        """The latest message of a subject, if there is one."""
        found = await self._request({"last_by_subj": subject}, batched=False)
        return _stored_message(found[0]) if found else None

    # -- reading ----------------------------------------------------------------------------------

    async def read(self, start: int, stop: int) -> AsyncIterator[list[StoredMessage]]:
        """The messages from one sequence up to another, which does not belong to them.

        Raises:
            BrokerError: NATS does not answer.
        """
        start = max(1, start)
        deadline = self._deadline()
        while start < stop:
            found = await self._request(
                {"seq": start, "batch": min(_MESSAGES, stop - start), "max_bytes": _BYTES}
            )
            some = [stored for stored in map(_stored_message, found) if stored.sequence < stop]
            if some:
                yield some
                deadline = self._deadline()
            if len(some) < len(found):  # the server has what comes after
                return
            start = some[-1].sequence + 1 if some else start
            if not found and not await self._is_behind(start, stop, deadline):
                return

    async def _is_behind(self, start: int, stop: int, deadline: float) -> bool:
        """Whether the leader has more than we were given: a replica may be behind."""
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
            await self._pause_before_retry(deadline, "a replica stays behind")
            return True

    # -- asking -----------------------------------------------------------------------------------

    async def _request(self, request: dict[str, Any], batched: bool = True) -> list[Msg]:
        """The answer to a request: some messages, or none; asked again until it is whole."""
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
        found: list[Msg] = []
        before = 0
        while True:
            if self._answers.empty():  # a timer for each would take longer than all else
                message = await asyncio.wait_for(self._answers.get(), _SILENCE)
            else:
                message = self._answers.get_nowait()
            if message.subject != reply:
                continue  # of a request that was given up
            headers = _headers(message)
            status = headers.get(STATUS)
            if status in ("404", "204"):
                if status == "204" and int(headers.get(_BEFORE, 0)) != before:
                    raise _IncompleteAnswer("messages were lost on the way")
                return found
            if status is not None:
                reason = headers.get("Description", "")
                if status == "503":
                    reason = self._no_stream
                raise _IncompleteAnswer(f"{status} {reason}".strip())
            # Each names the one before it.
            if batched and int(headers.get(_BEFORE, 0)) != before:
                raise _IncompleteAnswer("messages were lost on the way")
            before = int(headers[_SEQUENCE])
            found.append(message)
            if not batched:
                return found

    @property
    def _no_stream(self) -> str:
        return f"there is no stream {self._stream}; is `tamis serve` running, with this prefix?"

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._timeout

    async def _pause_before_retry(self, deadline: float, error: object) -> None:
        """Wait a little before another try.

        Raises:
            BrokerError: It takes too long.
        """
        if self._nats.is_closed or asyncio.get_running_loop().time() > deadline:
            why = str(error) or "NATS does not answer"
            raise BrokerError(f"cannot read {self._stream}: {why}", "timeout")
        await asyncio.sleep(_PAUSE)


class _IncompleteAnswer(Exception):
    """An answer that is not whole."""


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
