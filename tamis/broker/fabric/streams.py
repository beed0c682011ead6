"""The streams, buckets and consumers of the brokers; every broker configures them identically."""

from __future__ import annotations

from typing import Any

from nats.errors import NoRespondersError, TimeoutError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError

# How long followers of a bucket can see that a subscription was removed. One that was disconnected
# for longer reads the whole bucket again.
MARKER_TTL = 3600
# The metadata key of a link's stream that holds the id of its queue.
QUEUE = "tamis-queue"
# The most unacknowledged deliveries of a subscriber.
MOST_OPEN = 10_000


def streams(names: Names, settings: Settings) -> list[StreamConfig]:
    """Return the configuration of all streams, including those of buckets."""
    common: dict[str, Any] = {
        "storage": StorageType.FILE,
        "num_replicas": settings.replicas,
        "retention": RetentionPolicy.LIMITS,
        "discard": DiscardPolicy.OLD,
        "allow_direct": True,
        "allow_msg_ttl": True,
    }
    bucket: dict[str, Any] = {
        **common,
        "max_msgs_per_subject": 1,
        "deny_delete": True,
        "discard": DiscardPolicy.NEW,
    }
    # Not for buckets that links write: a rollup header would let a writer of one key delete all.
    marking: dict[str, Any] = {"allow_rollup_hdrs": True, "subject_delete_marker_ttl": MARKER_TTL}
    return [
        StreamConfig(
            name=names.event_stream,
            subjects=[names.events, f"{names.events}.>"],
            max_age=settings.keep_events,
            duplicate_window=min(settings.dedupe, settings.keep_events),
            **common,
        ),
        StreamConfig(
            name=names.delivery_stream,
            subjects=[names.deliveries_to("*")],
            max_age=settings.keep_deliveries,
            max_msgs_per_subject=settings.backlog,
            duplicate_window=min(settings.dedupe, settings.keep_deliveries),
            **common,
        ),
        StreamConfig(
            name=names.dead_stream,
            subjects=[names.dead_letters],
            max_age=settings.keep_events,
            max_msgs=settings.backlog,
            duplicate_window=min(settings.dedupe, settings.keep_events),
            **common,
        ),
        *(
            StreamConfig(
                name=names.bucket_stream(name),
                subjects=[names.bucket_subject(name, ">")],
                duplicate_window=settings.dedupe,
                **bucket,
                **more,
            )
            for name, more in (
                (names.subscriptions, marking),
                (names.state, {}),
                *([(names.routes, {})] if settings.node is not None else []),
            )
        ),
    ]


def link_stream(
    names: Names, settings: Settings, node: NodeSettings, neighbour: str, queue: str
) -> StreamConfig:
    """Return the configuration of the stream of events that wait for a neighbouring node.

    Args:
        names: The names of the system.
        settings: The settings of the broker.
        node: The settings of the node.
        neighbour: The neighbouring node.
        queue: The id of the queue, which distinguishes it from an earlier stream of that name.
    """
    return StreamConfig(
        name=names.link_stream(neighbour),
        subjects=[names.link(neighbour)],
        storage=StorageType.FILE,
        num_replicas=settings.replicas,
        retention=RetentionPolicy.WORK_QUEUE,
        # When the queue is full publishers wait, and nothing is lost.
        discard=DiscardPolicy.NEW,
        max_msgs=node.queue,
        duplicate_window=settings.dedupe,
        allow_direct=True,
        allow_msg_ttl=True,
        metadata={QUEUE: queue},
    )


def shared_consumer(names: Names, settings: Settings) -> ConsumerConfig:
    """Return the configuration of the consumer of events that all brokers share."""
    return ConsumerConfig(
        durable_name=names.group,
        ack_policy=AckPolicy.EXPLICIT,
        deliver_policy=DeliverPolicy.ALL,
        ack_wait=settings.ack_wait,
        max_ack_pending=max(20_000, 8 * settings.batch * settings.in_flight),
        max_deliver=-1,
    )


def subscriber_consumer(
    names: Names, settings: Settings, subscriber: str, passing: float | None = None
) -> ConsumerConfig:
    """Return the configuration of the consumer of a subscriber's deliveries.

    Args:
        names: The names of the system.
        settings: The settings of the broker.
        subscriber: The subscriber.
        passing: Remove the consumer after so many seconds in which no client pulls; None for never.
    """
    return ConsumerConfig(
        durable_name=subscriber,
        filter_subject=names.deliveries_to(subscriber),
        ack_policy=AckPolicy.EXPLICIT,
        deliver_policy=DeliverPolicy.ALL,
        ack_wait=settings.delivery_wait,
        max_ack_pending=MOST_OPEN,
        max_deliver=-1,
        inactive_threshold=passing,
    )


async def prepare(js: JetStreamContext, names: Names, settings: Settings) -> None:
    """Create missing streams, and update existing ones to these settings.

    Raises:
        BrokerError: NATS refuses, or JetStream does not answer.
    """
    try:
        for config in streams(names, settings):
            await _prepare_stream(js, config)
        await js.add_consumer(names.event_stream, shared_consumer(names, settings))
    except (ServiceUnavailableError, NoRespondersError, TimeoutError) as error:
        raise BrokerError(
            f"JetStream does not answer ({error}); is it enabled?", "storage"
        ) from error
    except APIError as error:
        raise BrokerError(
            f"NATS refuses to create the streams: {error.description or error}", "storage"
        ) from error


async def _prepare_stream(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.stream_info(config.name or "")
    except NotFoundError:
        await js.add_stream(config)
    else:
        await js.update_stream(config)
