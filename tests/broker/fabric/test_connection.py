"""The connection works around a bug of the NATS client."""

import asyncio

from tamis.broker.fabric.connection import open_connection
from tests.broker.conftest import Nats, run


def test_the_client_reads_on_after_a_late_pong(shared_nats: Nats) -> None:
    async def go() -> None:
        connection = await open_connection(shared_nats.url)
        try:
            for _ in range(20):
                waiting = asyncio.ensure_future(connection.nats.flush())
                await asyncio.sleep(0)  # the ping is sent, and there is no answer yet
                waiting.cancel()
                await connection.nats.flush()
            account = await connection.nats.jetstream().account_info()
            assert account.streams >= 0
            assert connection.nats._reading_task is not None
            assert not connection.nats._reading_task.done()
        finally:
            await connection.close()

    run(go())
