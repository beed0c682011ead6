"""The OpenAPI 3.1 description of all endpoints."""

from __future__ import annotations

from typing import Any

from tamis.gateway.endpoints import ENDPOINTS, Endpoint
from tamis.gateway.schemas import SCHEMAS, ref

_TITLE = "Tamis"
_PATH_PARAMETERS = {
    "subscriber": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
    "id": {"type": "string", "minLength": 1, "maxLength": 200},
}
_ERRORS = {
    400: "The request is invalid.",
    401: "The token is missing or invalid.",
    403: "The user does not have the permission.",
    404: "The resource does not exist.",
    408: "The request took too long to arrive.",
    413: "The request exceeds a limit.",
    415: "The content type is not supported.",
    421: "The host name is not served here.",
    422: "The selector is invalid; the error says where and why.",
    501: "A required library is not installed.",
    503: "The service is busy or unavailable; try again later.",
}


def document(version: str) -> dict[str, Any]:
    """Return the description."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": _TITLE,
            "version": version,
            "description": "Content-based publish/subscribe: docs/reference/http.md.",
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    names = [name for name in _PATH_PARAMETERS if f"{{{name}}}" in endpoint.path]
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.help,
        "description": f"Requires the role {endpoint.role}."
        if endpoint.role
        else "Requires no token.",
        "security": [{"token": []}] if endpoint.role else [],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS[name]}
            for name in names
        ]
        + [
            {"name": each.name, "in": each.where, "description": each.help, "schema": each.schema}
            for each in endpoint.parameters
        ],
        "responses": _responses(endpoint),
    }
    if endpoint.body is not None:
        kinds = {"application/json": endpoint.body, **endpoint.bodies}
        content = {media: {"schema": schema} for media, schema in kinds.items()}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, schema in endpoint.answers.items():
        content = {endpoint.media: {"schema": schema} if schema is not None else {}}
        responses[str(status)] = {"description": "Success.", "content": content}
    for status, help in _ERRORS.items():
        content = {"application/json": {"schema": ref("Error")}}
        responses[str(status)] = {"description": help, "content": content}
    return responses
