"""The two ends of a link."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple

from nats.aio.msg import Msg

from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.follow import ReadStart, follow_consumer
from tamis.broker.overlay.link_consumers import ConsumerMaker
from tamis.broker.protocol.link_permissions import LinkFeed, link_source
from tamis.broker.protocol.names import Names


class LinkEnd(NamedTuple):
    """One end of a link.

    Attributes:
        name: The node.
        neighbour: The node at the other end.
        connection: The connection to the node's NATS server.
        names: The names of the system there.
        make: Creates consumers there.
    """

    name: str
    neighbour: str
    connection: Connection
    names: Names
    make: ConsumerMaker

    def follow(self, what: LinkFeed, first: int = 1) -> AsyncGenerator[ReadStart | list[Msg], None]:
        """Yield the messages of a feed in order; see `tamis.broker.fabric.follow.follow_consumer`.

        Args:
            what: The feed.
            first: The sequence at which to start, for events.
        """
        stream, consumer, _ = link_source(self.names, self.neighbour, what)

        async def make() -> tuple[str, int]:
            return consumer, (await self.make(what, first)).pending

        return follow_consumer(self.connection, stream, make)


class LinkInterruptedError(Exception):
    """A part of a link was interrupted, and the link must start again."""
