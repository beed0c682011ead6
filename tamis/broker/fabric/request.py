"""Send requests to the brokers."""

from __future__ import annotations

import asyncio
from typing import Any

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from tamis.broker.fabric.connection import Connection
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import decode_object, encode_json, raise_refusal
from tamis.errors import BrokerError


async def ask(
    connection: Connection,
    names: Names,
    subscriber: str,
    verb: str,
    body: dict[str, Any],
    timeout: float,
    selector: str = "",
) -> dict[str, Any]:
    """Send a request to any of the brokers, and return its answer.

    Args:
        connection: The connection to NATS.
        names: The names of the system.
        subscriber: The subscriber that makes the request.
        verb: The kind of request; docs/reference/protocol.md lists them.
        body: The body of the request.
        timeout: How many seconds a broker may take to answer.
        selector: The selector of the request, which errors show.

    Raises:
        SelectorError: The selector is refused.
        BrokerError: The request is refused for another reason, or no broker answers.
    """
    subject = names.request(subscriber, verb)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    payload = encode_json(body)
    while True:
        left = deadline - loop.time()
        try:
            if left <= 0:
                raise TimeoutError
            answer = await connection.nats.request(subject, payload, timeout=left)
        except NoRespondersError:
            await asyncio.sleep(0.1)  # a broker may be starting
            continue
        except TimeoutError:
            raise BrokerError(
                f"no broker answers within {timeout:g} s; is `tamis serve` running?",
                "unreachable",
            ) from None
        except NatsError as error:
            raise BrokerError(f"cannot send the request: {error}", "unreachable") from error
        result = decode_object(answer.data)
        raise_refusal(result, selector)
        return result


async def statuses(connection: Connection, names: Names, wait: float) -> list[dict[str, Any]]:
    """Return the status of every broker of this node that answers within `wait` seconds."""
    inbox = connection.nats.new_inbox()
    answers: list[dict[str, Any]] = []

    async def take(message: Msg) -> None:
        if message.data:
            answers.append(decode_object(message.data))

    subscription = await connection.nats.subscribe(inbox, cb=take)
    try:
        await connection.nats.publish(names.status, b"", reply=inbox)
        await asyncio.sleep(wait)
    finally:
        await subscription.unsubscribe()
    return answers
