"""Message formats: headers of deliveries, and errors as JSON; no I/O.

See docs/reference/protocol.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from tamis import errors
from tamis.errors import BrokerError, SelectorError, TamisError

MSG_ID = "Nats-Msg-Id"
TTL = "Nats-TTL"
ROLLUP = "Nats-Rollup"
OPERATION = "KV-Operation"
MARKER = "Nats-Marker-Reason"
STATUS = "Status"

EVENT = "Tamis-Event"
SUBSCRIPTIONS = "Tamis-Subscriptions"
LEFT_OUT = "Tamis-Left-Out"
PRIORITY = "Tamis-Priority"
REVISION = "Tamis-Revision"
TIME = "Tamis-Time"
AGAIN = "Tamis-Again"
REASON = "Tamis-Reason"
CUT = "Tamis-Cut"
SUBJECT = "Tamis-Subject"
BATCH = "Tamis-Batch"
AFTER = "Tamis-After"
ORIGIN = "Tamis-Origin"
HOPS = "Tamis-Hops"
FILTER = "Tamis-Filter"
LINK = "Tamis-Link"
PUBLISHED = "Tamis-Published"

_SELECTOR_ERRORS = {
    "syntax": errors.SelectorSyntaxError,
    "type": errors.SelectorTypeError,
    "depth": errors.SelectorTooDeep,
}
_encode = msgspec.json.Encoder().encode


def encode_json(value: object) -> bytes:
    """Encode a value as JSON."""
    return _encode(value)


def decode_object(data: bytes) -> dict[str, Any]:
    """Decode a JSON object; no data is an empty object.

    Raises:
        BrokerError: The data is not a JSON object.
    """
    try:
        decoded: dict[str, Any] = msgspec.json.decode(data, type=dict) if data else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokerError(f"not a JSON object: {error}", "request") from None
    return decoded


def is_delete_marker(headers: Mapping[str, str] | None) -> bool:
    """Return whether a message of a bucket says that its key is deleted.

    NATS writes `Nats-Marker-Reason` when a key expires; a client that deletes or purges a key
    writes `KV-Operation`.

    >>> is_delete_marker({"KV-Operation": "PURGE"}), is_delete_marker(None)
    (True, False)
    """
    return headers is not None and (OPERATION in headers or MARKER in headers)


def refusal(error: TamisError) -> dict[str, object]:
    """Return the answer to a request that failed."""
    fields: dict[str, object] = {"message": str(error)}
    if isinstance(error, SelectorError):
        kinds = [name for name, kind in _SELECTOR_ERRORS.items() if type(error) is kind]
        fields |= {
            "code": "selector",
            "kind": kinds[0] if kinds else "syntax",
            "reason": error.reason,
            "hint": error.hint,
            "line": error.line,
            "column": error.column,
            "start": error.start,
            "end": error.end,
        }
    else:
        fields["code"] = error.code if isinstance(error, BrokerError) else "request"
        fields["reason"] = error.reason if isinstance(error, BrokerError) else str(error)
    return {"error": fields}


def raise_refusal(answer: Mapping[str, Any], selector: str = "") -> None:
    """Raise the error of an answer, if it is one.

    Raises:
        SelectorError: The selector was refused.
        BrokerError: The request was refused for another reason.
    """
    error = answer.get("error")
    if error is None:
        return
    if error.get("code") == "selector":
        kind = _SELECTOR_ERRORS.get(error.get("kind", ""), errors.SelectorSyntaxError)
        raise kind(error["reason"], selector, error["start"], error["end"], error.get("hint", ""))
    raise BrokerError(error.get("reason") or error.get("message", "refused"), error.get("code", ""))


class MessagePlace(NamedTuple):
    """The position of a message in its stream and consumer, from its reply subject.

    Attributes:
        delivered: How often the consumer has delivered it, this time included.
        sequence: Its sequence number in the stream.
        time: When it was stored, in nanoseconds since 1970.
        pending: How many messages the consumer has after it.
    """

    delivered: int
    sequence: int
    time: int
    pending: int


def place_of(reply: str) -> MessagePlace:
    """Parse `$JS.ACK.[domain.account.]stream.consumer.delivered.sequence.number.time.pending[.x]`.

    >>> place_of("$JS.ACK.EVENTS.brokers.2.17.5.1700000000000000000.0")
    MessagePlace(delivered=2, sequence=17, time=1700000000000000000, pending=0)
    """
    words = reply.split(".")
    first = 4 if len(words) == 9 else 6
    delivered, sequence, _, time, pending = words[first : first + 5]
    return MessagePlace(int(delivered), int(sequence), int(time), int(pending))
