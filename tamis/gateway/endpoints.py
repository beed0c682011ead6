"""All that can be asked: one table, from which the routes and their description are made."""

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
    """A parameter of the query or a header."""

    name: str
    help: str
    schema: Schema = field(default_factory=lambda: TEXT)
    where: str = "query"


@dataclass(frozen=True)
class Endpoint:
    """Something that can be asked.

    Attributes:
        method: Of HTTP.
        path: With `{subscriber}` and `{id}` in it.
        handler: Who answers.
        operation_id: Its name in the OpenAPI description, which clients generate code from.
        help: What for, in a sentence.
        role: Who may; "" for everybody, also without a token.
        answers: The schema of each status that is no error; None for what is no JSON.
        body: The schema of the body, or None.
        parameters: Of the query.
        media: The content type of the answer.
        bodies: More content types of the body, and their schemas.
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
    help="Seconds after which the event is worth nothing.",
    schema={"type": "number", "minimum": 1, "maximum": 3_153_600_000},
)
_KEY = Parameter(
    name="Idempotency-Key",
    help="Published again with the same key within two minutes, it is stored once.",
    schema={"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[!-~]+$"},
    where="header",
)
_STREAM = (
    Parameter(
        name="ack",
        help="auto: a delivery that was sent is acknowledged; explicit: you do it, at /acks.",
        schema={"type": "string", "enum": ["auto", "explicit"], "default": "auto"},
    ),
    Parameter(
        name="limit",
        help="End after so many deliveries.",
        schema={"type": "integer", "minimum": 1, "maximum": 1_000_000_000},
    ),
    Parameter(
        name="idle",
        help="End after so many seconds without any.",
        schema={"type": "number", "minimum": 0, "maximum": 86_400},
    ),
    Parameter(
        name="Last-Event-ID",
        help="The id of the last delivery that arrived: those sent after it are sent again.",
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
        "List subscriptions, by id, a thousand at a time.",
        "subscribe",
        {200: ref("Page")},
        parameters=(Parameter(name="after", help="List those after this id."),),
    ),
    Endpoint(
        "POST",
        _ALL,
        subscription_handlers.create_subscriptions,
        "make",
        "Make a subscription, or many at once, each of which is taken or refused.",
        "subscribe",
        {201: {"anyOf": [ref("Indexed"), ref("IndexedMany")]}, 207: ref("IndexedMany")},
        {"anyOf": [ref("Put"), ref("PutMany")]},
    ),
    Endpoint(
        "PUT",
        f"{_ALL}/{{id}}",
        subscription_handlers.put_subscription,
        "put",
        "Make or replace a subscription.",
        "subscribe",
        {200: ref("Indexed")},
        ref("Put"),
    ),
    Endpoint(
        "GET",
        f"{_ALL}/{{id}}",
        subscription_handlers.get_subscription,
        "get",
        "A subscription.",
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
        "Let subscriptions that have an end live on from now.",
        "subscribe",
        {200: ref("Renewed")},
    ),
    Endpoint(
        "DELETE",
        _ONE,
        subscription_handlers.close_subscriber,
        "close",
        "Remove a subscriber: subscriptions, and deliveries that were not read.",
        "subscribe",
        {200: ref("Removed")},
    ),
    Endpoint(
        "GET",
        f"{_ONE}/deliveries",
        delivery_handlers.stream_deliveries,
        "stream",
        "Deliveries as they come, as server-sent events.",
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
        "Why an event does or does not match a subscription.",
        "subscribe",
        {200: ref("Explanation")},
        ref("ExplainOwn"),
    ),
    Endpoint(
        "GET",
        f"{_ONE}/lint",
        analysis_handlers.lint_subscriber,
        "lint_own",
        "What is wrong with the subscriptions of a subscriber.",
        "subscribe",
        {200: ref("Findings")},
    ),
    Endpoint(
        "POST",
        "/explain",
        analysis_handlers.explain_selector,
        "explain",
        "Why an event does or does not match a selector.",
        ANY_ROLE,
        {200: ref("Explanation")},
        ref("Explain"),
    ),
    Endpoint(
        "POST",
        "/lint",
        analysis_handlers.lint_subscriptions,
        "lint",
        "What is wrong with a set of subscriptions, without keeping them.",
        ANY_ROLE,
        {200: ref("Findings")},
        ref("Lint"),
    ),
    Endpoint(
        "GET",
        "/metrics",
        status_handlers.get_metrics,
        "metrics",
        "Figures, as Prometheus reads them.",
        "metrics",
        {200: None},
        media="text/plain",
    ),
    Endpoint(
        "GET",
        "/healthz",
        status_handlers.get_health,
        "health",
        "Whether the service works.",
        "",
        {200: ref("Health")},
    ),
)
