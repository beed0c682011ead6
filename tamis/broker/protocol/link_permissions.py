"""The subjects that a link uses on the NATS server of the node that it links to; no I/O.

They define the permissions of the role `link`. A link may pull from consumers but not create them:
creating a consumer lets you choose what it reads and its delivery subject, with the permissions of
the server. So a broker of the node creates the consumers on request (`overlay/link_consumers.py`);
this module holds their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from tamis.broker.protocol.names import Names


class LinkFeed(StrEnum):
    """What a link reads at one end.

    Attributes:
        queue: Events that wait for the neighbour.
        events: Events that the neighbour has sent, in the stream of events.
        out: Interests to advertise to the neighbour.
        received: Interests that the neighbour has advertised.
    """

    queue = "queue"
    events = "events"
    out = "out"
    received = "in"


class LinkSource(NamedTuple):
    """Where a feed is read.

    Attributes:
        stream: The stream.
        consumer: The consumer.
        subjects: The subjects of the stream that the consumer reads.
    """

    stream: str
    consumer: str
    subjects: str


def link_source(names: Names, neighbour: str, what: LinkFeed) -> LinkSource:
    """Return where a link reads a feed, at the end that has this neighbour.

    >>> source = link_source(Names(), "rome", LinkFeed.received)
    >>> source.stream, source.consumer, source.subjects
    ('KV_tamis-routes', 'link-rome-in', '$KV.tamis-routes.in.rome.>')
    """
    if what is LinkFeed.queue:
        return LinkSource(names.link_stream(neighbour), "link", names.link(neighbour))
    consumer = f"link-{neighbour}-{what}"
    if what is LinkFeed.events:
        return LinkSource(names.event_stream, consumer, names.events_from(neighbour))
    stream = names.bucket_stream(names.routes)
    return LinkSource(stream, consumer, names.bucket_subject(names.routes, f"{what}.{neighbour}.>"))


def link_subjects(node: str, names: Names) -> Iterator[str]:
    """Yield the subjects to which the link of a node publishes.

    >>> list(link_subjects("rome", Names()))[:2]
    ['tamis.peer.rome.*', 'tamis.overlay']
    """
    yield names.peer(node, "*")
    yield names.overlay
    for what in LinkFeed:
        stream, consumer, _ = link_source(names, node, what)
        yield f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
    stream, consumer, _ = link_source(names, node, LinkFeed.queue)
    yield f"$JS.ACK.{stream}.{consumer}.>"
    events, record = names.events_from(node), names.bucket_subject(names.routes, f"link.{node}")
    progress = names.bucket_subject(names.state, f"link.{node}")
    # The latest message of one subject each. A direct get has that subject in its own subject, so
    # the permission covers nothing else.
    yield f"$JS.API.DIRECT.GET.{names.event_stream}.{events}"
    yield f"$JS.API.DIRECT.GET.{names.bucket_stream(names.routes)}.{record}"
    yield f"$JS.API.DIRECT.GET.{names.bucket_stream(names.state)}.{progress}"
    yield events
    yield progress
    yield names.bucket_subject(names.routes, f"in.{node}.>")
    yield names.dead_letters


def relay_subject(node: str, names: Names) -> str:
    """Return the subject on which the link of a node answers requests."""
    return names.overlay_relay(node)
