"""The table of all endpoints, from which the routes and the OpenAPI description are built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from tamis.gateway import (
    analysis_handlers,
    delivery_handlers,
    publish_handlers,
    status_handlers,
    subscription_handlers,
)
from tamis.gateway.callers import ANY_ROLE
from tamis.gateway.context import GatewayContext
from tamis.gateway.schemas import TEXT, Schema, ref

Handler = Callable[[Request, GatewayContext], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A query parameter or a header."""

    name: str
    help: str
    schema: Schema = field(default_factory=lambda: TEXT)
    where: str = "query"


@dataclass(frozen=True)
class Endpoint:
    """An endpoint.

    Attributes:
        method: The HTTP method.
        path: The path, with `{subscriber}` and `{id}` as placeholders.
        handler: The function that answers.
        operation_id: The id in the OpenAPI description, from which clients are generated.
        help: A sentence that describes it.
        role: The role that it needs; "" for everybody, also without a token.
        answers: The schema of each successful status; None for a response that is not JSON.
        body: The schema of the body, or None.
        parameters: The query parameters and headers.
        media: The content type of the response.
        bodies: The schemas of further content types of the body.
    """

    method: str
    path: str
    handler: Handler
    operation_id: str
    help: str
    role: str
    answers: dict[int, Schema | None]
    body: Schema | None = None
    parameters: tuple[Parameter, ...] = ()
    media: str = "application/json"
    bodies: dict[str, Schema] = field(default_factory=dict)


_ONE = "/subscribers/{subscriber}"
_ALL = f"{_ONE}/subscriptions"
_TTL = Parameter(
    name="ttl",
    help="The time to live in seconds; after that the event is dropped.",
    schema={"type": "number", "minimum": 1, "maximum": 3_153_600_000},
)
_KEY = Parameter(
    name="Idempotency-Key",
    help="An event published again with the same key within two minutes is stored once.",
    schema={"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$"},
    where="header",
)
_STREAM = (
    Parameter(
        name="ack",
        help="auto: a delivery is acknowledged once it is sent; explicit: acknowledge it at /acks.",
        schema={"type": "string", "enum": ["auto", "explicit"], "default": "auto"},
    ),
    Parameter(
        name="limit",
        help="End the stream after so many deliveries.",
        schema={"type": "integer", "minimum": 1, "maximum": 1_000_000_000},
    ),
    Parameter(
        name="idle",
        help="End the stream after so many seconds without a delivery.",
        schema={"type": "number", "minimum": 0, "maximum": 86_400},
    ),
    Parameter(
        name="Last-Event-ID",
        help="The id of the last delivery that you received; later ones are sent again.",
        schema={"type": "string", "pattern": "^[0-9]{1,18}-[0-9]{1,18}-[0-9]{1,9}$"},
        where="header",
    ),
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/events",
        publish_handlers.publish_events,
        "publish",
        "Publish an event, or a list of events.",
        "publish",
        {202: ref("Published")},
        {"anyOf": [ref("Event"), ref("Events")]},
        (_TTL, _KEY),
        bodies={publish_handlers.LINES: TEXT},
    ),
    Endpoint(
        "GET",
        _ALL,
        subscription_handlers.list_subscriptions,
        "list_all",
        "List subscriptions ordered by id, a thousand at a time.",
        "subscribe",
        {200: ref("Page")},
        parameters=(Parameter(name="after", help="List the subscriptions after this id."),),
    ),
    Endpoint(
        "POST",
        _ALL,
        subscription_handlers.create_subscriptions,
        "make",
        "Create a subscription, or many, each of which is accepted or refused.",
        "subscribe",
        {201: {"anyOf": [ref("Indexed"), ref("IndexedMany")]}, 207: ref("IndexedMany")},
        {"anyOf": [ref("Put"), ref("PutMany")]},
    ),
    Endpoint(
        "PUT",
        f"{_ALL}/{{id}}",
        subscription_handlers.put_subscription,
        "put",
        "Create or replace a subscription.",
        "subscribe",
        {200: ref("Indexed")},
        ref("Put"),
    ),
    Endpoint(
        "GET",
        f"{_ALL}/{{id}}",
        subscription_handlers.get_subscription,
        "get",
        "Get a subscription.",
        "subscribe",
        {200: ref("Subscription")},
    ),
    Endpoint(
        "DELETE",
        f"{_ALL}/{{id}}",
        subscription_handlers.remove_subscription,
        "remove",
        "Remove a subscription.",
        "subscribe",
        {200: ref("Removed")},
    ),
    Endpoint(
        "POST",
        f"{_ONE}/renew",
        subscription_handlers.renew_subscriptions,
        "renew",
        "Restart the time to live of all subscriptions that have one.",
        "subscribe",
        {200: ref("Renewed")},
    ),
    Endpoint(
        "DELETE",
        _ONE,
        subscription_handlers.close_subscriber,
        "close",
        "Remove a subscriber with its subscriptions and unread deliveries.",
        "subscribe",
        {200: ref("Removed")},
    ),
    Endpoint(
        "GET",
        f"{_ONE}/deliveries",
        delivery_handlers.stream_deliveries,
        "stream",
        "Stream deliveries as server-sent events.",
        "subscribe",
        {200: None},
        parameters=_STREAM,
        media="text/event-stream",
    ),
    Endpoint(
        "POST",
        f"{_ONE}/acks",
        delivery_handlers.acknowledge_deliveries,
        "acknowledged",
        "Acknowledge deliveries by their ids.",
        "subscribe",
        {200: ref("Acknowledged")},
        ref("Acks"),
    ),
    Endpoint(
        "POST",
        f"{_ONE}/explain",
        analysis_handlers.explain_subscription,
        "explain_own",
        "Explain why an event does or does not match a subscription.",
        "subscribe",
        {200: ref("Explanation")},
        ref("ExplainOwn"),
    ),
    Endpoint(
        "GET",
        f"{_ONE}/lint",
        analysis_handlers.lint_subscriber,
        "lint_own",
        "Lint the subscriptions of a subscriber.",
        "subscribe",
        {200: ref("Findings")},
    ),
    Endpoint(
        "POST",
        "/explain",
        analysis_handlers.explain_selector,
        "explain",
        "Explain why an event does or does not match a selector.",
        ANY_ROLE,
        {200: ref("Explanation")},
        ref("Explain"),
    ),
    Endpoint(
        "POST",
        "/lint",
        analysis_handlers.lint_subscriptions,
        "lint",
        "Lint a set of subscriptions, without storing them.",
        ANY_ROLE,
        {200: ref("Findings")},
        ref("Lint"),
    ),
    Endpoint(
        "GET",
        "/metrics",
        status_handlers.get_metrics,
        "metrics",
        "Get metrics in the format of Prometheus.",
        "metrics",
        {200: None},
        media="text/plain",
    ),
    Endpoint(
        "GET",
        "/healthz",
        status_handlers.get_health,
        "health",
        "Check whether the service works.",
        "",
        {200: ref("Health")},
    ),
)
