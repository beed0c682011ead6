"""Remove a link, for `tamis overlay unlink`."""

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
    """Remove a link with the events that wait for it, and return how many these were.

    Args:
        connection: The connection to the NATS server of the node.
        names: The names of the system.
        neighbour: The node at the other end.
        forget: Remove the link on this side only, without the other side.
        timeout: How many seconds to wait for the other side.

    Raises:
        BrokerError: The link does not exist, or the other side does not answer.
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
        # The broker that runs the link sees this, and removes the link on both sides.
        await put_link(js, names, neighbour, msgspec.structs.replace(record, leaving=True))
        deadline = asyncio.get_running_loop().time() + timeout
        while await link_record(js, names, neighbour) is not None:
            if asyncio.get_running_loop().time() > deadline:
                await put_link(js, names, neighbour, record)
                raise BrokerError(
                    f"the link to {neighbour} is down, and {waiting:,} events wait for it; nothing "
                    "was changed. Use --forget to remove the link on this side only",
                    "unreachable",
                )
            await asyncio.sleep(_PAUSE)
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(f"NATS does not answer: {error!r}", "unreachable") from error
    return waiting
