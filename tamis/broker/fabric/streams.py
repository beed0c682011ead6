"""The streams and buckets that all brokers share: made once, the same whoever makes them."""

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

# How long watchers can still see that a subscription was removed; they may be away meanwhile, and
# then read all of the bucket again.
MARKER_TTL = 3600
# In the metadata of a stream of a link, its name.
QUEUE = "tamis-queue"
# So many deliveries of a subscriber may be given and not acknowledged.
MOST_OPEN = 10_000


def streams(names: Names, settings: Settings) -> list[StreamConfig]:
    """All streams, those below buckets too."""
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
    # Not where links write: with a header that rolls up, whoever may write one key takes all away.
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
    """The stream of events that wait for a neighbouring node.

    Args:
        names: All names.
        settings: Of the broker.
        node: Of the node.
        neighbour: Whom they are for.
        queue: What to call this stream, so that it is told from one that was there before it.
    """
    return StreamConfig(
        name=names.link_stream(neighbour),
        subjects=[names.link(neighbour)],
        storage=StorageType.FILE,
        num_replicas=settings.replicas,
        retention=RetentionPolicy.WORK_QUEUE,
        # Full is full: whoever publishes waits, and nothing is lost.
        discard=DiscardPolicy.NEW,
        max_msgs=node.queue,
        duplicate_window=settings.dedupe,
        allow_direct=True,
        allow_msg_ttl=True,
        metadata={QUEUE: queue},
    )


def shared_consumer(names: Names, settings: Settings) -> ConsumerConfig:
    """The consumer of events that all brokers share."""
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
    """The consumer of a subscriber's deliveries.

    Args:
        names: All names.
        settings: Of the broker.
        subscriber: Whose.
        passing: After so many seconds without anybody who pulls it goes; None for never.
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
    """Make what is not there, and bring what is there to these settings.

    Raises:
        BrokerError: NATS refuses.
    """
    try:
        for wanted in streams(names, settings):
            await _prepare_stream(js, wanted)
        await js.add_consumer(names.event_stream, shared_consumer(names, settings))
    except (ServiceUnavailableError, NoRespondersError, TimeoutError) as error:
        raise BrokerError(f"JetStream does not answer ({error}); is it on?", "storage") from error
    except APIError as error:
        raise BrokerError(f"NATS refuses: {error.description or error}", "storage") from error


async def _prepare_stream(js: JetStreamContext, wanted: StreamConfig) -> None:
    try:
        await js.stream_info(wanted.name or "")
    except NotFoundError:
        await js.add_stream(wanted)
    else:
        await js.update_stream(wanted)
