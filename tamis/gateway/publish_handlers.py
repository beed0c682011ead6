"""The handler that publishes events."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from tamis.broker.client.publish_events import publish_many
from tamis.broker.protocol.wire import decode_object
from tamis.errors import BrokerError
from tamis.gateway.bodies import query_number, raw_objects, read_body
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import json_response

JSON, LINES = "application/json", "application/x-ndjson"
_LONGEST = 100 * 365 * 86_400
_MAX_ID = 256


async def publish_events(request: Request, context: GatewayContext) -> Response:
    """Publish the event or events of the body; none of them if one is invalid."""
    body = await read_body(request, context.settings, JSON, LINES)
    ttl = query_number(request, "ttl", 1, _LONGEST)
    id = _checked_key(request.headers.get("idempotency-key"))
    one = False
    if request.headers["content-type"].startswith(LINES):
        events = [line for line in body.splitlines() if line.strip()]
    elif body.lstrip()[:1] == b"[":
        events = raw_objects(body)
    else:
        events, one = [body], True
    most = context.broker.settings.limits.event
    for number, event in enumerate(events):
        where = "" if one else f"event {number}: "
        if len(event) > most:
            raise BrokerError(
                f"{where}the event has {len(event):,} bytes; the limit is {most:,} bytes", "limit"
            )
        if not event.strip():
            raise BrokerError("an event must be a JSON object", "request")
        try:
            decode_object(event)
        except BrokerError as error:
            raise BrokerError(f"{where}{error.reason}", "request") from None
    ids = None if id is None else [id] if one else [f"{id}.{i}" for i in range(len(events))]
    sequences = await publish_many(
        context.publisher,
        context.broker.names,
        events,
        ids=ids,
        ttl=ttl,
        timeout=context.settings.timeout,
    )
    answer = {"sequence": sequences[0]} if one else {"sequences": sequences}
    return json_response(answer, 202)


def _checked_key(key: str | None) -> str | None:
    if key is not None and not (0 < len(key) <= _MAX_ID and key.isascii() and key.isprintable()):
        raise BrokerError(
            f"Idempotency-Key must be 1 to {_MAX_ID} printable ASCII characters", "request"
        )
    return key
