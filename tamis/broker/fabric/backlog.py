"""The backlog on NATS: unmatched events, unread deliveries and dead letters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from nats.errors import Error as NatsError

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError

_PAGE = 256
_PAGES = 4


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """Counts of what waits on NATS.

    Attributes:
        waiting: Events that NATS has not delivered to a broker yet.
        unacknowledged: Events that a broker has received and not acknowledged.
        dead: Dead letters that are still kept.
        unread: Deliveries that NATS has not sent to the subscriber yet, by subscriber; of the first
            thousand or so subscribers.
        links: Events that wait for a neighbouring node, by neighbour.
    """

    waiting: int
    unacknowledged: int
    dead: int
    unread: dict[str, int]
    links: dict[str, int] = field(default_factory=dict)


async def backlog(connection: Connection, names: Names, neighbours: Iterable[str] = ()) -> Backlog:
    """Request the backlog from NATS.

    Args:
        connection: The connection to NATS.
        names: The names of the system.
        neighbours: The nodes to which this one has links.

    Raises:
        BrokerError: NATS does not answer.
    """
    js = connection.nats.jetstream()
    try:
        events = await js.consumer_info(names.event_stream, names.group)
        dead = await js.stream_info(names.dead_stream)
        unread: dict[str, int] = {}
        for page in range(_PAGES):
            found = await js.consumers_info(names.delivery_stream, page * _PAGE)
            unread |= {each.name: each.num_pending or 0 for each in found}
            if len(found) < _PAGE:
                break
    except (NatsError, OSError, TimeoutError) as error:
        raise BrokerError(f"cannot read the backlog from NATS: {error!r}", "unreachable") from error
    return Backlog(
        waiting=events.num_pending or 0,
        unacknowledged=events.num_ack_pending or 0,
        dead=dead.state.messages,
        unread=unread,
        links=await queue_lengths(connection, names, neighbours),
    )


async def queue_lengths(
    connection: Connection, names: Names, neighbours: Iterable[str]
) -> dict[str, int]:
    """Return how many events wait for each neighbouring node whose queue can be read."""
    js = connection.nats.jetstream()
    lengths = {}
    for neighbour in neighbours:
        try:
            info = await js.stream_info(names.link_stream(neighbour))
        except (NatsError, OSError, TimeoutError):
            continue
        lengths[neighbour] = info.state.messages
    return lengths
