"""The JSON Schemas of requests and responses."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 200}
_PRIORITY: Schema = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
_TTL: Schema = {"type": "number", "minimum": 1, "maximum": 3_153_600_000}


def ref(name: str) -> Schema:
    """Return a reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def _closed_object(
    required: dict[str, Schema], optional: dict[str, Schema] | None = None
) -> Schema:
    return {**_object(required, optional), "additionalProperties": False}


def _list(of: Schema, most: int | None = None) -> Schema:
    return {"type": "array", "items": of} | ({} if most is None else {"maxItems": most})


_SELECTOR = {"selector": {"type": "string", "examples": ["price > 100"]}}
_MORE = {"priority": _PRIORITY, "ttl": {"anyOf": [_TTL, {"type": "null"}]}}

SCHEMAS: dict[str, Schema] = {
    "Event": {"type": "object", "examples": [{"price": 120}]},
    "Events": _list(ref("Event")),
    "Published": {
        "anyOf": [_object({"sequence": NUMBER}), _object({"sequences": _list(NUMBER)})],
    },
    "Put": _closed_object(_SELECTOR, {"id": _ID, **_MORE}),
    "PutMany": _closed_object({"subscriptions": _list(ref("Put"), 10_000)}),
    "Indexed": _object({"id": TEXT, "revision": NUMBER}),
    "IndexedMany": _object(
        {"results": _list({"anyOf": [ref("Indexed"), ref("Error")]})},
    ),
    "Subscription": _object(
        {"id": TEXT, "selector": TEXT, "priority": NUMBER, "revision": NUMBER},
        {"ttl": {"type": "number"}},
    ),
    "Page": _object({"subscriptions": _list(ref("Subscription")), "more": {"type": "boolean"}}),
    "Removed": _object({"removed": NUMBER}, {"revision": NUMBER}),
    "Renewed": _object({"renewed": NUMBER}),
    "Acks": _closed_object(
        {"ids": _list({"type": "string", "pattern": r"^[0-9]{1,18}-[0-9]{1,18}-[0-9]{1,9}$"})}
    ),
    "Acknowledged": _object({"acknowledged": NUMBER}),
    "Explain": _closed_object({"selector": TEXT, "event": ref("Event")}),
    "ExplainOwn": _closed_object({"id": _ID, "event": ref("Event")}),
    "Explanation": _object(
        {
            "id": TEXT,
            "selector": TEXT,
            "matches": {"type": "boolean"},
            "tree": {"type": "object"},
            "missing": _list({"type": "object"}),
            "possible": {"type": ["boolean", "null"]},
        }
    ),
    "Lint": _closed_object(
        {"subscriptions": _list(_closed_object(_SELECTOR, {"id": _ID, **_MORE}))}
    ),
    "Findings": _object(
        {
            "findings": _list(
                _object({"rule": TEXT, "level": TEXT, "ids": _list(TEXT), "message": TEXT})
            )
        }
    ),
    "Health": _object({"status": TEXT}),
    "Error": _object(
        {
            "error": _object(
                {"code": TEXT, "message": TEXT, "reason": TEXT},
                {
                    "kind": TEXT,
                    "hint": TEXT,
                    "line": NUMBER,
                    "column": NUMBER,
                    "start": NUMBER,
                    "end": NUMBER,
                },
            )
        }
    ),
}
