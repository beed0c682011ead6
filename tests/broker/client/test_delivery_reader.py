"""A subscriber is gone only if NATS says so."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from nats.js.errors import NotFoundError, ServiceUnavailableError

from tamis.broker.client.delivery_reader import Reader
from tamis.broker.protocol.names import Names


@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        (None, False),
        (NotFoundError(), True),
        (ServiceUnavailableError(), False),
        (TimeoutError(), False),
    ],
    ids=["exists", "deleted", "unavailable", "silent"],
)
def test_a_subscriber_is_gone_only_if_its_consumer_is_deleted(
    answer: Exception | None, gone: bool
) -> None:
    async def consumer_info(stream: str, consumer: str) -> None:
        assert (stream, consumer) == ("TAMIS_DELIVERIES", "ann")
        if answer is not None:
            raise answer

    jetstream = SimpleNamespace(consumer_info=consumer_info)
    connection: Any = SimpleNamespace(nats=SimpleNamespace(jetstream=lambda: jetstream))
    reader = Reader(connection, Names(), "ann", 1.0)
    assert asyncio.run(reader.is_subscriber_gone()) is gone
