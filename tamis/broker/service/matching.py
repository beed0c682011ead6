"""Match a micro-batch of events, and build the deliveries and dead letters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from nats.aio.msg import Msg

from tamis.broker.config.settings import Settings
from tamis.broker.protocol.event_messages import Event, OutgoingMessage
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.time_to_live import remaining_ttl, remaining_ttl_headers
from tamis.broker.protocol.wire import (
    AGAIN,
    CUT,
    EVENT,
    LEFT_OUT,
    MSG_ID,
    PRIORITY,
    REASON,
    REVISION,
    SUBJECT,
    SUBSCRIPTIONS,
    TIME,
    MessagePlace,
    place_of,
)
from tamis.broker.service.subscription_registry import SubscriptionRegistry
from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.events.files import row_faults
from tamis.events.records import json_fault

if TYPE_CHECKING:
    from tamis.broker.overlay.forwarder import Forwarder

_decode = msgspec.json.Decoder(dict).decode
# An upper bound for headers and the protocol line without the ids, in bytes.
_HEADERS = 1024


class DecodedBatch(NamedTuple):
    """Decoded messages.

    Attributes:
        events: The valid events.
        batch: The same events as columns.
        dead: Dead letters of the invalid events.
        expired: How many events had expired.
    """

    events: list[Event]
    batch: EventBatch
    dead: list[OutgoingMessage]
    expired: int


class BatchOutput(NamedTuple):
    """The messages to publish for a batch.

    Attributes:
        deliveries: One per event and subscriber, ordered by event and then by priority.
        dead: Dead letters: events that cannot be matched.
        expired: How many events had expired.
        links: Events to forward over links to other nodes.
    """

    deliveries: list[OutgoingMessage]
    dead: list[OutgoingMessage]
    expired: int
    links: Sequence[OutgoingMessage] = ()


class BatchMatcher:
    """Matches batches of events against the registry; use it on the registry's executor.

    Attributes:
        forwarder: Routes events to other nodes; None outside an overlay.
    """

    def __init__(
        self,
        registry: SubscriptionRegistry,
        names: Names,
        settings: Settings,
        max_payload: int,
        forwarder: Forwarder | None = None,
    ) -> None:
        """Create a matcher.

        Args:
            registry: The subscriptions.
            names: The names of the system.
            settings: The settings of the broker.
            max_payload: The largest message that NATS accepts, in bytes.
            forwarder: Routes events to other nodes; None outside an overlay.
        """
        self._registry = registry
        self._names = names
        self._settings = settings
        self._max_payload = max_payload
        self.forwarder = forwarder

    def match(self, messages: list[Msg]) -> BatchOutput:
        """Match a batch of messages."""
        events, batch, dead, expired = self.read(messages)
        if self.forwarder is not None:
            return self._route_and_match(self.forwarder, events, batch, dead, expired)
        deliveries = [each for _, some in self._matched_deliveries(events, batch) for each in some]
        return BatchOutput(deliveries, dead, expired)

    def _matched_deliveries(
        self, events: list[Event], batch: EventBatch
    ) -> Iterator[tuple[int, Iterator[OutgoingMessage]]]:
        """Yield the positions of the events that match, each with its deliveries."""
        matcher = self._registry.matcher
        if events and len(matcher):
            matches = matcher.match_batch(batch).per_event()
            for i, (event, keys) in enumerate(zip(events, matches, strict=True)):
                if keys:
                    yield i, self.deliveries(event, keys)  # type: ignore[arg-type]

    def _route_and_match(
        self,
        forwarder: Forwarder,
        events: list[Event],
        batch: EventBatch,
        dead: list[OutgoingMessage],
        expired: int,
    ) -> BatchOutput:
        """Route a batch, and match only the events that this node may have subscriptions for."""
        here, links, doubtful = forwarder.route_batch(events, batch)
        mine = events if len(here) == len(events) else [events[i] for i in here]
        if len(here) < len(events) and here:
            batch_here = self._batch([event.row for event in mine])
        else:
            batch_here = batch
        deliveries: list[OutgoingMessage] = []
        delivered = set()
        for place, some in self._matched_deliveries(mine, batch_here):
            delivered.add(here[place])
            deliveries.extend(some)
        if doubtful:
            forwarder.count_false_positives(doubtful, delivered, batch.rows())
        return BatchOutput(deliveries, dead, expired, links)

    def read(self, messages: list[Msg]) -> DecodedBatch:
        """Decode messages into events, dead letters and a count of expired ones."""
        limits, now = self._settings.limits, time.time_ns()
        events: list[Event] = []
        dead: list[OutgoingMessage] = []
        expired = 0
        for message in messages:
            place = place_of(message.reply)
            ttl = remaining_ttl(message.headers, place.time, now)
            if ttl is not None and ttl <= 0:
                expired += 1
                continue
            if len(message.data) > limits.event:
                size = len(message.data)
                why = f"the event has {size:,} bytes; the limit is {limits.event:,} bytes"
            elif place.delivered > self._settings.tries:
                why = f"delivered to brokers {place.delivered - 1} times and never acknowledged"
            else:
                try:
                    row = _decode(message.data)
                    events.append(
                        Event(place, message.data, row, ttl, message.subject, message.headers)
                    )
                    continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    why = json_fault(error, message.data)
            dead.append(self._dead_letter(message.data, message.subject, place, why))
        try:
            batch = self._batch([event.row for event in events])
        except EventError:
            bad = dict(row_faults([event.row for event in events], self._batch))
            for i, why in bad.items():
                event = events[i]
                dead.append(self._dead_letter(event.data, event.subject, event.place, why))
            events = [event for i, event in enumerate(events) if i not in bad]
            batch = self._batch([event.row for event in events])
        return DecodedBatch(events, batch, dead, expired)

    def _batch(self, rows: list[dict[str, object]]) -> EventBatch:
        matcher = self._registry.matcher
        return EventBatch.from_dicts(rows, matcher.schema, matcher.semantics)

    def deliveries(
        self, event: Event, keys: list[str], kind: str = ""
    ) -> Iterator[OutgoingMessage]:
        """Yield one message per subscriber, highest priority first.

        Args:
            event: The event.
            keys: The keys of the matching subscriptions, highest priority first.
            kind: A suffix of the ids, for a second delivery of the event to a subscriber.
        """
        entries = self._registry.entries
        tokens: dict[str, list[str]] = {}
        best: dict[str, int] = {}
        for key in keys:
            entry = entries[key]
            if entry.subscriber in tokens:
                tokens[entry.subscriber].append(entry.token)
            else:
                tokens[entry.subscriber] = [entry.token]
                best[entry.subscriber] = entry.priority
        sequence = str(event.place.sequence)
        for subscriber, ids in tokens.items():
            headers = {
                MSG_ID: f"{sequence}.{subscriber}{kind}",
                EVENT: sequence,
                SUBSCRIPTIONS: f"[{','.join(ids)}]",
                PRIORITY: str(best[subscriber]),
                REVISION: str(self._registry.revision),
                TIME: str(event.place.time),
            }
            if event.place.delivered > 1:
                headers[AGAIN] = str(event.place.delivered - 1)
            if self.forwarder is not None:
                headers |= self.forwarder.delivery_headers(event)
            headers |= remaining_ttl_headers(event.ttl)
            room = self._max_payload - len(event.data) - _HEADERS
            if len(headers[SUBSCRIPTIONS]) > room:
                _leave_out(headers, ids, room)
            yield OutgoingMessage(self._names.deliveries_to(subscriber), event.data, headers)

    def _dead_letter(
        self, data: bytes, subject: str, place: MessagePlace, reason: str
    ) -> OutgoingMessage:
        headers = {
            MSG_ID: str(place.sequence),
            EVENT: str(place.sequence),
            TIME: str(place.time),
            SUBJECT: subject,
            REASON: reason.encode("ascii", "backslashreplace").decode(),
        }
        room = self._max_payload - 8 * _HEADERS
        if len(data) > room:
            headers[CUT] = str(len(data))
            data = data[:room]
        return OutgoingMessage(self._names.dead_letters, data, headers)


def _leave_out(headers: dict[str, str], ids: list[str], room: int) -> None:
    """List as many ids as fit, and set the header with the number of ids left out."""
    kept, size = 0, 2
    while kept < len(ids) and size + len(ids[kept]) + 1 <= room:
        size += len(ids[kept]) + 1
        kept += 1
    headers[SUBSCRIPTIONS] = f"[{','.join(ids[:kept])}]"
    headers[LEFT_OUT] = str(len(ids) - kept)
