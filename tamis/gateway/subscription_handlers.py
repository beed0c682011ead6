"""Subscriptions of a subscriber."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from tamis.errors import BrokerError
from tamis.gateway.bodies import check_fields, read_object
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import json_response

_FIELDS = ("id", "selector", "priority", "ttl")


async def list_subscriptions(request: Request, context: GatewayContext) -> Response:
    """A page of them, by id."""
    asked = {"after": request.query_params.get("after", "")}
    return json_response(await context.ask(request.path_params["subscriber"], "list", asked))


async def put_subscription(request: Request, context: GatewayContext) -> Response:
    """Make or replace the one of the path."""
    body = await read_object(request, context.settings)
    check_fields(body, *_FIELDS)
    id = request.path_params["id"]
    if body.get("id", id) != id:
        raise BrokerError('"id" is another than that of the path', "request")
    asked = {**body, "id": id}
    return json_response(
        await context.ask(request.path_params["subscriber"], "put", asked, _text(body))
    )


async def create_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Make one, or many at once."""
    body = await read_object(request, context.settings)
    subscriber = request.path_params["subscriber"]
    if "subscriptions" not in body:
        check_fields(body, *_FIELDS)
        return json_response(await context.ask(subscriber, "put", body, _text(body)), 201)
    check_fields(body, "subscriptions")
    told = await context.ask(subscriber, "put_many", body)
    # Each has its own fate, as the results say.
    refused = any("error" in result for result in told["results"])
    return json_response(told, 207 if refused else 201)


async def get_subscription(request: Request, context: GatewayContext) -> Response:
    """The one of the path."""
    asked = {"id": request.path_params["id"]}
    return json_response(await context.ask(request.path_params["subscriber"], "get", asked))


async def remove_subscription(request: Request, context: GatewayContext) -> Response:
    """Remove the one of the path."""
    asked = {"id": request.path_params["id"]}
    return json_response(await context.ask(request.path_params["subscriber"], "remove", asked))


async def renew_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Let all that have an end live on from now."""
    return json_response(await context.ask(request.path_params["subscriber"], "renew", {}))


async def close_subscriber(request: Request, context: GatewayContext) -> Response:
    """Remove the subscriber: subscriptions, and deliveries that were not read."""
    return json_response(await context.ask(request.path_params["subscriber"], "close", {}))


def _text(body: dict[str, object]) -> str:
    selector = body.get("selector")
    return selector if isinstance(selector, str) else ""
