"""The settings of a broker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tamis.bloom.hashing import Shape
from tamis.broker.config.limits import Limits
from tamis.broker.protocol.names import DEFAULT_PREFIX
from tamis.routing.strategies import SHAPE
from tamis.schema import Schema

HOUR = 3600.0


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """The settings of a node of an overlay.

    Attributes:
        name: The name of the node; all brokers on one NATS server form one node.
        routing: The routing strategy; all nodes of an overlay use the same.
        shape: The shape of the filters that events carry; all nodes of an overlay use the same.
        links: The NATS servers of the neighbouring nodes to which this node opens a link.
        queue: The most events that wait for a neighbour; at that point the brokers wait.
        options: The options of `nats.connect` for the links.
    """

    name: str
    routing: str = "edge"
    shape: Shape = SHAPE
    links: tuple[str, ...] = ()
    queue: int = 1_000_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a broker; times are in seconds.

    Attributes:
        prefix: The prefix of all names on NATS.
        schema: The attributes of events, or None.
        semantics: What a missing attribute means.
        time: The attribute with the time of an event, for sequences; None for the time at which
            NATS stored the event.
        batch: The most events that are matched at a time.
        wait: How long to wait for more events once there is one; this adds to the latency.
        in_flight: The most batches that are matched and not yet confirmed.
        ack_wait: How long NATS waits for an acknowledgement before it redelivers an event, to this
            broker or another.
        tries: How often an event is delivered to brokers without an acknowledgement before it
            becomes a dead letter.
        dedupe: How long NATS remembers the id of a delivery, so that it is not stored twice.
        keep_events: How long events are kept, matched or not.
        keep_deliveries: How long deliveries are kept, read or not.
        backlog: The most deliveries that are kept for a subscriber; the oldest are dropped first.
        delivery_wait: How long NATS waits for a subscriber's acknowledgement before it sends a
            delivery again.
        replicas: On how many servers of a NATS cluster everything is stored.
        limits: The limits on subscriptions and events.
        node: The settings of the node; None outside an overlay.
    """

    prefix: str = DEFAULT_PREFIX
    schema: Schema | None = None
    semantics: str = "sql"
    time: str | None = None
    batch: int = 512
    wait: float = 0.002
    in_flight: int = 4
    ack_wait: float = 30.0
    tries: int = 20
    dedupe: float = 120.0
    keep_events: float = 24 * HOUR
    keep_deliveries: float = 24 * HOUR
    backlog: int = 100_000
    delivery_wait: float = 30.0
    replicas: int = 1
    limits: Limits = field(default_factory=Limits)
    node: NodeSettings | None = None
