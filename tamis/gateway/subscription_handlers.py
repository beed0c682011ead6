"""Handlers for the subscriptions of a subscriber."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from tamis.errors import BrokerError
from tamis.gateway.bodies import check_fields, read_object
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import json_response

_FIELDS = ("id", "selector", "priority", "ttl")


async def list_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Return a page of subscriptions, ordered by id."""
    asked = {"after": request.query_params.get("after", "")}
    return json_response(await context.ask(request.path_params["subscriber"], "list", asked))


async def put_subscription(request: Request, context: GatewayContext) -> Response:
    """Create or replace the subscription of the path."""
    body = await read_object(request, context.settings)
    check_fields(body, *_FIELDS)
    id = request.path_params["id"]
    if body.get("id", id) != id:
        raise BrokerError('"id" differs from the id in the path', "request")
    asked = {**body, "id": id}
    return json_response(
        await context.ask(request.path_params["subscriber"], "put", asked, _text(body))
    )


async def create_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Create one subscription, or many."""
    body = await read_object(request, context.settings)
    subscriber = request.path_params["subscriber"]
    if "subscriptions" not in body:
        check_fields(body, *_FIELDS)
        return json_response(await context.ask(subscriber, "put", body, _text(body)), 201)
    check_fields(body, "subscriptions")
    answer = await context.ask(subscriber, "put_many", body)
    # The results say for each whether it was accepted.
    refused = any("error" in result for result in answer["results"])
    return json_response(answer, 207 if refused else 201)


async def get_subscription(request: Request, context: GatewayContext) -> Response:
    """Return the subscription of the path."""
    asked = {"id": request.path_params["id"]}
    return json_response(await context.ask(request.path_params["subscriber"], "get", asked))


async def remove_subscription(request: Request, context: GatewayContext) -> Response:
    """Remove the subscription of the path."""
    asked = {"id": request.path_params["id"]}
    return json_response(await context.ask(request.path_params["subscriber"], "remove", asked))


async def renew_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Restart the time to live of all subscriptions that have one."""
    return json_response(await context.ask(request.path_params["subscriber"], "renew", {}))


async def close_subscriber(request: Request, context: GatewayContext) -> Response:
    """Remove the subscriber with its subscriptions and unread deliveries."""
    return json_response(await context.ask(request.path_params["subscriber"], "close", {}))


def _text(body: dict[str, object]) -> str:
    selector = body.get("selector")
    return selector if isinstance(selector, str) else ""
