"""Write the bucket of routes: put and remove keys, clear a whole neighbour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.fabric.streams import MARKER_TTL
from tamis.broker.overlay.overlay_records import LinkRecord
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import OPERATION, TTL, encode_json
from tamis.errors import BrokerError

REMOVAL = {OPERATION: "PURGE", TTL: str(MARKER_TTL)}


async def put(publisher: Publisher, names: Names, values: Mapping[str, object]) -> int:
    """Put values under keys, and return the last revision.

    Raises:
        BrokerError: NATS will never store one of them.
    """
    group = PublishGroup()
    for key, value in values.items():
        subject = names.bucket_subject(names.routes, key)
        await publisher.publish(group, subject, encode_json(value))
    return await _confirmed_revision(group)


async def remove(publisher: Publisher, names: Names, keys: Iterable[str]) -> int:
    """Remove keys, and return the last revision.

    Raises:
        BrokerError: NATS will never store one of the removals.
    """
    group = PublishGroup()
    for key in keys:
        subject = names.bucket_subject(names.routes, key)
        await publisher.publish(group, subject, b"", REMOVAL)
    return await _confirmed_revision(group)


async def _confirmed_revision(group: PublishGroup) -> int:
    await group.wait_confirmed()
    group.check()
    return max(group.sequences, default=0)


async def link_record(
    js: JetStreamContext, names: Names, neighbour: str, direct: bool = False
) -> LinkRecord | None:
    """Return the record of a link from the bucket, or None.

    Args:
        js: The JetStream of the node.
        names: The names of the system.
        neighbour: The node at the other end.
        direct: Use a direct get, which the role `link` may do; a replica that lags may answer.
    """
    stream = names.bucket_stream(names.routes)
    try:
        last = await js.get_last_msg(
            stream, names.bucket_subject(names.routes, f"link.{neighbour}"), direct=direct
        )
    except NotFoundError:
        return None
    return msgspec.json.decode(last.data, type=LinkRecord) if last.data else None


async def check_alone(js: JetStreamContext, names: Names) -> None:
    """Check that a broker may run here outside an overlay.

    Raises:
        BrokerError: The server is a node with links, over which the broker would not forward
            events.
    """
    subjects = names.bucket_subject(names.routes, "link.*")
    try:
        info = await js.stream_info(names.bucket_stream(names.routes), subjects_filter=subjects)
    except NotFoundError:
        return
    for subject in info.state.subjects or ():
        neighbour = subject.rpartition(".")[2]
        if await link_record(js, names, neighbour) is not None:
            raise BrokerError(
                f"this NATS server is a node with a link to {neighbour}; give the --name of its "
                "other brokers, or events would not be forwarded",
                "overlay",
            )


async def put_link(js: JetStreamContext, names: Names, neighbour: str, record: LinkRecord) -> int:
    """Write the record of a link, and return the revision."""
    subject = names.bucket_subject(names.routes, f"link.{neighbour}")
    return (await js.publish(subject, encode_json(record))).seq


async def clear(js: JetStreamContext, names: Names, neighbour: str) -> None:
    """Remove a link on this side, with its interests and the events that wait for it."""
    subject = names.bucket_subject(names.routes, f"link.{neighbour}")
    # First: followers of the bucket drop everything about the neighbour at this one message.
    await js.publish(subject, b"", headers=REMOVAL)
    stream = names.bucket_stream(names.routes)
    for side in ("in", "out"):
        keys = names.bucket_subject(names.routes, f"{side}.{neighbour}.>")
        await js.purge_stream(stream, subject=keys)
    state = names.bucket_stream(names.state)
    await js.purge_stream(state, subject=names.bucket_subject(names.state, f"link.{neighbour}"))
    try:
        await js.delete_stream(names.link_stream(neighbour))
    except NotFoundError:
        pass
