"""A request to the brokers, and its answer."""

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
    asked: dict[str, Any],
    timeout: float,
    selector: str = "",
) -> dict[str, Any]:
    """Ask whichever broker is free.

    Args:
        connection: To NATS.
        names: All names.
        subscriber: In whose name.
        verb: What for; docs/reference/protocol.md has all.
        asked: The request.
        timeout: How many seconds the answer may take.
        selector: What the request is about, for errors to show.

    Raises:
        SelectorError: A selector is refused.
        BrokerError: Something else is, or no broker answers.
    """
    subject = names.request(subscriber, verb)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    payload = encode_json(asked)
    while True:
        left = deadline - loop.time()
        try:
            if left <= 0:
                raise TimeoutError
            answer = await connection.nats.request(subject, payload, timeout=left)
        except NoRespondersError:
            await asyncio.sleep(0.1)  # one may be about to start
            continue
        except TimeoutError:
            raise BrokerError(
                f"no broker answers within {timeout:g} s; is `tamis serve` running?",
                "unreachable",
            ) from None
        except NatsError as error:
            raise BrokerError(f"cannot ask: {error}", "unreachable") from error
        told = decode_object(answer.data)
        raise_refusal(told, selector)
        return told


async def statuses(connection: Connection, names: Names, wait: float) -> list[dict[str, Any]]:
    """What all brokers of this node tell that answer within some seconds."""
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
