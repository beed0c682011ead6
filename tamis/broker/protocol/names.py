"""What everything is called on NATS: subjects, streams, buckets, consumers, keys; no I/O.

All names begin with a prefix, so that several systems can share one server. A subject that belongs
to a subscriber has its name as the third word: permissions of NATS can tell subscribers apart.
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
    """A name that may be a word of a subject and the name of a consumer.

    Raises:
        BrokerError: It may not.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BrokerError(
            f"a {what} is 1 to 64 letters, digits, - and _, not {shorten(repr(name))}", "name"
        )
    return name


def checked_id(id: str) -> str:
    """The id of a subscription, as a subscriber may choose it.

    Raises:
        BrokerError: It is no text, or too long.
    """
    if not isinstance(id, str) or not id:
        raise BrokerError(f"an id is a non-empty text, not {shorten(repr(id))}", "id")
    try:
        size = len(id.encode())
    except UnicodeEncodeError:
        raise BrokerError(
            "the id holds a lone surrogate, which is not valid Unicode", "id"
        ) from None
    if size > MAX_ID:
        raise BrokerError(f"an id has at most {MAX_ID} bytes; this one has {size}", "id")
    return id


def key_of(subscriber: str, id: str) -> str:
    """The key of a subscription in the bucket; ids that are no words are spelt in base64.

    >>> key_of("ann", "cheap-laptops"), key_of("ann", "prix < 10 €")
    ('ann.cheap-laptops', 'ann.=cHJpeCA8IDEwIOKCrA')
    """
    if re.fullmatch(r"[A-Za-z0-9_-]+", id):
        return f"{subscriber}.{id}"
    return f"{subscriber}.={urlsafe_b64encode(id.encode()).decode().rstrip('=')}"


def parts_of(key: str) -> tuple[str, str]:
    """The subscriber and the id of a key.

    >>> parts_of("ann.=cHJpeCA8IDEwIOKCrA")
    ('ann', 'prix < 10 €')

    Raises:
        ValueError: It is no such key.
    """
    subscriber, dot, word = key.partition(".")
    if not dot or not _NAME.fullmatch(subscriber) or not word:
        raise ValueError(f"{key!r} is no key of a subscription")
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
        """Refuse a prefix that would not be one word.

        Raises:
            BrokerError: It would not.
        """
        checked_name(self.prefix, "prefix")

    # -- subjects ---------------------------------------------------------------------------------

    @property
    def events(self) -> str:
        """Where events are published; more words may follow, and mean nothing."""
        return f"{self.prefix}.events"

    def events_of(self, writer: str, part: int) -> str:
        """Where a part of a writer's batches is published; see `client/resumable_batch.py`."""
        return f"{self.events}.{writer}.{part}"

    @property
    def dead_letters(self) -> str:
        """Where events go that cannot be judged."""
        return f"{self.prefix}.dead"

    @property
    def status(self) -> str:
        """Where every broker answers what it is doing."""
        return f"{self.prefix}.status"

    def events_from(self, neighbour: str) -> str:
        """Where the events of a neighbouring node are published, by the link."""
        return f"{self.events}.link.{neighbour}"

    def link(self, neighbour: str) -> str:
        """Where events wait for a neighbouring node."""
        return f"{self.prefix}.link.{neighbour}"

    def peer(self, neighbour: str, verb: str) -> str:
        """Where a neighbouring node asks for something."""
        return f"{self.prefix}.peer.{neighbour}.{verb}"

    def overlay_relay(self, neighbour: str) -> str:
        """Where one asks a neighbouring node what it knows, while the link is up."""
        return f"{self.prefix}.beyond.{neighbour}"

    @property
    def overlay(self) -> str:
        """Where the brokers of a node tell of the overlay, as one queue group."""
        return f"{self.prefix}.overlay"

    def deliveries_to(self, subscriber: str) -> str:
        """Where a subscriber's deliveries are published."""
        return f"{self.prefix}.deliver.{subscriber}"

    def request(self, subscriber: str, verb: str) -> str:
        """Where a subscriber asks for something."""
        return f"{self.prefix}.sub.{subscriber}.{verb}"

    @property
    def all_requests(self) -> str:
        """Where brokers listen for requests, as one queue group."""
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
        """The stream of events that could not be judged."""
        return self._stream("DEAD")

    def link_stream(self, neighbour: str) -> str:
        """The stream of events that wait for a neighbouring node."""
        return f"{self._stream('LINK')}_{neighbour}"

    @property
    def routes(self) -> str:
        """The bucket of links: what neighbouring nodes are told, and what they have told."""
        return f"{self.prefix}-routes"

    @property
    def subscriptions(self) -> str:
        """The bucket of subscriptions."""
        return f"{self.prefix}-subscriptions"

    @property
    def state(self) -> str:
        """The bucket of what brokers keep for each other: who judges sequences, and how far."""
        return f"{self.prefix}-state"

    @staticmethod
    def bucket_stream(bucket: str) -> str:
        """The stream below a bucket."""
        return f"KV_{bucket}"

    @staticmethod
    def bucket_subject(bucket: str, key: str) -> str:
        """The subject of a key in a bucket."""
        return f"$KV.{bucket}.{key}"
