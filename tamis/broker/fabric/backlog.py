"""What waits on NATS: events to be judged, deliveries to be read, events that nobody can judge."""

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
    """How much there is.

    Attributes:
        waiting: Events that no broker has been given.
        unacknowledged: Events that a broker was given, and has not acknowledged.
        dead: Events that could not be judged, of those that are kept.
        unread: Deliveries that a subscriber has not been given, by subscriber; of the first
            thousand or so of them.
        links: Events that wait for a neighbouring node, by neighbour.
    """

    waiting: int
    unacknowledged: int
    dead: int
    unread: dict[str, int]
    links: dict[str, int] = field(default_factory=dict)


async def backlog(connection: Connection, names: Names, neighbours: Iterable[str] = ()) -> Backlog:
    """Ask NATS.

    Args:
        connection: To NATS.
        names: All names.
        neighbours: The nodes to which this one has links.

    Raises:
        BrokerError: It does not answer.
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
        raise BrokerError(f"NATS does not say what waits: {error!r}", "unreachable") from error
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
    """How many events wait for each neighbouring node, as far as NATS says."""
    js = connection.nats.jetstream()
    found = {}
    for neighbour in neighbours:
        try:
            info = await js.stream_info(names.link_stream(neighbour))
        except (NatsError, OSError, TimeoutError):
            continue
        found[neighbour] = info.state.messages
    return found
