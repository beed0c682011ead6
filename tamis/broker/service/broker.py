"""A broker: it pulls events, matches them in micro-batches, delivers, and only then acknowledges.

A broker keeps no state outside NATS. You can kill it at any moment: another broker gets the events
that it had not acknowledged. NATS does not store a delivery twice, as the id of a delivery is made
of the event and the subscriber.
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
from tamis.broker.service.subscription_registry import SubscriptionRegistry
from tamis.matcher import Matcher

# The latency of one event in so many is measured.
_SAMPLED = 32


@dataclass
class Figures:
    """The counters of a broker since it started.

    Attributes:
        events: Events matched.
        deliveries: Deliveries published, one per event and subscriber.
        repeated: Deliveries that NATS had stored already.
        dead: Events that became dead letters.
        expired: Events whose time to live had ended.
        undeliverable: Deliveries that NATS did not accept.
        batches: Batches of events.
    """

    events: int = 0
    deliveries: int = 0
    repeated: int = 0
    dead: int = 0
    expired: int = 0
    undeliverable: int = 0
    batches: int = 0


class Broker:
    """A broker; an async context manager that serves inside its block and drains at the end.

    Attributes:
        id: A unique name.
        settings: The settings.
        names: The names of the system.
        registry: The subscriptions.
        figures: The counters.
        latency: The time from storing an event to storing its deliveries, of a sample of events.
        node: The node of an overlay; None outside one.
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
        self._executor = ThreadPoolExecutor(1, "tamis-match")
        self.node = self._overlay_node()
        self.registry = SubscriptionRegistry(
            connection,
            self.names,
            Matcher(self.settings.schema, self.settings.semantics),
            self._executor,
            None if self.node is None else self.node.table,
        )
        self._matcher = batch_matcher(
            self.registry,
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
        """Create the streams, read the subscriptions, and start to serve.

        Raises:
            BrokerError: NATS refuses, or the node does not fit to the other brokers.
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
        self._start(self.registry.run())
        self.sequence_matcher = SequenceMatcher(
            connection,
            self.registry,
            self._matcher,
            self._publisher,
            self._executor,
            names,
            settings,
            self.id,
        )
        await self._wait_or_fail(self.registry.ready.wait())
        if self.node is not None:
            await self._wait_or_fail(self.node.table.ready.wait())
            await self.node.check()
            await stack.enter_async_context(self.node)
        requests = Requests(connection, self.registry, self._publisher, names, settings)
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

    async def _wait_or_fail(self, event: Awaitable[object]) -> None:
        """Wait for an event; raise if a part of the broker fails first."""
        waiting = asyncio.ensure_future(event)
        failed = asyncio.ensure_future(self.wait_for_failure())
        await asyncio.wait([waiting, failed], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if failed.done():
            failed.result()
        failed.cancel()

    async def __aexit__(self, *_: object) -> None:
        """Finish the batches in flight, return other events to NATS, and stop."""
        await self._stack.aclose()

    async def wait_for_failure(self) -> None:
        """Wait until a part of the broker fails, and raise its error."""
        assert self._failed is not None
        await asyncio.shield(self._failed)

    @property
    def connection(self) -> Connection:
        """The connection to NATS."""
        return self._connection

    def status(self) -> dict[str, object]:
        """Return the status that the broker reports."""
        return {
            "broker": self.id,
            "revision": self.registry.revision,
            "subscriptions": len(self.registry.entries),
            "refused": len(self.registry.refused),
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
                await asyncio.sleep(0.1)  # the consumer is missing at the moment
                continue
            self._unfinished[id(messages)] = loop.time(), messages
            await self._in_flight.acquire()
            output = await loop.run_in_executor(self._executor, self._matcher.match, messages)
            group, links = PublishGroup(), PublishGroup()
            # Published here, in order, and confirmed later, while the next batch is matched.
            for out in (*output.deliveries, *output.dead):
                await self._publisher.publish(group, *out)
            for out in output.links:
                # The neighbour may have left since the event was routed.
                if self.node is not None and self.node.is_linked(out.subject):
                    await self.node.publisher.publish(links, *out)
            task = asyncio.create_task(self._finish_batch(messages, output, group, links))
            self._finishing.add(task)
            task.add_done_callback(self._finishing.discard)

    async def _finish_batch(
        self, messages: list[Msg], output: BatchOutput, group: PublishGroup, links: PublishGroup
    ) -> None:
        """Acknowledge events once their deliveries and forwarded copies are stored."""
        try:
            await group.wait_confirmed()
            await links.wait_confirmed()
            for place, error in group.failed.items():
                log.warning("cannot deliver to %s: %s", output.deliveries[place].subject, error)
            for error in links.failed.values():
                log.warning("cannot forward an event over a link: %s", error)
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
        """Keep the events that wait for room in a link's queue: no other broker has room either."""
        pause = self.settings.ack_wait / 3
        while True:
            await asyncio.sleep(pause)
            unfinished = list(self._unfinished.values())
            late = asyncio.get_running_loop().time() - pause
            if any(since < late for since, _ in unfinished):
                for messages in (*(each for _, each in unfinished), self._pull.ready_messages):
                    for message in messages:
                        await self._nats_publish(message.reply, b"+WPI")

    async def _nats_publish(self, subject: str, payload: bytes) -> None:
        try:
            await self._connection.nats.publish(subject, payload)
        except NatsError as error:
            log.debug("cannot publish to %s, NATS redelivers: %s", subject, error)

    async def _drain(self) -> None:
        await self._pull.stop()
        await asyncio.wait([self._pulling])
        if self._finishing:
            await asyncio.wait(self._finishing, timeout=self.settings.ack_wait)

    # -- the rest ---------------------------------------------------------------------------------

    def _start(self, work: Awaitable[None]) -> None:
        """Run a task until the broker stops; if the task fails, the broker fails."""
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
