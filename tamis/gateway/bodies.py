"""Read request bodies within limits of size and time, and check the types of their fields."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request

from tamis.broker.protocol.wire import decode_object
from tamis.errors import BrokerError
from tamis.gateway.gateway_settings import GatewaySettings


async def read_body(request: Request, settings: GatewaySettings, *types: str) -> bytes:
    """Return the body of a request.

    Args:
        request: The request.
        settings: The settings with the limits.
        types: The accepted content types; "application/json" if none is given.

    Raises:
        BrokerError: The body is too large, arrives too slowly, or has another type.
    """
    accepted = types or ("application/json",)
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in accepted:
        # A security check: pages of other sites cannot send these types without a CORS preflight.
        raise BrokerError(
            f"the content type must be {' or '.join(accepted)}, not {given!r}", "media"
        )
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > settings.body:
        raise _too_large(settings)
    body = bytearray()
    try:
        async with asyncio.timeout(settings.arrival):
            async for part in request.stream():
                body += part
                if len(body) > settings.body:
                    raise _too_large(settings)
    except TimeoutError:
        raise BrokerError(
            f"the request did not arrive within {settings.arrival:g} s", "slow"
        ) from None
    except ClientDisconnect:
        raise BrokerError("the request ends too early", "request") from None
    return bytes(body)


async def read_object(request: Request, settings: GatewaySettings) -> dict[str, Any]:
    """Return the body of a request as a JSON object.

    Raises:
        BrokerError: The body is not a JSON object.
    """
    body = await read_body(request, settings)
    if not body:
        raise BrokerError("the body must be a JSON object", "request")
    return decode_object(body)


def field(body: dict[str, Any], name: str, kind: type[Any], what: str) -> Any:
    """Return a field of a body.

    Raises:
        BrokerError: The field is missing, or has another type.
    """
    value = body.get(name)
    if not isinstance(value, kind):
        raise BrokerError(f'"{name}" must be {what}', "request")
    return value


def check_fields(body: dict[str, Any], *names: str) -> None:
    """Check that a body has no other fields.

    Raises:
        BrokerError: It has an unknown field.
    """
    for name in body:
        if name not in names:
            raise BrokerError(
                f"unknown field {name!r:.60}; known are {', '.join(names)}", "request"
            )


def raw_objects(body: bytes) -> list[bytes]:
    """Return the elements of a JSON array, byte for byte.

    Raises:
        BrokerError: The body is not a JSON array.
    """
    try:
        parts = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokerError(f"not a JSON array: {error}", "request") from None
    return [bytes(part) for part in parts]


def query_number(request: Request, name: str, least: float, most: float) -> float | None:
    """Return a number from the query, or None.

    Raises:
        BrokerError: The value is not a number in the range.
    """
    given = request.query_params.get(name)
    if given is None:
        return None
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise BrokerError(f"{name} must be a number from {least:g} to {most:g}", "request")
    return value


def _too_large(settings: GatewaySettings) -> BrokerError:
    return BrokerError(f"a request may have at most {settings.body:,} bytes", "limit")
