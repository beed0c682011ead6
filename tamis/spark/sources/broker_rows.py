"""Messages of a broker as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa

from tamis.broker.fabric.stream_ranges import StoredMessage
from tamis.broker.protocol.wire import (
    AGAIN,
    EVENT,
    LEFT_OUT,
    MSG_ID,
    PRIORITY,
    REVISION,
    SUBSCRIPTIONS,
    TIME,
)

_TIME = pa.timestamp("us", tz="UTC")

EVENTS = pa.schema(
    {
        "sequence": pa.int64(),
        "time": _TIME,
        "subject": pa.string(),
        "id": pa.string(),
        "event": pa.string(),
    }
)
# `sequence` and `time` are those of the event, as in EVENTS.
DELIVERIES = pa.schema(
    {
        "sequence": pa.int64(),
        "time": _TIME,
        "subscriptions": pa.list_(pa.string()),
        "left_out": pa.int64(),
        "priority": pa.int64(),
        "revision": pa.int64(),
        "again": pa.int64(),
        "delivery": pa.int64(),
        "event": pa.string(),
    }
)

_ids = msgspec.json.Decoder(list[str]).decode


def events(some: Sequence[StoredMessage]) -> pa.RecordBatch:
    """Return rows of events, as they were published."""
    return _batch(
        EVENTS,
        [
            [stored.sequence for stored in some],
            [stored.time for stored in some],
            [stored.subject for stored in some],
            [stored.headers.get(MSG_ID) for stored in some],
            [_text(stored.data) for stored in some],
        ],
    )


def deliveries(some: Sequence[StoredMessage]) -> pa.RecordBatch:
    """Return rows of deliveries; the value of a missing header is NULL."""
    times = [_number(stored, TIME) for stored in some]
    return _batch(
        DELIVERIES,
        [
            [_number(stored, EVENT) for stored in some],
            [None if time is None else time // 1000 for time in times],
            [_subscriptions(stored) for stored in some],
            [_number(stored, LEFT_OUT, 0) for stored in some],
            [_number(stored, PRIORITY) for stored in some],
            [_number(stored, REVISION) for stored in some],
            [_number(stored, AGAIN, 0) for stored in some],
            [stored.sequence for stored in some],
            [_text(stored.data) for stored in some],
        ],
    )


def _batch(schema: pa.Schema, columns: list[list[object]]) -> pa.RecordBatch:
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:  # not an event; brokers send it to the dead letters
        return None


def _number(stored: StoredMessage, header: str, otherwise: int | None = None) -> int | None:
    try:
        return int(stored.headers.get(header, ""))
    except ValueError:
        return otherwise


def _subscriptions(stored: StoredMessage) -> list[str] | None:
    try:
        return _ids(stored.headers.get(SUBSCRIPTIONS, ""))
    except msgspec.DecodeError:
        return None
