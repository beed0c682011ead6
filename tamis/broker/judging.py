"""A micro-batch of events: who gets them, and which of them nobody can judge."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from nats.aio.msg import Msg

from tamis.broker.names import Names
from tamis.broker.register import Register
from tamis.broker.settings import Settings
from tamis.broker.wire import (
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
    TTL,
    Place,
    place_of,
    seconds_of,
)
from tamis.errors import EventError
from tamis.events import EventBatch
from tamis.files.events import faults
from tamis.files.records import json_fault

_decode = msgspec.json.Decoder(dict).decode
# What headers and the protocol line may take besides the ids, in bytes.
_HEADERS = 1024


class Outgoing(NamedTuple):
    """A message to be published."""

    subject: str
    payload: bytes
    headers: dict[str, str]


class Event(NamedTuple):
    """An event that can be judged."""

    place: Place
    data: bytes
    row: dict[str, object]
    ttl: float | None


class Judged(NamedTuple):
    """What a batch comes to.

    Attributes:
        deliveries: One per event and subscriber, in the order of events and then of priority.
        dead: Events that cannot be judged.
        expired: How many events had outlived their time.
    """

    deliveries: list[Outgoing]
    dead: list[Outgoing]
    expired: int


class Judge:
    """Judges events by a register; to be used on its executor."""

    def __init__(
        self, register: Register, names: Names, settings: Settings, max_payload: int
    ) -> None:
        """Take what there is to go by."""
        self._register = register
        self._names = names
        self._settings = settings
        self._max_payload = max_payload

    def judge(self, messages: list[Msg]) -> Judged:
        """Who gets what of a batch."""
        events, dead, expired = self.read(messages)
        register = self._register
        deliveries: list[Outgoing] = []
        if events and len(register.matcher):
            rows = [event.row for event in events]
            matcher = register.matcher
            batch = EventBatch.from_dicts(rows, matcher.schema, matcher.semantics)
            found = matcher.match_batch(batch).per_event()
            for event, keys in zip(events, found, strict=True):
                if keys:
                    deliveries.extend(self.deliveries(event, keys))  # type: ignore[arg-type]
        return Judged(deliveries, dead, expired)

    def read(self, messages: list[Msg]) -> tuple[list[Event], list[Outgoing], int]:
        """The events that can be judged, the others, and how many are too old."""
        settings, now = self._settings, time.time_ns()
        events: list[Event] = []
        dead: list[Outgoing] = []
        expired = 0
        for message in messages:
            place = place_of(message.reply)
            ttl = None
            if message.headers and TTL in message.headers:
                lives = seconds_of(message.headers[TTL])
                ttl = None if lives is None else lives - (now - place.time) / 1e9
                if ttl is not None and ttl <= 0:
                    expired += 1
                    continue
            if len(message.data) > settings.limits.event:
                why = f"too big: {len(message.data):,} bytes, at most {settings.limits.event:,}"
                dead.append(self._dead(message, place, why))
                continue
            if place.delivered > settings.tries:
                why = f"given to brokers {place.delivered - 1} times, and none finished it"
                dead.append(self._dead(message, place, why))
                continue
            try:
                row = _decode(message.data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                dead.append(self._dead(message, place, json_fault(error, message.data)))
                continue
            events.append(Event(place, message.data, row, ttl))
        if events:
            bad = self._faults([event.row for event in events])
            if bad:
                by_sequence = {place_of(each.reply).sequence: each for each in messages}
                for i, why in bad.items():
                    place = events[i].place
                    dead.append(self._dead(by_sequence[place.sequence], place, why))
                events = [event for i, event in enumerate(events) if i not in bad]
        return events, dead, expired

    def _faults(self, rows: list[dict[str, object]]) -> dict[int, str]:
        schema, semantics = self._register.matcher.schema, self._register.matcher.semantics

        def batch_of(some: list[dict[str, object]]) -> EventBatch:
            return EventBatch.from_dicts(some, schema, semantics)

        try:
            batch_of(rows)
        except EventError:
            return dict(faults(rows, batch_of))
        return {}

    def deliveries(self, event: Event, keys: list[str], kind: str = "") -> Iterator[Outgoing]:
        """One message per subscriber, who comes first by priority.

        Args:
            event: The event.
            keys: The subscriptions that it matches, highest priority first.
            kind: Sets deliveries of the same event to the same subscriber apart.
        """
        entries = self._register.entries
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
                REVISION: str(self._register.revision),
                TIME: str(event.place.time),
            }
            if event.place.delivered > 1:
                headers[AGAIN] = str(event.place.delivered - 1)
            if event.ttl is not None:
                headers[TTL] = str(max(1, math.ceil(event.ttl)))
            room = self._max_payload - len(event.data) - _HEADERS
            if len(headers[SUBSCRIPTIONS]) > room:
                _leave_out(headers, ids, room)
            yield Outgoing(self._names.deliveries_to(subscriber), event.data, headers)

    def _dead(self, message: Msg, place: Place, reason: str) -> Outgoing:
        headers = {
            MSG_ID: str(place.sequence),
            EVENT: str(place.sequence),
            TIME: str(place.time),
            SUBJECT: message.subject,
            REASON: reason.encode("ascii", "backslashreplace").decode(),
        }
        data, room = message.data, self._max_payload - 8 * _HEADERS
        if len(data) > room:
            headers[CUT] = str(len(data))
            data = data[:room]
        return Outgoing(self._names.dead, data, headers)


def _leave_out(headers: dict[str, str], ids: list[str], room: int) -> None:
    """Name as many ids as there is room for, and say how many are left out."""
    kept, size = 0, 2
    while kept < len(ids) and size + len(ids[kept]) + 1 <= room:
        size += len(ids[kept]) + 1
        kept += 1
    headers[SUBSCRIPTIONS] = f"[{','.join(ids[:kept])}]"
    headers[LEFT_OUT] = str(len(ids) - kept)
