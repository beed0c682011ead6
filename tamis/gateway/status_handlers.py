"""Handlers for health and metrics."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tamis.broker.fabric.backlog import backlog
from tamis.errors import BrokerError
from tamis.gateway.context import GatewayContext
from tamis.gateway.error_responses import error_response, json_response
from tamis.gateway.metrics import CONTENT_TYPE, metrics_text


async def get_health(request: Request, context: GatewayContext) -> Response:
    """Report whether the service works."""
    if not context.broker.connection.nats.is_connected:
        return error_response(BrokerError("NATS is not connected", "unreachable"))
    return json_response({"status": "ok"})


async def get_metrics(request: Request, context: GatewayContext) -> Response:
    """Return metrics for Prometheus."""
    node = context.broker.node
    links = [] if node is None else list(node.table.links)
    waiting = await backlog(context.broker.connection, context.broker.names, links)
    if node is not None:
        await node.refresh()
    text = metrics_text(
        context.broker.status(),
        context.broker.latency,
        waiting,
        context.streams.total(),
        context.answers,
    )
    return PlainTextResponse(text, media_type=CONTENT_TYPE)
