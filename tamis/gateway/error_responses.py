"""Error responses: the JSON of docs/reference/protocol.md, with the matching HTTP status."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from tamis.broker.protocol.wire import encode_json, refusal
from tamis.errors import BrokerError, SelectorError, TamisError

_STATUS = {
    "request": 400,
    "id": 400,
    "name": 400,
    "auth": 401,
    "permission": 403,
    "unknown": 404,
    "method": 405,
    "slow": 408,
    "limit": 413,
    "media": 415,
    "host": 421,
    "internal": 500,
    "missing": 501,
    "busy": 503,
    "unreachable": 503,
    "timeout": 503,
}
_AGAIN = "2"


def status_of(error: TamisError) -> int:
    """Return the HTTP status for an error.

    >>> status_of(BrokerError("no such subscription", "unknown"))
    404
    """
    if isinstance(error, SelectorError):
        return 422
    return _STATUS.get(error.code, 400) if isinstance(error, BrokerError) else 400


def error_response(error: TamisError, headers: dict[str, str] | None = None) -> Response:
    """Return the response for an error."""
    status = status_of(error)
    more = dict(headers or {})
    if status == 401:
        more["WWW-Authenticate"] = "Bearer"
    if status == 503:
        more["Retry-After"] = _AGAIN
    return json_response(refusal(error), status, more)


def worker_response(answer: dict[str, Any]) -> Response:
    """Return the response for an answer of the worker process, which may be an error."""
    error = answer.get("error")
    if error is None:
        return json_response(answer)
    code = error.get("code")
    return json_response(answer, 422 if code == "selector" else _STATUS.get(code, 400))


def json_response(
    body: object, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return a JSON response."""
    # Proxies must not cache the data of a subscriber, and browsers must not render it as a page.
    safe = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(encode_json(body), status, safe | (headers or {}), "application/json")
