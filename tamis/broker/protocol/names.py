"""The names on NATS: subjects, streams, buckets, consumers and keys; no I/O.

All names start with a prefix, so that several systems can share one server. The subjects of a
subscriber have its name as the third token, so that NATS permissions can separate subscribers.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from tamis.errors import BrokerError, shorten

DEFAULT_PREFIX = "tamis"
MAX_ID = 200  # bytes of UTF-8

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def checked_name(name: str, what: str = "subscriber") -> str:
    """Return a name that is valid as a token of a subject and as the name of a consumer.

    Raises:
        BrokerError: The name is invalid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BrokerError(
            f"a {what} must be 1 to 64 letters, digits, - or _, not {shorten(repr(name))}", "name"
        )
    return name


def checked_id(id: str) -> str:
    """Return a valid id of a subscription.

    Raises:
        BrokerError: The id is not a non-empty string, or too long.
    """
    if not isinstance(id, str) or not id:
        raise BrokerError(f"an id must be a non-empty string, not {shorten(repr(id))}", "id")
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        raise BrokerError(
            "the id contains a lone surrogate, which is not valid Unicode", "id"
        ) from None
    if size > MAX_ID:
        raise BrokerError(f"the id has {size} bytes; the limit is {MAX_ID} bytes", "id")
    return id


def key_of(subscriber: str, id: str) -> str:
    """Return the key of a subscription in the bucket; other characters are encoded in base64.

    >>> key_of("ann", "cheap-laptops"), key_of("ann", "prix < 10 €")
    ('ann.cheap-laptops', 'ann.=cHJpeCA8IDEwIOKCrA')
    """
    if re.fullmatch(r"[A-Za-z0-9_-]+", id):
        return f"{subscriber}.{id}"
    return f"{subscriber}.={urlsafe_b64encode(id.encode()).decode().rstrip('=')}"


def parts_of(key: str) -> tuple[str, str]:
    """Return the subscriber and the id of a key.

    >>> parts_of("ann.=cHJpeCA8IDEwIOKCrA")
    ('ann', 'prix < 10 €')

    Raises:
        ValueError: It is not the key of a subscription.
    """
    subscriber, dot, word = key.partition(".")
    if not dot or not _NAME.fullmatch(subscriber) or not word:
        raise ValueError(f"{key!r} is not the key of a subscription")
    if not word.startswith("="):
        return subscriber, word
    return subscriber, urlsafe_b64decode(word[1:] + "=" * (-(len(word) - 1) % 4)).decode()


@dataclass(frozen=True)
class Names:
    """All names under one prefix.

    >>> names = Names()
    >>> names.deliveries_to("ann"), names.request("ann", "put"), names.event_stream
    ('tamis.deliver.ann', 'tamis.sub.ann.put', 'TAMIS_EVENTS')
    """

    prefix: str = DEFAULT_PREFIX

    def __post_init__(self) -> None:
        """Check the prefix.

        Raises:
            BrokerError: It is not a valid token of a subject.
        """
        checked_name(self.prefix, "prefix")

    # -- subjects ---------------------------------------------------------------------------------

    @property
    def events(self) -> str:
        """The subject of events; further tokens may follow and have no meaning."""
        return f"{self.prefix}.events"

    def events_of(self, writer: str, part: int) -> str:
        """Return the subject of a part of a writer's batches; see `client/resumable_batch.py`."""
        return f"{self.events}.{writer}.{part}"

    @property
    def dead_letters(self) -> str:
        """The subject of dead letters: events that cannot be matched."""
        return f"{self.prefix}.dead"

    @property
    def status(self) -> str:
        """The subject on which every broker reports its status."""
        return f"{self.prefix}.status"

    def events_from(self, neighbour: str) -> str:
        """Return the subject on which a link publishes the events of a neighbouring node."""
        return f"{self.events}.link.{neighbour}"

    def link(self, neighbour: str) -> str:
        """Return the subject of the events that wait for a neighbouring node."""
        return f"{self.prefix}.link.{neighbour}"

    def peer(self, neighbour: str, verb: str) -> str:
        """Return the subject of a request from a neighbouring node."""
        return f"{self.prefix}.peer.{neighbour}.{verb}"

    def overlay_relay(self, neighbour: str) -> str:
        """Return the subject that a running link relays to a neighbouring node."""
        return f"{self.prefix}.beyond.{neighbour}"

    @property
    def overlay(self) -> str:
        """The subject on which the brokers of a node describe the overlay, as one queue group."""
        return f"{self.prefix}.overlay"

    def deliveries_to(self, subscriber: str) -> str:
        """Return the subject of a subscriber's deliveries."""
        return f"{self.prefix}.deliver.{subscriber}"

    def request(self, subscriber: str, verb: str) -> str:
        """Return the subject of a subscriber's request."""
        return f"{self.prefix}.sub.{subscriber}.{verb}"

    @property
    def all_requests(self) -> str:
        """The subject of all requests, which the brokers answer as one queue group."""
        return f"{self.prefix}.sub.*.*"

    @property
    def group(self) -> str:
        """The queue group, and the durable consumer of events, that all brokers share."""
        return f"{self.prefix}-brokers"

    # -- streams and buckets ----------------------------------------------------------------------

    def _stream(self, what: str) -> str:
        return f"{self.prefix}_{what}".upper() if self.prefix.islower() else f"{self.prefix}_{what}"

    @property
    def event_stream(self) -> str:
        """The stream of events."""
        return self._stream("EVENTS")

    @property
    def delivery_stream(self) -> str:
        """The stream of deliveries, a subject per subscriber."""
        return self._stream("DELIVERIES")

    @property
    def dead_stream(self) -> str:
        """The stream of dead letters."""
        return self._stream("DEAD")

    def link_stream(self, neighbour: str) -> str:
        """Return the stream of events that wait for a neighbouring node."""
        return f"{self._stream('LINK')}_{neighbour}"

    @property
    def routes(self) -> str:
        """The bucket of links: the interests sent to and received from neighbouring nodes."""
        return f"{self.prefix}-routes"

    @property
    def subscriptions(self) -> str:
        """The bucket of subscriptions."""
        return f"{self.prefix}-subscriptions"

    @property
    def state(self) -> str:
        """The bucket of shared state: leases, and the progress of sequences and links."""
        return f"{self.prefix}-state"

    @staticmethod
    def bucket_stream(bucket: str) -> str:
        """Return the stream that backs a bucket."""
        return f"KV_{bucket}"

    @staticmethod
    def bucket_subject(bucket: str, key: str) -> str:
        """Return the subject of a key in a bucket."""
        return f"$KV.{bucket}.{key}"
