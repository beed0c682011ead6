"""The handshake of two nodes: exchange descriptions, and check that a link is allowed.

The node that opens a link sends requests (`establish_link`), and a broker of the other node answers
them (`HandshakeServer`): `hello` to check whether a link is possible, `link` to create it, `bye` to
remove it. Each node writes to its own NATS server. A running link then requests the consumers that
it reads (`read`); see `link_consumers`.
"""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import msgspec
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.streams import QUEUE, link_stream
from tamis.broker.overlay.link_consumers import LinkConsumer, make_consumer
from tamis.broker.overlay.node_table import OverlayTable
from tamis.broker.overlay.overlay_records import Description, LinkRecord
from tamis.broker.overlay.route_bucket import clear, put_link
from tamis.broker.protocol.link_permissions import LinkFeed
from tamis.broker.protocol.names import Names, checked_name
from tamis.broker.protocol.wire import decode_object, encode_json, raise_refusal, refusal
from tamis.errors import BrokerError, LoopError, TamisError

_TIMEOUT = 5.0


class Handshake:
    """The side of a node in a handshake, for requests and for answers."""

    def __init__(
        self,
        connection: Connection,
        table: OverlayTable,
        names: Names,
        settings: Settings,
        node: NodeSettings,
    ) -> None:
        """Take the parts of a node."""
        self.connection = connection
        self.js: JetStreamContext = connection.nats.jetstream()
        self.table = table
        self.names = names
        self.description = Description.of(settings, node)
        self._settings = settings
        self._node = node

    async def check(self, other: Description, asked: bool = False) -> None:
        """Check that a link to another node is allowed.

        Args:
            other: The other node.
            asked: Whether the other node opens the link; errors then take its point of view.

        Raises:
            BrokerError: The nodes do not fit, or the link would close a loop.
        """
        one, two = (other, self.description) if asked else (self.description, other)
        one.check(two)
        checked_name(other.name, "node")
        way = await self.table.run_on_executor(self.table.members.way, other.name, other.name)
        if way is not None:
            error = LoopError(one.name, two.name, list(reversed(way) if asked else way))
            raise BrokerError(str(error), "loop")

    async def save_link(self, neighbour: str, record: LinkRecord) -> None:
        """Create or update a link in this node: its queue and its record."""
        await self._prepare_queue(neighbour)
        if self.table.records.get(neighbour) != record:
            revision = await put_link(self.js, self.names, neighbour, record)
            await self.table.wait_for_revision(revision)

    async def clear(self, neighbour: str) -> None:
        """Remove a link in this node."""
        await clear(self.js, self.names, neighbour)

    async def _prepare_queue(self, neighbour: str) -> None:
        try:
            info = await self.js.stream_info(self.names.link_stream(neighbour))
            queue = (info.config.metadata or {}).get(QUEUE) or uuid4().hex[:8]
            change = self.js.update_stream
        except NotFoundError:
            queue, change = uuid4().hex[:8], self.js.add_stream
        await change(link_stream(self.names, self._settings, self._node, neighbour, queue))


class HandshakeServer(Handshake):
    """Answers other nodes, in a queue group with the other brokers; an async context manager."""

    async def __aenter__(self) -> HandshakeServer:
        """Start to listen."""
        self._subscription = await self.connection.nats.subscribe(
            self.names.peer("*", "*"), queue=self.names.group, cb=self._take
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        if not self.connection.nats.is_closed:
            await self._subscription.unsubscribe()

    async def _take(self, message: Msg) -> None:
        neighbour, verb = message.subject.split(".")[-2:]
        try:
            answer = await self._answer(checked_name(neighbour, "node"), verb, message.data)
        except TamisError as error:
            answer = refusal(error)
        except msgspec.DecodeError as error:
            answer = refusal(BrokerError(f"cannot decode the request: {error}", "request"))
        except (NatsError, OSError, TimeoutError) as error:
            answer = refusal(BrokerError(f"the node is busy: {error!r}", "busy"))
        try:
            await self.connection.nats.publish(message.reply, encode_json(answer))
        except NatsError as error:
            log.debug("cannot answer %s: %s", message.subject, error)

    async def _answer(self, neighbour: str, verb: str, data: bytes) -> dict[str, Any]:
        if verb == "bye":
            await self.clear(neighbour)
            return {}
        request = decode_object(data)
        if verb == "read":
            what = msgspec.convert(request.get("what"), LinkFeed)
            first = msgspec.convert(request.get("first"), int)
            return msgspec.structs.asdict(
                await make_consumer(self.js, self.names, neighbour, what, first)
            )
        other = msgspec.convert(request.get("node"), Description)
        if other.name != neighbour:
            raise BrokerError(
                f"the request of {neighbour} describes the node {other.name}", "request"
            )
        await self.check(other, asked=True)
        mine = self.table.records.get(neighbour)
        if mine is not None and mine.by != neighbour and not mine.refused:
            raise BrokerError(
                f"{self.description.name} runs a link to {neighbour} already; "
                "give --link to one of the two only",
                "overlay",
            )
        if verb == "link":
            record = msgspec.convert(request.get("record"), LinkRecord)
            if record.by != neighbour:
                raise BrokerError(f"{neighbour} cannot open a link for {record.by}", "request")
            await self.save_link(neighbour, record)
        elif verb != "hello":
            raise BrokerError(f"unknown request {verb!r}", "request")
        return {"node": self.description, "record": mine}


async def establish_link(handshake: Handshake, there: Connection) -> tuple[str, LinkRecord]:
    """Create or resume a link to the node at a server; return the node's name and the record.

    Raises:
        BrokerError: The link is not allowed, or no node answers.
    """
    me = handshake.description
    answer = await ask_neighbour(there, handshake.names, me.name, "hello", {"node": me})
    other = msgspec.convert(answer["node"], Description)
    await handshake.check(other)
    theirs = msgspec.convert(answer.get("record"), LinkRecord | None)
    mine = handshake.table.records.get(other.name)
    if mine is not None and mine.by == other.name and not mine.refused:
        raise BrokerError(
            f"{other.name} runs a link to {me.name} already; give --link to one of the two only",
            "overlay",
        )
    # If one side still has a record, it is the same link.
    known = next((each for each in (mine, theirs) if each and not each.refused), None)
    id, made = (known.id, known.made) if known else (uuid4().hex[:12], time.time_ns())
    record = LinkRecord(id=id, made=made, by=me.name)
    await ask_neighbour(there, handshake.names, me.name, "link", {"node": me, "record": record})
    await handshake.save_link(other.name, record)
    return other.name, record


async def request_consumer(
    there: Connection, names: Names, name: str, what: LinkFeed, first: int
) -> LinkConsumer:
    """Have another node create a consumer there for the link.

    Raises:
        BrokerError: The node refuses, or does not answer.
    """
    answer = await ask_neighbour(there, names, name, "read", {"what": what, "first": first})
    return msgspec.convert(answer, LinkConsumer)


async def ask_neighbour(
    there: Connection, names: Names, name: str, verb: str, body: dict[str, Any]
) -> dict[str, Any]:
    """Send a request to another node, and return its answer.

    Raises:
        BrokerError: The node refuses, or does not answer.
    """
    try:
        reply = await there.nats.request(
            names.peer(name, verb), encode_json(body), timeout=_TIMEOUT
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no node answers there ({error}); is `tamis serve --name` running? If it has users, "
            f"add one with the role link and the name {name} there",
            "unreachable",
        ) from None
    answer = decode_object(reply.data)
    raise_refusal(answer)
    return answer
