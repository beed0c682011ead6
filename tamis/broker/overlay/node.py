"""The parts of a broker that make it a node of an overlay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import AsyncExitStack, suppress
from typing import Any

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.publish import Publisher
from tamis.broker.fabric.request import statuses
from tamis.broker.overlay.advertiser import RouteWriter
from tamis.broker.overlay.discovery import gather_nodes
from tamis.broker.overlay.forwarder import Forwarder
from tamis.broker.overlay.handshake import HandshakeServer
from tamis.broker.overlay.link_keeper import LinkKeeper
from tamis.broker.overlay.node_table import OverlayTable
from tamis.broker.overlay.overlay_counters import NodeFigures
from tamis.broker.overlay.overlay_records import Description
from tamis.broker.protocol.names import Names, checked_name
from tamis.broker.protocol.wire import encode_json
from tamis.errors import BrokerError


class OverlayNode:
    """A node of an overlay; an async context manager, to be entered once the table is ready.

    Attributes:
        table: The interests and links of the node.
        figures: The counters of the node.
        forwarder: Routes events, for the matcher.
        publisher: Publishes events to the queues of links. It is separate as a full queue makes it
            wait.
    """

    def __init__(
        self,
        connection: Connection,
        names: Names,
        settings: Settings,
        node: NodeSettings,
        executor: Executor,
        holder: str,
    ) -> None:
        """Take the parts of a broker.

        Raises:
            BrokerError: The name of the node is invalid.
            InputError: The routing strategy does not exist.
        """
        checked_name(node.name, "node")
        self.table = OverlayTable(connection, names, node, executor, self._drop_pending)
        self.figures = NodeFigures()
        self.forwarder = Forwarder(self.table, names, self.figures)
        self.publisher = Publisher(connection)
        self._connection = connection
        self._names = names
        self._handshake = HandshakeServer(connection, self.table, names, settings, node)
        self._route_publisher = Publisher(connection)
        self._route_writer = RouteWriter(
            connection, self.table, self._route_publisher, names, holder
        )
        self._keepers = [
            LinkKeeper(self._handshake, url, holder, dict(node.options)) for url in node.links
        ]
        self._stack = AsyncExitStack()
        self._state: dict[str, Any] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def check(self) -> None:
        """Check that this NATS server is this node, and that all its brokers agree.

        Raises:
            BrokerError: They do not agree, or NATS does not answer.
        """
        try:
            await self._check()
        except (NatsError, OSError, TimeoutError) as error:
            raise BrokerError(f"NATS does not answer: {error!r}", "unreachable") from error

    async def _check(self) -> None:
        js = self._connection.nats.jetstream()
        stream = self._names.bucket_stream(self._names.state)
        subject = self._names.bucket_subject(self._names.state, "node")
        me = self._handshake.description
        try:
            saved = (await js.get_last_msg(stream, subject)).data or b""
            before = msgspec.json.decode(saved, type=Description)
        except (NotFoundError, msgspec.DecodeError):
            before = me
        if before.name != me.name and self.table.records:
            raise BrokerError(
                f"this NATS server is the node {before.name!r}, which has links; give that --name, "
                "or remove its links first with tamis overlay unlink",
                "overlay",
            )
        for status in await statuses(self._connection, self._names, 0.2):
            if "overlay" not in status:
                raise BrokerError(
                    "a broker without --name runs on this NATS server and would not forward "
                    "events; stop it first, or give it --name too",
                    "overlay",
                )
            other = status["overlay"].get("node")
            if other is not None and (there := msgspec.convert(other, Description)) != me:
                if there.name != me.name:
                    raise BrokerError(
                        f"another broker on this NATS server is the node {there.name!r}; "
                        "give all of them the same --name",
                        "overlay",
                    )
                msgspec.structs.replace(me, name=f"{me.name} (this broker)").check(there)
        await js.publish(subject, encode_json(me))

    async def __aenter__(self) -> OverlayNode:
        """Start to answer and to publish."""
        stack = self._stack
        for part in (self.publisher, self._route_publisher, self._handshake):
            await stack.enter_async_context(part)
        listening = await self._connection.nats.subscribe(
            self._names.overlay, queue=self._names.group, cb=self._accept_request
        )
        stack.push_async_callback(listening.unsubscribe)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self._stack.aclose()

    def background_tasks(self) -> list[Callable[[], Awaitable[None]]]:
        """Return the tasks that run as long as the broker."""
        return [self._route_writer.run, *(keeper.run for keeper in self._keepers)]

    async def refresh(self) -> dict[str, Any]:
        """Update the status, and return it."""
        self._state = await self.table.run_on_executor(self._build_status)
        return self.status()

    def status(self) -> dict[str, Any]:
        """Return the status of the last `refresh`."""
        return self._state

    def _build_status(self) -> dict[str, Any]:
        state = self.table.state()
        for neighbour, link in state["links"].items():
            link |= self.figures.link_dict(neighbour)
        for keeper in self._keepers:
            if keeper.neighbour in state["links"]:
                link = state["links"][keeper.neighbour]
                link |= {"up": keeper.up, "trouble": keeper.trouble}
        return {
            "node": self._handshake.description,
            "leads": self._route_writer.leads,
            "down": {
                each.display_url: each.trouble
                for each in self._keepers
                if each.trying and not each.up
            },
            "checks": self.figures.checks,
            "false_positives": self.figures.false_positives,
            "looped": self.figures.looped,
            **state,
        }

    def _drop_pending(self, neighbour: str) -> None:
        """Give up the unconfirmed events for a neighbour that has left."""
        self.publisher.drop(self._names.link(neighbour))

    def is_linked(self, subject: str) -> bool:
        """Return whether a subject is that of a link's queue."""
        return subject.rpartition(".")[2] in self.table.links

    async def _accept_request(self, message: Msg) -> None:
        # In a task, as asking other nodes takes a while and must not delay the next message.
        task = asyncio.create_task(self._send_overlay(message))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _send_overlay(self, message: Msg) -> None:
        nodes = await gather_nodes(self._connection, self._names, self.table, message.data)
        with suppress(NatsError):
            await self._connection.nats.publish(message.reply, encode_json(nodes))
