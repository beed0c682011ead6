"""What the connection mends of the client of NATS."""

import asyncio

from tamis.broker.fabric.connection import open_connection
from tests.broker.conftest import Nats, run


def test_it_reads_on_when_nobody_waits_for_an_answer_any_more(shared_nats: Nats) -> None:
    async def go() -> None:
        connection = await open_connection(shared_nats.url)
        try:
            for _ in range(20):
                waiting = asyncio.ensure_future(connection.nats.flush())
                await asyncio.sleep(0)  # it has asked, and there is no answer yet
                waiting.cancel()
                await connection.nats.flush()
            account = await connection.nats.jetstream().account_info()
            assert account.streams >= 0
            assert connection.nats._reading_task is not None
            assert not connection.nats._reading_task.done()
        finally:
            await connection.close()

    run(go())
