"""What comes in: bodies of a bounded size within a bounded time, and fields of the right type."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request

from tamis.broker.protocol.wire import decode_object
from tamis.errors import BrokerError
from tamis.gateway.gateway_settings import GatewaySettings


async def read_body(request: Request, settings: GatewaySettings, *types: str) -> bytes:
    """The body of a request.

    Args:
        request: The request.
        settings: With the limits.
        types: The content types that are taken; "application/json" if none is given.

    Raises:
        BrokerError: It is too large, too slow, or of another type.
    """
    taken = types or ("application/json",)
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in taken:
        # Not a nicety: pages of other sites cannot send this type without asking first.
        raise BrokerError(f"the content type is {' or '.join(taken)}, not {given!r}", "media")
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
        raise BrokerError(f"no whole request within {settings.arrival:g} s", "slow") from None
    except ClientDisconnect:
        raise BrokerError("the request has no end", "request") from None
    return bytes(body)


async def read_object(request: Request, settings: GatewaySettings) -> dict[str, Any]:
    """The body, which is a JSON object.

    Raises:
        BrokerError: It is none.
    """
    body = await read_body(request, settings)
    if not body:
        raise BrokerError("a JSON object is needed", "request")
    return decode_object(body)


def field(body: dict[str, Any], name: str, kind: type[Any], what: str) -> Any:
    """A field of a body.

    Raises:
        BrokerError: It is missing, or something else.
    """
    found = body.get(name)
    if not isinstance(found, kind):
        raise BrokerError(f'"{name}" is {what}', "request")
    return found


def check_fields(body: dict[str, Any], *names: str) -> None:
    """See that there are no others.

    Raises:
        BrokerError: There are.
    """
    for name in body:
        if name not in names:
            raise BrokerError(
                f"unknown field {name!r:.60}; there are {', '.join(names)}", "request"
            )


def raw_objects(body: bytes) -> list[bytes]:
    """The objects of a JSON array, byte for byte.

    Raises:
        BrokerError: It is none.
    """
    try:
        parts = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokerError(f"not a JSON array: {error}", "request") from None
    return [bytes(part) for part in parts]


def query_number(request: Request, name: str, least: float, most: float) -> float | None:
    """A number in the query, or None.

    Raises:
        BrokerError: It is something else.
    """
    given = request.query_params.get(name)
    if given is None:
        return None
    try:
        found = float(given)
    except ValueError:
        found = float("nan")
    if not least <= found <= most:
        raise BrokerError(f"{name} is a number from {least:g} to {most:g}", "request")
    return found


def _too_large(settings: GatewaySettings) -> BrokerError:
    return BrokerError(f"a request has at most {settings.body:,} bytes", "limit")
