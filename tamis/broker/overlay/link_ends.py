"""The two ends of a link."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple

from nats.aio.msg import Msg

from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.follow import Begun, read
from tamis.broker.overlay.link_consumers import Maker
from tamis.broker.protocol.link_permissions import What, place
from tamis.broker.protocol.names import Names


class End(NamedTuple):
    """One end.

    Attributes:
        name: The node.
        neighbour: The node at the other end.
        connection: To its NATS server.
        names: What everything is called there.
        make: Makes consumers there.
    """

    name: str
    neighbour: str
    connection: Connection
    names: Names
    make: Maker

    def reading(self, what: What, first: int = 1) -> AsyncGenerator[Begun | list[Msg], None]:
        """Read something there, in order, for ever; see `following.read`.

        Args:
            what: What to read.
            first: Of events, from which place on.
        """
        stream, consumer, _ = place(self.names, self.neighbour, what)

        async def make() -> tuple[str, int]:
            return consumer, (await self.make(what, first)).pending

        return read(self.connection, stream, make)


class Interrupted(Exception):
    """Something ended that must be begun anew."""
