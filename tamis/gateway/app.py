"""The web application: routes, access checks, and errors as JSON."""

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
from tamis.gateway.context import GatewayContext
from tamis.gateway.endpoints import ENDPOINTS, Endpoint
from tamis.gateway.error_responses import error_response, json_response
from tamis.gateway.openapi import document

log = logging.getLogger("tamis.gateway")

_CODES = {404: "unknown", 405: "method"}


def application(context: GatewayContext) -> Starlette:
    """Return the web application with all endpoints."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in ENDPOINTS:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    description = json_response(document(__version__))

    async def describe(request: Request) -> Response:
        return description

    routes = [Route("/openapi.json", describe, methods=["GET"])]
    for path, methods in by_path.items():
        # An id may contain slashes, and nothing follows it in a path.
        route = path.replace("{id}", "{id:path}")
        routes += [
            Route(route, _request_handler(context, each), methods=[method])
            for method, each in methods.items()
        ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _http_error})


def _request_handler(
    context: GatewayContext, endpoint: Endpoint
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            _check_access(request, context, endpoint)
            response = await endpoint.handler(request, context)
        except TamisError as error:
            response = error_response(error)
        except Exception as error:
            log.exception("%s %s", endpoint.method, endpoint.path)
            response = error_response(BrokerError(f"internal error: {error!r}", "internal"))
        if response.status_code in (408, 413):
            response.headers["Connection"] = "close"  # the rest of the request is not read
        context.answers[endpoint.method, endpoint.path, response.status_code] += 1
        return response

    return answer


def _check_access(request: Request, context: GatewayContext, endpoint: Endpoint) -> None:
    if not endpoint.role:
        return
    if context.file is not None:
        context.file.refresh()
    user = caller_of(request, context.file.users if context.file is not None else None)
    check_role(user, endpoint.role)
    subscriber = request.path_params.get("subscriber")
    if subscriber is not None:
        check_subscriber(user, checked_name(subscriber))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "request")
    reason = BrokerError(f"{request.method} {request.url.path}: {error.detail}", code)
    return error_response(reason, dict(error.headers or {}))
