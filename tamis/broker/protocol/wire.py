"""What messages look like: headers of deliveries, errors as JSON; pure.

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


def encode_json(answer: object) -> bytes:
    """Anything as JSON."""
    return _encode(answer)


def decode_object(data: bytes) -> dict[str, Any]:
    """A JSON object; no data at all is an empty one.

    Raises:
        BrokerError: It is none.
    """
    try:
        found: dict[str, Any] = msgspec.json.decode(data, type=dict) if data else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokerError(f"not a JSON object: {error}", "request") from None
    return found


def is_delete_marker(headers: Mapping[str, str] | None) -> bool:
    """Return whether a message of a bucket says that its key is deleted.

    NATS writes `Nats-Marker-Reason` when a key expires; a client that deletes or purges a key
    writes `KV-Operation`.

    >>> is_delete_marker({"KV-Operation": "PURGE"}), is_delete_marker(None)
    (True, False)
    """
    return headers is not None and (OPERATION in headers or MARKER in headers)


def refusal(error: TamisError) -> dict[str, object]:
    """An error as an answer."""
    told: dict[str, object] = {"message": str(error)}
    if isinstance(error, SelectorError):
        kinds = [name for name, kind in _SELECTOR_ERRORS.items() if type(error) is kind]
        told |= {
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
        told["code"] = error.code if isinstance(error, BrokerError) else "request"
        told["reason"] = error.reason if isinstance(error, BrokerError) else str(error)
    return {"error": told}


def raise_refusal(answer: Mapping[str, Any], selector: str = "") -> None:
    """Raise the error of an answer, if it is one.

    Raises:
        SelectorError: The selector was refused.
        BrokerError: Anything else was.
    """
    told = answer.get("error")
    if told is None:
        return
    if told.get("code") == "selector":
        kind = _SELECTOR_ERRORS.get(told.get("kind", ""), errors.SelectorSyntaxError)
        raise kind(told["reason"], selector, told["start"], told["end"], told.get("hint", ""))
    raise BrokerError(told.get("reason") or told.get("message", "refused"), told.get("code", ""))


class MessagePlace(NamedTuple):
    """Where a message stands, as its reply subject tells.

    Attributes:
        delivered: How often this consumer has given it to somebody, this time included.
        sequence: Its number in the stream.
        time: When it was stored, in nanoseconds since 1970.
        pending: How many messages come after it for this consumer.
    """

    delivered: int
    sequence: int
    time: int
    pending: int


def place_of(reply: str) -> MessagePlace:
    """Read `$JS.ACK.[domain.account.]stream.consumer.delivered.sequence.number.time.pending[.x]`.

    >>> place_of("$JS.ACK.EVENTS.brokers.2.17.5.1700000000000000000.0")
    Place(delivered=2, sequence=17, time=1700000000000000000, pending=0)
    """
    words = reply.split(".")
    first = 4 if len(words) == 9 else 6
    delivered, sequence, _, time, pending = words[first : first + 5]
    return MessagePlace(int(delivered), int(sequence), int(time), int(pending))
