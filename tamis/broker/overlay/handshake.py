"""How nodes meet: they say what they are, and see that a link between them is right.

The node that makes a link asks (`greeted`), a broker of the other answers (`Greeting`): `hello` to
see whether it could be, `link` to have it, `bye` to have it no more. Each writes into its own NATS.
Once there is a link it asks for something to read (`read`): a consumer, see `consumers`.
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
    """What a node goes by when it meets another: for both who asks and who is asked."""

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
        """See that a link to another node is right.

        Args:
            other: The other node.
            asked: Whether that node makes the link; errors are then said as it sees it.

        Raises:
            BrokerError: It is not.
        """
        one, two = (other, self.description) if asked else (self.description, other)
        one.check(two)
        checked_name(other.name, "node")
        way = await self.table.run_on_executor(self.table.members.way, other.name, other.name)
        if way is not None:
            error = LoopError(one.name, two.name, list(reversed(way) if asked else way))
            raise BrokerError(str(error), "loop")

    async def save_link(self, neighbour: str, record: LinkRecord) -> None:
        """Have a link in this node: the queue, and the record."""
        await self._prepare_queue(neighbour)
        if self.table.records.get(neighbour) != record:
            revision = await put_link(self.js, self.names, neighbour, record)
            await self.table.wait_for_revision(revision)

    async def clear(self, neighbour: str) -> None:
        """Take a link away in this node."""
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
    """For `async with`: answers other nodes, as one of the group of brokers."""

    async def __aenter__(self) -> HandshakeServer:
        """Listen."""
        self._subscription = await self.connection.nats.subscribe(
            self.names.peer("*", "*"), queue=self.names.group, cb=self._take
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Listen no more."""
        if not self.connection.nats.is_closed:
            await self._subscription.unsubscribe()

    async def _take(self, message: Msg) -> None:
        neighbour, verb = message.subject.split(".")[-2:]
        try:
            answer = await self._answer(checked_name(neighbour, "node"), verb, message.data)
        except TamisError as error:
            answer = refusal(error)
        except msgspec.DecodeError as error:
            answer = refusal(BrokerError(f"cannot read it: {error}", "request"))
        except (NatsError, OSError, TimeoutError) as error:
            answer = refusal(BrokerError(f"not now: {error!r}", "busy"))
        try:
            await self.connection.nats.publish(message.reply, encode_json(answer))
        except NatsError as error:
            log.debug("cannot answer %s: %s", message.subject, error)

    async def _answer(self, neighbour: str, verb: str, data: bytes) -> dict[str, Any]:
        if verb == "bye":
            await self.clear(neighbour)
            return {}
        asked = decode_object(data)
        if verb == "read":
            what = msgspec.convert(asked.get("what"), LinkFeed)
            first = msgspec.convert(asked.get("first"), int)
            return msgspec.structs.asdict(
                await make_consumer(self.js, self.names, neighbour, what, first)
            )
        other = msgspec.convert(asked.get("node"), Description)
        if other.name != neighbour:
            raise BrokerError(f"{neighbour} is not {other.name}", "request")
        await self.check(other, asked=True)
        mine = self.table.records.get(neighbour)
        if mine is not None and mine.by != neighbour and not mine.refused:
            raise BrokerError(
                f"{self.description.name} runs a link to {neighbour} already; "
                "give --link to one of the two only",
                "overlay",
            )
        if verb == "link":
            record = msgspec.convert(asked.get("record"), LinkRecord)
            if record.by != neighbour:
                raise BrokerError(f"{neighbour} cannot make a link of {record.by}", "request")
            await self.save_link(neighbour, record)
        elif verb != "hello":
            raise BrokerError(f"unknown request {verb!r}", "request")
        return {"node": self.description, "record": mine}


async def establish_link(handshake: Handshake, there: Connection) -> tuple[str, LinkRecord]:
    """Make a link to the node at a server, or find the one that is there; its name.

    Raises:
        BrokerError: It cannot be.
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
    # A link that one side still knows is the same link.
    known = next((each for each in (mine, theirs) if each and not each.refused), None)
    id, made = (known.id, known.made) if known else (uuid4().hex[:12], time.time_ns())
    record = LinkRecord(id=id, made=made, by=me.name)
    await ask_neighbour(there, handshake.names, me.name, "link", {"node": me, "record": record})
    await handshake.save_link(other.name, record)
    return other.name, record


async def request_consumer(
    there: Connection, names: Names, name: str, what: LinkFeed, first: int
) -> LinkConsumer:
    """Ask another node for something to read there.

    Raises:
        BrokerError: It refuses, or nobody is there.
    """
    answer = await ask_neighbour(there, names, name, "read", {"what": what, "first": first})
    return msgspec.convert(answer, LinkConsumer)


async def ask_neighbour(
    there: Connection, names: Names, name: str, verb: str, body: dict[str, Any]
) -> dict[str, Any]:
    """Ask another node for something.

    Raises:
        BrokerError: It refuses, or nobody is there.
    """
    try:
        reply = await there.nats.request(
            names.peer(name, verb), encode_json(body), timeout=_TIMEOUT
        )
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(
            f"no node answers there ({error}); is `tamis serve --name` running? A user of the role "
            f"link there would have to be called {name}",
            "unreachable",
        ) from None
    answer = decode_object(reply.data)
    raise_refusal(answer)
    return answer
