"""Handlers that explain matches and lint subscriptions."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tamis.broker.config.limits import check_selector
from tamis.errors import BrokerError
from tamis.gateway.bodies import check_fields, field, read_object
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import worker_response
from tamis.schema import Schema

Rows = list[tuple[str, str]]


async def explain_selector(request: Request, context: GatewayContext) -> Response:
    """Explain a selector on an event."""
    body = await read_object(request, context.settings)
    check_fields(body, "selector", "event")
    selector = field(body, "selector", str, "a selector, which is a string")
    return await _explain_response(context, "selector", selector, body)


async def explain_subscription(request: Request, context: GatewayContext) -> Response:
    """Explain a subscription on an event."""
    body = await read_object(request, context.settings)
    check_fields(body, "id", "event")
    id = field(body, "id", str, "the id of a subscription")
    subscription = await context.ask(request.path_params["subscriber"], "get", {"id": id})
    return await _explain_response(context, id, subscription["selector"], body)


async def lint_subscriptions(request: Request, context: GatewayContext) -> Response:
    """Lint the subscriptions of the body."""
    body = await read_object(request, context.settings)
    check_fields(body, "subscriptions")
    rows: Rows = []
    for row in field(body, "subscriptions", list, "a list of objects"):
        if not isinstance(row, dict):
            raise BrokerError("a subscription must be a JSON object", "request")
        check_fields(row, "id", "selector", "priority", "ttl")
        id = row.get("id", str(len(rows)))
        if not isinstance(id, str) or not id:
            raise BrokerError('"id" must be a non-empty string', "request")
        rows.append((id, field(row, "selector", str, "a selector, which is a string")))
    return await _lint_response(context, rows)


async def lint_subscriber(request: Request, context: GatewayContext) -> Response:
    """Lint all subscriptions of a subscriber."""
    rows: Rows = []
    more = True
    while more and len(rows) <= context.settings.lint_limit:
        after = rows[-1][0] if rows else ""
        page = await context.ask(request.path_params["subscriber"], "list", {"after": after})
        rows += [(each["id"], each["selector"]) for each in page["subscriptions"]]
        more = page["more"]
    return await _lint_response(context, rows)


async def _explain_response(
    context: GatewayContext, id: str, selector: str, body: dict[str, Any]
) -> Response:
    event = field(body, "event", dict, "an event: a JSON object")
    settings = context.broker.settings
    check_selector(selector, settings.limits, settings.schema, settings.semantics)
    answer = await context.worker.run(
        _explain, settings.schema, settings.semantics, id, selector, event
    )
    return worker_response(answer)


async def _lint_response(context: GatewayContext, rows: Rows) -> Response:
    most = context.settings.lint_limit
    if len(rows) > most:
        raise BrokerError(
            f"at most {most:,} subscriptions per request; `tamis lint` takes any number",
            "limit",
        )
    settings = context.broker.settings
    longest = max((len(selector) for _, selector in rows), default=0)
    if longest > settings.limits.selector:
        raise BrokerError(
            f"a selector may have at most {settings.limits.selector:,} bytes", "limit"
        )
    answer = await context.worker.run(_lint, settings.schema, settings.semantics, rows)
    return worker_response(answer)


# -- in the process of the worker -----------------------------------------------------------------


def _explain(
    schema: Schema | None, semantics: str, id: str, selector: str, event: dict[str, object]
) -> object:
    from tamis.matcher import Matcher

    matcher = Matcher(schema, semantics, engine="brute")
    matcher.add(id, selector)
    return matcher.explain(id, event).to_dict()


def _lint(schema: Schema | None, semantics: str, rows: Rows) -> object:
    from tamis.analysis import lint

    return {"findings": [finding.to_dict() for finding in lint(rows, schema, semantics)]}
