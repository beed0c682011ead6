"""Create the consumers that a link reads, in a broker of the node that has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from tamis.broker.fabric.follow import ephemeral_consumer, latest_per_subject, start_at_sequence
from tamis.broker.fabric.streams import QUEUE
from tamis.broker.protocol.link_permissions import LinkFeed, link_source
from tamis.broker.protocol.names import Names

# The most events of a queue that are delivered and not acknowledged.
MOST_OPEN = 16_384
_ACK_WAIT = 60.0


class LinkConsumer(msgspec.Struct):
    """A consumer that was created.

    Attributes:
        pending: How many stored messages it delivers first.
        queue: The id of the queue, for a consumer of a queue.
    """

    pending: int
    queue: str = ""


ConsumerMaker = Callable[[LinkFeed, int], Awaitable[LinkConsumer]]


async def make_consumer(
    js: JetStreamContext, names: Names, neighbour: str, what: LinkFeed, first: int = 1
) -> LinkConsumer:
    """Create a consumer, and delete its predecessor, whose reader is notified by NATS.

    Args:
        js: The JetStream of this node.
        names: The names of the system.
        neighbour: The node at the other end.
        what: The feed to read.
        first: The sequence at which to start, for events.
    """
    stream, consumer, subjects = link_source(names, neighbour, what)
    if what is LinkFeed.queue:
        # It delivers everything in order, and redelivers what is not acknowledged.
        config = ConsumerConfig(
            durable_name=consumer,
            ack_policy=AckPolicy.EXPLICIT,
            deliver_policy=DeliverPolicy.ALL,
            ack_wait=_ACK_WAIT,
            max_ack_pending=MOST_OPEN,
            max_deliver=-1,
        )
    elif what is LinkFeed.events:
        config = ephemeral_consumer(start_at_sequence(first)).evolve(
            name=consumer, filter_subject=subjects, headers_only=True
        )
    else:
        config = ephemeral_consumer(latest_per_subject(subjects)).evolve(name=consumer)
    with suppress(NotFoundError):
        await js.delete_consumer(stream, consumer)
    info = await js.add_consumer(stream, config)
    queue = ""
    if what is LinkFeed.queue:
        queue = ((await js.stream_info(stream)).config.metadata or {})[QUEUE]
    return LinkConsumer(info.num_pending or 0, queue)
