"""Publish events as messages that NATS stores once each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from uuid import uuid4

import msgspec

from tamis.broker.config.limits import check_ttl
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.time_to_live import ttl_headers
from tamis.broker.protocol.wire import MSG_ID, encode_json
from tamis.errors import BrokerError

EventLike = Mapping[str, object] | str | bytes


async def publish_many(
    publisher: Publisher,
    names: Names,
    events: Iterable[EventLike],
    *,
    ids: Iterable[str] | None = None,
    ttl: float | None = None,
    timeout: float,
) -> list[int]:
    """Publish events, and wait until they are stored, in this order.

    Args:
        publisher: The publisher, which waits for confirmations.
        names: The names of the system.
        events: Mappings of names to values, or JSON.
        ids: One id per event: an event published again with the same id within two minutes is
            stored once.
        ttl: The time to live in seconds; after that the events are dropped, matched or not.
        timeout: How many seconds to wait for room in the publisher, and for the confirmations.

    Returns:
        The sequence numbers of the events in their stream.

    Raises:
        BrokerError: One of the events cannot be stored; those before and after it may be.
    """
    check_ttl(ttl)
    group = PublishGroup()
    common = ttl_headers(ttl)
    given = None if ids is None else iter(ids)
    try:
        for event in events:
            # Each event has an id, so that a retry after a lost confirmation is not stored twice.
            id = uuid4().hex if given is None else next(given)
            payload = event.encode() if isinstance(event, str) else event
            if not isinstance(payload, bytes):
                payload = encode_json(payload)
            if publisher.is_full:
                await asyncio.wait_for(publisher.wait_for_room(), timeout)
            await publisher.publish(group, names.events, payload, {MSG_ID: id, **common})
        await asyncio.wait_for(group.wait_confirmed(), timeout)
    except TimeoutError:
        publisher.abandon(group)
        why = group.trouble or "NATS does not answer"
        raise BrokerError(f"cannot publish: {why}; is `tamis serve` running?", "timeout") from None
    except StopIteration:
        raise BrokerError("there are fewer ids than events", "request") from None
    except (TypeError, msgspec.EncodeError) as error:
        raise BrokerError(f"the event cannot be written as JSON: {error}", "request") from None
    group.check()
    return group.sequences
