"""What the service says about itself."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tamis.broker.fabric.backlog import backlog
from tamis.errors import BrokerError
from tamis.gateway.context import Desk
from tamis.gateway.error_responses import answered, refused
from tamis.gateway.metrics import CONTENT_TYPE, metrics_text


async def health(request: Request, desk: Desk) -> Response:
    """Whether it can do its work."""
    if not desk.broker.connection.nats.is_connected:
        return refused(BrokerError("NATS is away", "unreachable"))
    return answered({"status": "ok"})


async def metrics(request: Request, desk: Desk) -> Response:
    """Figures for Prometheus."""
    node = desk.broker.node
    links = [] if node is None else list(node.table.links)
    waiting = await backlog(desk.broker.connection, desk.broker.names, links)
    if node is not None:
        await node.refresh()
    text = metrics_text(
        desk.broker.status(), desk.broker.latency, waiting, desk.streams.total(), desk.answers
    )
    return PlainTextResponse(text, media_type=CONTENT_TYPE)
