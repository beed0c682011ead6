"""A broker: pulls events, judges them in micro-batches, delivers, and only then acknowledges.

It keeps nothing that is not in NATS: kill it at any moment, and another broker, or its successor,
gets what it had not acknowledged. What it had delivered already NATS does not store again, as
deliveries have ids made of the event and the subscriber.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.fabric.pull import Pull
from tamis.broker.fabric.streams import prepare
from tamis.broker.fabric.tasks import cancel_and_wait
from tamis.broker.overlay.node import OverlayNode
from tamis.broker.overlay.route_bucket import check_alone
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import encode_json, place_of
from tamis.broker.service.latency import Histogram
from tamis.broker.service.matching import BatchMatcher, BatchOutput
from tamis.broker.service.requests import Requests
from tamis.broker.service.sequence_service import SequenceMatcher
from tamis.broker.service.subscription_registry import Register
from tamis.matcher import Matcher

# Of so many events, the latency of one is looked at.
_SAMPLED = 32


@dataclass
class Figures:
    """What a broker has done since it started."""

    events: int = 0
    deliveries: int = 0
    repeated: int = 0
    dead: int = 0
    expired: int = 0
    undeliverable: int = 0
    batches: int = 0


class Broker:
    """For `async with`: serves from then on, until the end of the block, where it drains.

    Attributes:
        id: A name of its own.
        names: What everything is called.
        register: The subscriptions.
        figures: What it has done.
        latency: From the time an event was stored until its deliveries were, of some of them.
        node: Its part in an overlay; None if it stands alone.
    """

    def __init__(
        self,
        connection: Connection,
        settings: Settings | None = None,
        *,
        batch_matcher: Callable[..., BatchMatcher] = BatchMatcher,
    ) -> None:
        """Create a broker; it serves inside `async with`.

        Args:
            connection: The connection to NATS, which the caller closes.
            settings: The settings; the defaults if None.
            batch_matcher: Makes what matches events, from the arguments of `BatchMatcher`.

        Raises:
            BrokerError: The name of the node is invalid.
            InputError: The routing strategy of the node does not exist.
        """
        self.settings = settings or Settings()
        self.names = Names(self.settings.prefix)
        self.id = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:6]}"
        self.figures = Figures()
        self.latency = Histogram()
        self._connection = connection
        self._executor = ThreadPoolExecutor(1, "tamis-judge")
        self.node = self._overlay_node()
        self.register = Register(
            connection,
            self.names,
            Matcher(self.settings.schema, self.settings.semantics),
            self._executor,
            None if self.node is None else self.node.table,
        )
        self._matcher = batch_matcher(
            self.register,
            self.names,
            self.settings,
            connection.nats.max_payload,
            None if self.node is None else self.node.forwarder,
        )
        self._stack = AsyncExitStack()
        self._failed: asyncio.Future[None] | None = None

    def _overlay_node(self) -> OverlayNode | None:
        settings = self.settings
        if settings.node is None:
            return None
        return OverlayNode(
            self._connection, self.names, settings, settings.node, self._executor, self.id
        )

    async def __aenter__(self) -> Broker:
        """Make the streams, read the subscriptions, and begin.

        Raises:
            BrokerError: NATS refuses.
        """
        self._failed = asyncio.get_running_loop().create_future()
        try:
            await self._start_parts()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _start_parts(self) -> None:
        settings, names, connection = self.settings, self.names, self._connection
        await prepare(connection.nats.jetstream(), names, settings)
        stack = self._stack
        stack.callback(self._executor.shutdown)
        self._publisher = await stack.enter_async_context(Publisher(connection))
        if self.node is not None:
            self._start(self.node.table.run())
        else:
            await check_alone(connection.nats.jetstream(), names)
        self._start(self.register.run())
        self.sequence_matcher = SequenceMatcher(
            connection,
            self.register,
            self._matcher,
            self._publisher,
            self._executor,
            names,
            settings,
            self.id,
        )
        await self._wait_or_fail(self.register.ready.wait())
        if self.node is not None:
            await self._wait_or_fail(self.node.table.ready.wait())
            await self.node.check()
            await stack.enter_async_context(self.node)
        requests = Requests(connection, self.register, self._publisher, names, settings)
        await stack.enter_async_context(requests)
        status = await connection.nats.subscribe(names.status, cb=self._send_status)
        stack.push_async_callback(status.unsubscribe)
        self._in_flight = asyncio.Semaphore(settings.in_flight)
        self._finishing: set[asyncio.Task[None]] = set()
        self._unfinished: dict[int, tuple[float, list[Msg]]] = {}
        self._pull = await stack.enter_async_context(
            Pull(connection, names.event_stream, names.group, 2 * settings.batch)
        )
        self._pulling = asyncio.create_task(self._pull_events())
        self._pulling.add_done_callback(self._record_failure)
        stack.push_async_callback(self._drain)
        self._start(self.sequence_matcher.run())
        if self.node is not None:
            for work in (*self.node.background_tasks(), self._extend_ack_wait):
                self._start(work())

    async def _wait_or_fail(self, what: Awaitable[object]) -> None:
        """Wait for something that may never come if a part of the broker has failed."""
        coming, failed = asyncio.ensure_future(what), asyncio.ensure_future(self.wait_for_failure())
        await asyncio.wait([coming, failed], return_when=asyncio.FIRST_COMPLETED)
        coming.cancel()
        if failed.done():
            failed.result()
        failed.cancel()

    async def __aexit__(self, *_: object) -> None:
        """Finish what has begun, give back what has not, and stop."""
        await self._stack.aclose()

    async def wait_for_failure(self) -> None:
        """Wait for ever, or until a part of the broker has failed; that is then raised."""
        assert self._failed is not None
        await asyncio.shield(self._failed)

    @property
    def connection(self) -> Connection:
        """Its connection to NATS."""
        return self._connection

    def status(self) -> dict[str, object]:
        """What it is and does."""
        return {
            "broker": self.id,
            "revision": self.register.revision,
            "subscriptions": len(self.register.entries),
            "refused": len(self.register.refused),
            "sequences": self.sequence_matcher.leads,
            **asdict(self.figures),
            **({} if self.node is None else {"overlay": self.node.status()}),
        }

    # -- events -----------------------------------------------------------------------------------

    async def _pull_events(self) -> None:
        loop, settings = asyncio.get_running_loop(), self.settings
        while True:
            messages = await self._pull.take(settings.batch, settings.wait)
            if not messages:
                if self._pull.is_stopped:
                    return
                await asyncio.sleep(0.1)  # NATS does not have the consumer at the moment
                continue
            self._unfinished[id(messages)] = loop.time(), messages
            await self._in_flight.acquire()
            judged = await loop.run_in_executor(self._executor, self._matcher.match, messages)
            group, links = PublishGroup(), PublishGroup()
            # Published here, in order, and confirmed later, while the next batch is judged.
            for out in (*judged.deliveries, *judged.dead):
                await self._publisher.publish(group, *out)
            for out in judged.links:
                # A neighbour may have left since this was judged.
                if self.node is not None and self.node.is_linked(out.subject):
                    await self.node.publisher.publish(links, *out)
            task = asyncio.create_task(self._finish_batch(messages, judged, group, links))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def _finish_batch(
        self, messages: list[Msg], output: BatchOutput, group: PublishGroup, links: PublishGroup
    ) -> None:
        """Acknowledge events once all that was made of them is stored."""
        try:
            await group.wait_confirmed()
            await links.wait_confirmed()
            for place, error in group.failed.items():
                log.warning("not delivered: %s: %s", output.deliveries[place].subject, error)
            for error in links.failed.values():
                log.warning("not sent over a link: %s", error)
            for message in messages:
                await self._nats_publish(message.reply, b"+ACK")
        finally:
            self._unfinished.pop(id(messages), None)
            self._in_flight.release()
        for message in messages[::_SAMPLED]:
            self.latency.observe(time.time() - place_of(message.reply).time / 1e9)
        figures = self.figures
        figures.batches += 1
        figures.events += len(messages)
        figures.deliveries += len(output.deliveries)
        figures.repeated += group.duplicates
        figures.dead += len(output.dead)
        figures.expired += output.expired
        figures.undeliverable += len(group.failed)

    async def _extend_ack_wait(self) -> None:
        """Keep what waits for the queue of a link to have room: nobody else could do it either."""
        pause = self.settings.ack_wait / 3
        while True:
            await asyncio.sleep(pause)
            held = list(self._unfinished.values())
            late = asyncio.get_running_loop().time() - pause
            if any(since < late for since, _ in held):
                for messages in (*(each for _, each in held), self._pull.ready_messages):
                    for message in messages:
                        await self._nats_publish(message.reply, b"+WPI")

    async def _nats_publish(self, subject: str, payload: bytes) -> None:
        try:
            await self._connection.nats.publish(subject, payload)
        except NatsError as error:
            log.debug("lost, and will be done again: %s", error)

    async def _drain(self) -> None:
        await self._pull.stop()
        await asyncio.wait([self._pulling])
        if self._finishing:
            await asyncio.wait(self._finishing, timeout=self.settings.ack_wait)

    # -- the rest ---------------------------------------------------------------------------------

    def _start(self, work: Awaitable[None]) -> None:
        """Run something until the end; the broker fails if it does."""
        task = asyncio.ensure_future(work)
        task.add_done_callback(self._record_failure)

        self._stack.push_async_callback(cancel_and_wait, task)

    def _record_failure(self, task: asyncio.Future[None]) -> None:
        assert self._failed is not None
        if not task.cancelled() and (error := task.exception()) and not self._failed.done():
            self._failed.set_exception(error)

    async def _send_status(self, message: Msg) -> None:
        if message.reply:
            if self.node is not None:
                await self.node.refresh()
            await self._nats_publish(message.reply, encode_json(self.status()))
