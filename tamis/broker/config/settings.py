"""What a broker can be told."""

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
    """What makes brokers a node of an overlay.

    Attributes:
        name: What the node is called; all brokers on one NATS server are one node.
        routing: The strategy; the same in all of an overlay.
        shape: Of the filters that events carry; the same in all of an overlay.
        links: The NATS servers of neighbouring nodes to which this one makes a link.
        queue: At most so many events wait for a neighbour; then the brokers wait.
        options: Per link, what `nats.connect` takes.
    """

    name: str
    routing: str = "edge"
    shape: Shape = SHAPE
    links: tuple[str, ...] = ()
    queue: int = 1_000_000
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a broker works; times are in seconds.

    Attributes:
        prefix: What all names on NATS begin with.
        schema: The attributes of events, or None.
        semantics: What a missing attribute means.
        time: The attribute that sequences go by; None for the time at which NATS stored the event.
        batch: At most so many events are judged at a time.
        wait: How long to wait for more once there is one; it is added to the latency.
        in_flight: At most so many batches are judged and not yet confirmed.
        ack_wait: After so long without an acknowledgement NATS gives an event to another broker.
        tries: An event that was given to brokers so often, and never acknowledged, is dead.
        dedupe: How long NATS knows the id of a delivery, so that it is not stored twice.
        keep_events: How long events are kept, judged or not.
        keep_deliveries: How long deliveries are kept, read or not.
        backlog: At most so many deliveries of a subscriber are kept; the oldest go first.
        delivery_wait: After so long without an acknowledgement a subscriber gets a delivery again.
        replicas: On how many servers of a NATS cluster everything is kept.
        limits: What subscribers may ask for.
        node: What makes it a node of an overlay; None for a broker that stands alone.
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
