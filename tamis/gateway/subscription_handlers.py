"""Subscriptions of a subscriber."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from tamis.errors import BrokerError
from tamis.gateway.bodies import only_fields, read_object
from tamis.gateway.context import Desk
from tamis.gateway.error_responses import answered

_FIELDS = ("id", "selector", "priority", "ttl")


async def list_all(request: Request, desk: Desk) -> Response:
    """A page of them, by id."""
    asked = {"after": request.query_params.get("after", "")}
    return answered(await desk.ask(request.path_params["subscriber"], "list", asked))


async def put(request: Request, desk: Desk) -> Response:
    """Make or replace the one of the path."""
    body = await read_object(request, desk.settings)
    only_fields(body, *_FIELDS)
    id = request.path_params["id"]
    if body.get("id", id) != id:
        raise BrokerError('"id" is another than that of the path', "request")
    asked = {**body, "id": id}
    return answered(await desk.ask(request.path_params["subscriber"], "put", asked, _text(body)))


async def make(request: Request, desk: Desk) -> Response:
    """Make one, or many at once."""
    body = await read_object(request, desk.settings)
    subscriber = request.path_params["subscriber"]
    if "subscriptions" not in body:
        only_fields(body, *_FIELDS)
        return answered(await desk.ask(subscriber, "put", body, _text(body)), 201)
    only_fields(body, "subscriptions")
    told = await desk.ask(subscriber, "put_many", body)
    # Each has its own fate, as the results say.
    refused = any("error" in result for result in told["results"])
    return answered(told, 207 if refused else 201)


async def get(request: Request, desk: Desk) -> Response:
    """The one of the path."""
    asked = {"id": request.path_params["id"]}
    return answered(await desk.ask(request.path_params["subscriber"], "get", asked))


async def remove(request: Request, desk: Desk) -> Response:
    """Remove the one of the path."""
    asked = {"id": request.path_params["id"]}
    return answered(await desk.ask(request.path_params["subscriber"], "remove", asked))


async def renew(request: Request, desk: Desk) -> Response:
    """Let all that have an end live on from now."""
    return answered(await desk.ask(request.path_params["subscriber"], "renew", {}))


async def close(request: Request, desk: Desk) -> Response:
    """Remove the subscriber: subscriptions, and deliveries that were not read."""
    return answered(await desk.ask(request.path_params["subscriber"], "close", {}))


def _text(body: dict[str, object]) -> str:
    selector = body.get("selector")
    return selector if isinstance(selector, str) else ""
