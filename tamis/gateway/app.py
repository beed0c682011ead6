"""The web application: routes, who may, and errors as JSON."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tamis import __version__
from tamis.broker.protocol.names import checked_name
from tamis.errors import BrokerError, TamisError
from tamis.gateway.callers import caller_of, check_role, check_subscriber
from tamis.gateway.context import Desk
from tamis.gateway.endpoints import ENDPOINTS, Endpoint
from tamis.gateway.error_responses import answered, refused
from tamis.gateway.openapi import document

log = logging.getLogger("tamis.gateway")

_CODES = {404: "unknown", 405: "method"}


def application(desk: Desk) -> Starlette:
    """All endpoints, on a desk."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in ENDPOINTS:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    described = answered(document(__version__))

    async def description(request: Request) -> Response:
        return described

    routes = [Route("/openapi.json", description, methods=["GET"])]
    for path, methods in by_path.items():
        # An id may hold slashes; nothing stands behind it.
        route = path.replace("{id}", "{id:path}")
        routes += [
            Route(route, _answering(desk, each), methods=[method])
            for method, each in methods.items()
        ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error})


def _answering(desk: Desk, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            _checked(request, desk, endpoint)
            response = await endpoint.handler(request, desk)
        except TamisError as error:
            response = refused(error)
        except Exception as error:
            log.exception("%s %s", endpoint.method, endpoint.path)
            response = refused(BrokerError(f"the service failed: {error!r}", "internal"))
        if response.status_code in (408, 413):
            response.headers["Connection"] = "close"  # the rest of the request is not waited for
        desk.answers[endpoint.method, endpoint.path, response.status_code] += 1
        return response

    return answer


def _checked(request: Request, desk: Desk, endpoint: Endpoint) -> None:
    if not endpoint.role:
        return
    if desk.file is not None:
        desk.file.refreshed()
    user = caller_of(request, desk.file.users if desk.file is not None else None)
    check_role(user, endpoint.role)
    subscriber = request.path_params.get("subscriber")
    if subscriber is not None:
        check_subscriber(user, checked_name(subscriber))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "request")
    told = BrokerError(f"{request.method} {request.url.path}: {error.detail}", code)
    return refused(told, dict(error.headers or {}))
