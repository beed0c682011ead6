"""Publish many messages to streams at a time, each until NATS has confirmed it.

A message that is not confirmed in time, or was in flight when the connection broke, is published
again: messages have ids, so NATS stores them once. Only the caller can give a message up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection, log
from tamis.broker.protocol.wire import AGAIN, MSG_ID
from tamis.errors import BrokerError

_RETRY_AFTER = 3.0
_PAUSE = 0.25
# Without repeats, a message that is not confirmed for so long is lost, or its confirmation is.
_SILENCE = 15.0
# JetStream errors that a retry does not fix: too large, wrong expectation, invalid TTL or header.
_FINAL = {10054, 10071, 10164, 10165, 10166}


class _Error(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: _Error | None = None


_decode = msgspec.json.Decoder(_Ack).decode


@dataclass(slots=True, eq=False)
class PublishGroup:
    """Messages whose confirmations are awaited together.

    Attributes:
        sequences: The sequence of each message in its stream, in the order of publishing; 0 until
            it is confirmed.
        duplicates: How many of the messages NATS had stored already.
        failed: By position, why NATS will never store a message.
        trouble: Why NATS could not store one of the messages at the last attempt.
    """

    sequences: list[int] = field(default_factory=list)
    duplicates: int = 0
    failed: dict[int, BrokerError] = field(default_factory=dict)
    trouble: str = ""
    _open: int = 0
    _done: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait_confirmed(self) -> None:
        """Wait until every message is confirmed or has failed."""
        if self._open:
            self._done.clear()
            await self._done.wait()

    def check(self) -> None:
        """Raise the first error.

        Raises:
            BrokerError: NATS will never store one of the messages.
        """
        for error in self.failed.values():
            raise error


@dataclass(slots=True, eq=False)
class _PendingMessage:
    group: PublishGroup
    place: int
    subject: str
    payload: bytes
    headers: dict[str, str] | None
    at: float
    refused: bool = False


class Publisher:
    """Publishes messages and retries until they are confirmed; an async context manager.

    Attributes:
        window: The most messages in flight; beyond that `publish` waits.
        lost: Without repeats, set when it is unknown whether a message was stored.
    """

    def __init__(self, connection: Connection, window: int = 4096, repeats: bool = True) -> None:
        """Create a publisher.

        Args:
            connection: The connection to NATS.
            window: The most messages in flight.
            repeats: Whether a message that is not confirmed in time is published again. A message
                that NATS has refused is published again in any case.
        """
        self._repeats = repeats
        self.lost = asyncio.Event()
        self._connection = connection
        self._nats = connection.nats
        self.window = window
        self._inbox = self._nats.new_inbox()
        self._prefix = f"{self._inbox}."
        self._sent: dict[str, _PendingMessage] = {}
        self._number = 0
        self._room = asyncio.Event()
        self._room.set()

    async def __aenter__(self) -> Publisher:
        """Listen for confirmations."""
        self._subscription = await self._nats.subscribe(
            f"{self._inbox}.*", cb=self._take_ack, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        self._forget = self._connection.on_reconnect(self._resend_all)
        self._watch = asyncio.create_task(self._watch_timeouts())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        self._forget()
        self._watch.cancel()
        if not self._nats.is_closed:
            await self._subscription.unsubscribe()

    @property
    def is_full(self) -> bool:
        """Whether `publish` would wait."""
        return len(self._sent) >= self.window

    async def wait_for_room(self) -> None:
        """Wait until there is room in the window."""
        while self.is_full:
            self._room.clear()
            await self._room.wait()

    async def publish(
        self,
        group: PublishGroup,
        subject: str,
        payload: bytes,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Publish a message; the group tells when it is confirmed."""
        if self.is_full:
            await self.wait_for_room()
        self._number += 1
        word = str(self._number)
        place = len(group.sequences)
        group.sequences.append(0)
        group._open += 1
        sent = _PendingMessage(
            group, place, subject, payload, dict(headers) if headers else None, 0.0
        )
        self._sent[word] = sent
        await self._send(word, sent)

    async def _send(self, word: str, sent: _PendingMessage) -> None:
        sent.at = asyncio.get_running_loop().time()
        sent.refused = False
        try:
            await self._nats.publish(
                sent.subject, sent.payload, reply=self._prefix + word, headers=sent.headers
            )
        except NatsError as error:
            # It stays among the messages in flight and is retried, unless that is pointless.
            if type(error).__name__ in ("MaxPayloadError", "BadSubjectError", "BadHeaderError"):
                self._end(word, BrokerError(f"NATS does not accept the message: {error}", "size"))
            elif not self._repeats:
                self.lost.set()

    async def _repeat(self, word: str, sent: _PendingMessage) -> None:
        """Publish again. NATS may have stored the message and forgotten its id by now."""
        if not sent.refused and sent.headers and MSG_ID in sent.headers:
            sent.headers.setdefault(AGAIN, "1")
        await self._send(word, sent)

    async def _take_ack(self, message: Msg) -> None:
        word = message.subject[len(self._prefix) :]
        sent = self._sent.get(word)
        if sent is None:
            return
        if not message.data:  # no responders: the stream may appear later
            self._retry_soon(sent, "the stream does not exist, or JetStream is not available")
            return
        ack = _decode(message.data)
        if ack.error is None:
            sent.group.sequences[sent.place] = ack.seq
            sent.group.duplicates += ack.duplicate
            self._end(word, None)
        elif ack.error.err_code in _FINAL:
            self._end(word, BrokerError(ack.error.description, "storage"))
        else:
            self._retry_soon(sent, ack.error.description)

    def _retry_soon(self, sent: _PendingMessage, trouble: str) -> None:
        """Schedule a retry sooner than for a message without an answer."""
        if sent.group.trouble != trouble:
            log.warning("NATS cannot store a message, retrying: %s", trouble)
        sent.group.trouble = trouble
        sent.at -= _RETRY_AFTER - _PAUSE
        sent.refused = True

    def abandon(self, group: PublishGroup) -> None:
        """Give up the unconfirmed messages of a group; some of them may be stored nevertheless."""
        error = BrokerError(group.trouble or "NATS does not confirm it", "timeout")
        for word in [word for word, sent in self._sent.items() if sent.group is group]:
            self._end(word, error)

    def drop(self, subject: str) -> None:
        """Give up the unconfirmed messages to a subject."""
        error = BrokerError(f"the subject {subject} no longer exists", "unknown")
        for word in [word for word, sent in self._sent.items() if sent.subject == subject]:
            self._end(word, error)

    def _end(self, word: str, error: BrokerError | None) -> None:
        sent = self._sent.pop(word)
        group = sent.group
        if error is not None:
            group.failed[sent.place] = error
        group._open -= 1
        if group._open == 0:
            group._done.set()
        if not self._room.is_set():
            self._room.set()

    async def _resend_all(self) -> None:
        if not self._repeats:
            self.lost.set()
            return
        for word, sent in list(self._sent.items()):
            if word in self._sent:
                await self._repeat(word, sent)

    async def _watch_timeouts(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE)
            if not self._nats.is_connected:
                continue
            now = asyncio.get_running_loop().time()
            for word, sent in list(self._sent.items()):
                if self._repeats or sent.refused:
                    if sent.at < now - _RETRY_AFTER and word in self._sent:
                        await self._repeat(word, sent)
                elif sent.at < now - _SILENCE:
                    self.lost.set()
