"""What all nodes that can be reached tell of themselves: each asks its neighbours in turn."""

from __future__ import annotations

import asyncio
from typing import Any

from nats.errors import Error as NatsError

from tamis.broker.fabric.backlog import queue_lengths
from tamis.broker.fabric.connection import Connection
from tamis.broker.fabric.request import statuses
from tamis.broker.overlay.node_table import OverlayTable
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import decode_object, encode_json
from tamis.errors import BrokerError

_WAIT = 0.3
_TIMEOUT = 8.0


async def gather_nodes(
    connection: Connection, names: Names, table: OverlayTable, data: bytes
) -> dict[str, Any]:
    """All nodes that can be reached from here, but not over those that were asked already.

    Args:
        connection: To the NATS of this node.
        names: All names.
        table: Of this node.
        data: The request: `{"visited": [names]}`.
    """
    visited = [*decode_object(data).get("visited", []), table.name]
    others = [each for each in sorted(table.records) if each not in visited]
    mine, waiting, *beyond = await asyncio.gather(
        statuses(connection, names, _WAIT),
        queue_lengths(connection, names, list(table.records)),
        *(_ask_node(connection, names.overlay_relay(each), visited) for each in others),
    )
    found: dict[str, Any] = {
        "nodes": {table.name: {"brokers": mine, "waiting": waiting}},
        "silent": {},
    }
    for neighbour, answer in zip(others, beyond, strict=True):
        if "error" in answer:
            found["silent"][neighbour] = answer["error"]
        else:
            found["nodes"] |= answer["nodes"]
            found["silent"] |= answer["silent"]
    return found


async def gather_overlay(connection: Connection, names: Names) -> dict[str, Any]:
    """The same, for whoever looks at the overlay from outside.

    Raises:
        BrokerError: There is no node.
    """
    answer = await _ask_node(connection, names.overlay, [], 2 * _TIMEOUT)
    if "error" in answer:
        raise BrokerError(
            "there is no node of an overlay: is `tamis serve --name NAME` running?", "unreachable"
        )
    return answer


async def _ask_node(
    connection: Connection, subject: str, visited: list[str], timeout: float = _TIMEOUT
) -> dict[str, Any]:
    try:
        reply = await connection.nats.request(
            subject, encode_json({"visited": visited}), timeout=timeout
        )
        answer = decode_object(reply.data)
    except (NatsError, OSError, TimeoutError, BrokerError) as error:
        return {"error": str(error) or type(error).__name__}
    told = answer.get("error")
    return answer if told is None else {"error": told.get("message", "refused")}
