"""What a link does at the NATS server of the node that it links to: all of it, as subjects; pure.

For the role `link`. It may pull from consumers and make none: whoever makes one says what it reads,
and whereto NATS then sends that, in everybody's name. So a broker of the node makes them, as it is
asked to (`consumers`), and here are their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from tamis.broker.protocol.names import Names


class LinkFeed(StrEnum):
    """What a link reads at one end."""

    queue = "queue"
    events = "events"
    out = "out"
    received = "in"


class LinkSource(NamedTuple):
    """Where it is read.

    Attributes:
        stream: The stream.
        consumer: The consumer.
        subjects: What of the stream.
    """

    stream: str
    consumer: str
    subjects: str


def link_source(names: Names, neighbour: str, what: LinkFeed) -> LinkSource:
    """Where a link reads something, at the end that has this neighbour.

    >>> place(Names(), "rome", What.told)
    Place(stream='KV_tamis-routes', consumer='link-rome-in', subjects='$KV.tamis-routes.in.rome.>')
    """
    if what is LinkFeed.queue:
        return LinkSource(names.link_stream(neighbour), "link", names.link(neighbour))
    consumer = f"link-{neighbour}-{what}"
    if what is LinkFeed.events:
        return LinkSource(names.event_stream, consumer, names.events_from(neighbour))
    stream = names.bucket_stream(names.routes)
    return LinkSource(stream, consumer, names.bucket_subject(names.routes, f"{what}.{neighbour}.>"))


def link_subjects(node: str, names: Names) -> Iterator[str]:
    """Where the link of a node sends to.

    >>> list(sent_by("rome", Names()))[:2]
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
    # The latest message of one subject each: this way of asking names it in its own subject.
    yield f"$JS.API.DIRECT.GET.{names.event_stream}.{events}"
    yield f"$JS.API.DIRECT.GET.{names.bucket_stream(names.routes)}.{record}"
    yield f"$JS.API.DIRECT.GET.{names.bucket_stream(names.state)}.{progress}"
    yield events
    yield progress
    yield names.bucket_subject(names.routes, f"in.{node}.>")
    yield names.dead_letters


def relay_subject(node: str, names: Names) -> str:
    """Where the link of a node is asked."""
    return names.overlay_relay(node)
