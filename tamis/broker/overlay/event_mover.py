"""Move events from the queue at one end of a link to the event stream at the other, exactly once.

On a link an event is identified by its number in the queue. About once a second the mover saves its
progress at the other end: all events up to number n are stored, and the stream was then at place b.
When a mover starts, in this process or another, it reads the stream from b on for the numbers that
are stored already. So no interruption or crash of any length stores an event twice, and nothing
depends on clocks or on how long NATS remembers an id. An event is acknowledged in the queue once
the other end has confirmed it. If it is unknown whether the other end has stored an event, the
mover starts again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import aclosing, suppress
from dataclasses import dataclass

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from tamis.broker.fabric.connection import log
from tamis.broker.fabric.follow import ReadStart
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.fabric.pull import Pull
from tamis.broker.fabric.tasks import run_until_first
from tamis.broker.overlay.link_ends import LinkEnd, LinkInterruptedError
from tamis.broker.protocol.link_permissions import LinkFeed, link_source
from tamis.broker.protocol.time_to_live import remaining_ttl, remaining_ttl_headers
from tamis.broker.protocol.wire import (
    AGAIN,
    LINK,
    MSG_ID,
    ORIGIN,
    REASON,
    decode_object,
    encode_json,
    place_of,
)

_BATCH = 512
_IN_FLIGHT = 4
_SAVE = 1.0
_IDLE = 5.0
# So many moved events are remembered by origin, for events that a broker matched again.
_REMEMBERED = 100_000


@dataclass
class _Progress:
    """The progress of a mover.

    Attributes:
        floor: All events up to this number of the queue are stored at the other end.
        place: A lower bound of the last sequence of the other end's stream before any event above
            the floor was sent.
    """

    floor: int
    place: int


class EventMover:
    """Moves events from one end of a link to the other.

    Attributes:
        moved: How many events it has moved.
        skipped: How many it has skipped: stored at the other end already, or expired.
    """

    def __init__(self, source: LinkEnd, target: LinkEnd) -> None:
        """Choose the ends."""
        self._source = source
        self._target = target
        self._js = source.connection.nats.jetstream()
        self._there = target.connection.nats.jetstream()
        self._subject = target.names.events_from(source.name)
        self._key = target.names.bucket_subject(target.names.state, f"link.{source.name}")
        self._origins: OrderedDict[str, None] = OrderedDict()
        self._recalled = False
        self.moved = 0
        self.skipped = 0

    async def run(self) -> None:
        """Move events until cancelled.

        Raises:
            LinkInterruptedError: The mover must start again.
        """
        # First, so that a previous mover gets no more events from the queue.
        self._queue = (await self._source.make(LinkFeed.queue, 1)).queue
        self._saved = await self._load_progress()
        last = max(self._saved.place, await self._last_place())
        self._stored = await self._scan_target(self._saved.place + 1)
        self._highest, self._place = self._saved.floor, last
        self._open: dict[int, int] = {}
        self._done: OrderedDict[int, bool] = OrderedDict()
        stream, consumer, _ = link_source(self._source.names, self._target.name, LinkFeed.queue)
        async with (
            Publisher(self._target.connection, repeats=False) as self._publisher,
            Pull(self._source.connection, stream, consumer, 2 * _BATCH) as pull,
        ):
            await run_until_first(
                [self._move_events(pull), self._save_periodically(), self._publisher.lost.wait()]
            )
        raise LinkInterruptedError("it is unknown what the other end has stored")

    # -- what is stored already -------------------------------------------------------------------

    async def _load_progress(self) -> _Progress:
        stream = self._target.names.bucket_stream(self._target.names.state)
        try:
            last = await self._there.get_last_msg(stream, self._key, direct=True)
        except NotFoundError:
            return _Progress(0, 0)
        saved = decode_object(last.data or b"")
        if saved.get("queue") != self._queue:  # of an earlier queue
            return _Progress(0, 0)
        return _Progress(saved["sequence"], saved["place"])

    async def _scan_target(self, first: int, origins: bool = False) -> set[int]:
        """Return the numbers of the queue that the other end's stream has from a place on."""
        stored: set[int] = set()
        reading = self._target.follow(LinkFeed.events, first)
        async with aclosing(reading):
            left = 0
            async for news in reading:
                if isinstance(news, ReadStart):
                    left = news.pending
                else:
                    left -= len(news)
                    for message in news:
                        headers = message.headers or {}
                        queue, _, number = headers.get(LINK, "").rpartition(".")
                        if queue == self._queue:
                            stored.add(int(number))
                        if origins and ORIGIN in headers:
                            self._remember(headers[ORIGIN])
                if left <= 0:
                    return stored
        raise LinkInterruptedError("cannot read the stream of the other end")

    async def _last_place(self) -> int:
        """Return the sequence of the last event that this link stored at the other end, or 0."""
        stream = self._target.names.event_stream
        try:
            last = await self._there.get_last_msg(stream, self._subject, direct=True)
        except NotFoundError:
            return 0
        return last.seq or 0

    # -- moving events ----------------------------------------------------------------------------

    async def _move_events(self, pull: Pull) -> None:
        room = asyncio.Semaphore(_IN_FLIGHT)
        finishing: set[asyncio.Task[None]] = set()
        try:
            while True:
                messages = await pull.take(_BATCH, 0, timeout=_IDLE)
                for task in [each for each in finishing if each.done()]:
                    finishing.discard(task)
                    task.result()
                if not messages:
                    if pull.gone or pull.is_stopped:
                        raise LinkInterruptedError(
                            "the queue is gone, or another broker moves its events"
                        )
                    continue
                await room.acquire()
                group, sent = PublishGroup(), list[Msg]()
                for message in messages:
                    if await self._send(group, message):
                        sent.append(message)
                task = asyncio.create_task(self._finish_batch(group, sent, room))
                finishing.add(task)
        finally:
            for task in finishing:
                task.cancel()

    async def _send(self, group: PublishGroup, message: Msg) -> bool:
        """Send a message to the other end, unless it is stored there or has expired."""
        place = place_of(message.reply)
        number, headers = place.sequence, dict(message.headers or {})
        if number in self._done:  # NATS redelivers it
            if self._done[number]:
                await self._acknowledge(message)
            return False
        origin = headers.get(ORIGIN, "")
        ttl = remaining_ttl(headers, place.time)
        headers |= remaining_ttl_headers(ttl)
        there = number <= self._saved.floor or number in self._stored
        again = AGAIN in headers and await self._was_moved(origin)
        if there or again or (ttl is not None and ttl <= 0):
            self._remember(origin)
            self._mark(number, True)
            self._highest = max(self._highest, number)
            self.skipped += 1
            await self._acknowledge(message)
            return False
        self._remember(origin)
        self._mark(number, False)
        # Without an await in between, or progress saved meanwhile would count it as stored.
        self._open[number] = self._place
        self._highest = max(self._highest, number)
        headers |= {LINK: f"{self._queue}.{number}", MSG_ID: headers.get(MSG_ID, origin)}
        await self._publisher.publish(group, self._subject, message.data, headers)
        return True

    async def _finish_batch(
        self, group: PublishGroup, sent: list[Msg], room: asyncio.Semaphore
    ) -> None:
        try:
            await group.wait_confirmed()
            for i, error in group.failed.items():
                await self._store_dead_letter(sent[i], str(error))
            self._place = max(self._place, max(group.sequences, default=0))
            for message in sent:
                number = place_of(message.reply).sequence
                self._open.pop(number, None)
                self._mark(number, True)
                await self._acknowledge(message)
            self.moved += len(sent)
        finally:
            room.release()

    async def _acknowledge(self, message: Msg) -> None:
        with suppress(NatsError):  # a redelivery is skipped
            await self._source.connection.nats.publish(message.reply, b"+ACK")

    async def _store_dead_letter(self, message: Msg, why: str) -> None:
        """Store an event as a dead letter that the other end will never accept."""
        headers = {
            MSG_ID: f"link.{self._queue}.{place_of(message.reply).sequence}",
            REASON: f"{self._target.name} does not accept the event: {why}",
        }
        await self._js.publish(self._source.names.dead_letters, message.data, headers=headers)

    def _mark(self, number: int, done: bool) -> None:
        self._done[number] = done
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)

    # -- events that a broker matched again -------------------------------------------------------

    async def _was_moved(self, origin: str) -> bool:
        """Return whether an event was moved before under another number."""
        if origin in self._origins:
            return True
        if not self._recalled:
            await self._scan_target(max(1, await self._last_place() - _REMEMBERED), origins=True)
            self._recalled = True
        return origin in self._origins

    def _remember(self, origin: str) -> None:
        self._origins[origin] = None
        if len(self._origins) > 2 * _REMEMBERED:
            self._origins.popitem(last=False)

    # -- progress ---------------------------------------------------------------------------------

    def _progress(self) -> _Progress:
        if not self._open:
            return _Progress(self._highest, self._place)
        # Events above the floor were stored after the place that was known when the first open one
        # was sent.
        first = min(self._open)
        return _Progress(first - 1, self._open[first])

    async def _save_periodically(self) -> None:
        while True:
            await asyncio.sleep(_SAVE)
            await self._save()

    async def _save(self) -> None:
        now = self._progress()
        if now.floor <= self._saved.floor:
            return
        progress = {"queue": self._queue, "sequence": now.floor, "place": now.place}
        try:
            await self._there.publish(self._key, encode_json(progress), timeout=5)
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot save the progress of a link: %s", error)
            return
        self._saved = now
        self._stored = {number for number in self._stored if number > now.floor}
