"""Gather the status of all reachable nodes: each node asks its neighbours in turn."""

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
    """Return the status of all nodes that are reachable without crossing a visited node.

    Args:
        connection: The connection to the NATS server of this node.
        names: The names of the system.
        table: The table of this node.
        data: The request: `{"visited": [names]}`.
    """
    visited = [*decode_object(data).get("visited", []), table.name]
    others = [each for each in sorted(table.records) if each not in visited]
    mine, waiting, *answers = await asyncio.gather(
        statuses(connection, names, _WAIT),
        queue_lengths(connection, names, list(table.records)),
        *(_ask_node(connection, names.overlay_relay(each), visited) for each in others),
    )
    result: dict[str, Any] = {
        "nodes": {table.name: {"brokers": mine, "waiting": waiting}},
        "silent": {},
    }
    for neighbour, answer in zip(others, answers, strict=True):
        if "error" in answer:
            result["silent"][neighbour] = answer["error"]
        else:
            result["nodes"] |= answer["nodes"]
            result["silent"] |= answer["silent"]
    return result


async def gather_overlay(connection: Connection, names: Names) -> dict[str, Any]:
    """Return the status of all nodes of the overlay, for a client of any of them.

    Raises:
        BrokerError: No node of an overlay answers.
    """
    answer = await _ask_node(connection, names.overlay, [], 2 * _TIMEOUT)
    if "error" in answer:
        raise BrokerError(
            "no node of an overlay answers; is `tamis serve --name NAME` running?", "unreachable"
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
    refused = answer.get("error")
    return answer if refused is None else {"error": refused.get("message", "refused")}
