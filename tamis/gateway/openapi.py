"""The description of all endpoints, in OpenAPI 3.1."""

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
    400: "The request is no good.",
    401: "Nobody has this token.",
    403: "You may not.",
    404: "There is no such thing.",
    408: "The request took too long to arrive.",
    413: "Too large, or too many.",
    415: "The body is of another type.",
    421: "Not by that name.",
    422: "The selector is refused: the error says where, and why.",
    501: "A library for it is not installed.",
    503: "Not now.",
}


def document(version: str) -> dict[str, Any]:
    """The description."""
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
    told: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.help,
        "description": f"For the role {endpoint.role}." if endpoint.role else "For everybody.",
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
        told["requestBody"] = {"required": True, "content": content}
    return told


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for status, schema in endpoint.answers.items():
        content = {endpoint.media: {"schema": schema} if schema is not None else {}}
        told[str(status)] = {"description": "Done.", "content": content}
    for status, help in _ERRORS.items():
        content = {"application/json": {"schema": ref("Error")}}
        told[str(status)] = {"description": help, "content": content}
    return told
