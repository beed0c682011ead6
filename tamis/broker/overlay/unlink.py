"""How a link is taken away by whoever looks after a node."""

from __future__ import annotations

import asyncio

import msgspec
from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection
from tamis.broker.overlay.route_bucket import clear, link_record, put_link
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError

_PAUSE = 0.1


async def unlink(
    connection: Connection,
    names: Names,
    neighbour: str,
    *,
    forget: bool = False,
    timeout: float = 10.0,
) -> int:
    """Take a link away, with what waits to go over it; gives how many events that were.

    Args:
        connection: To the NATS server of the node.
        names: All names.
        neighbour: The node at the other end.
        forget: On this side only, whatever the other side knows.
        timeout: How long to wait for the other side.

    Raises:
        BrokerError: There is no such link, or the other side does not answer.
    """
    js = connection.nats.jetstream()
    try:
        record = await link_record(js, names, neighbour)
        if record is None:
            raise BrokerError(f"there is no link to {neighbour!r} here", "unknown")
        waiting = (await js.stream_info(names.link_stream(neighbour))).state.messages
        if forget:
            await clear(js, names, neighbour)
            return waiting
        # Whoever runs the link sees it, and takes it away on both sides.
        await put_link(js, names, neighbour, msgspec.structs.replace(record, leaving=True))
        deadline = asyncio.get_running_loop().time() + timeout
        while await link_record(js, names, neighbour) is not None:
            if asyncio.get_running_loop().time() > deadline:
                await put_link(js, names, neighbour, record)
                raise BrokerError(
                    f"the link to {neighbour} is down, and {waiting:,} events wait for it; nothing "
                    "has changed. --forget takes it away on this side only",
                    "unreachable",
                )
            await asyncio.sleep(_PAUSE)
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(f"NATS does not answer: {error!r}", "unreachable") from error
    return waiting
