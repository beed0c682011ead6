"""Between two steps of a broker nothing is acknowledged early, and nothing is stored twice."""

import asyncio

import pytest

import tamis
from tamis.broker.config.settings import Settings
from tamis.broker.fabric import publish
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tests.broker.conftest import Nats, brokering, run


def test_events_are_acknowledged_after_their_deliveries(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix, ack_wait=2)) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            await ann.subscribe("n = 1")
            publisher = broker._publisher
            heard, held = publisher._take_ack, list[object]()

            async def hold(message: object) -> None:
                held.append(message)

            publisher._subscription._cb = hold  # replace the callback of the subscription
            await ann.publish_many([{"n": 1}, {"n": 2}])
            js = broker._connection.nats.jetstream()
            while not held:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            info = await js.consumer_info(broker.names.event_stream, broker.names.group)
            assert info.num_ack_pending == 2 and broker.figures.events == 0
            publisher._subscription._cb = heard
            for message in held:
                await heard(message)  # type: ignore[arg-type]
            while broker.figures.events < 2:
                await asyncio.sleep(0.01)
            await broker._connection.nats.flush()
            info = await js.consumer_info(broker.names.event_stream, broker.names.group)
            assert info.num_ack_pending == 0

    run(work())


def test_an_event_that_comes_again_is_delivered_once(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix, ack_wait=1)) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            await ann.subscribe("n = 1")
            say, lost = broker._nats_publish, []

            async def lose(subject: str, payload: bytes) -> None:
                if payload == b"+ACK" and len(lost) < 3:
                    lost.append(subject)
                else:
                    await say(subject, payload)

            broker._nats_publish = lose  # type: ignore[method-assign]
            await ann.publish_many([{"n": 1}] * 3)
            while broker.figures.events < 6:
                await asyncio.sleep(0.02)
            assert broker.figures.repeated == 3
            found = []
            async for message in ann.messages(timeout=0.3):
                found.append(message.sequence)
                await message.ack()
            assert found == [1, 2, 3]

    run(work())


def test_publishing_without_a_stream_times_out_with_the_reason(
    shared_nats: Nats, prefix: str
) -> None:
    async def work() -> None:
        async with tamis.connect(shared_nats.url, prefix=prefix, timeout=0.5) as client:
            with pytest.raises(tamis.errors.BrokerError, match="tamis serve") as caught:
                await client.publish({"n": 1})
            assert caught.value.code == "timeout"
            with pytest.raises(tamis.errors.BrokerError, match="JSON"):
                await client.publish({"n": object()})
            with pytest.raises(tamis.errors.BrokerError, match="fewer ids"):
                await client.publish_many([{"n": 1}], ids=[])

    run(work())


def test_refused_messages_are_retried_and_unanswered_ones_are_lost(
    shared_nats: Nats, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        connection = await open_connection(shared_nats.url)
        js = connection.nats.jetstream()
        async with Publisher(connection, repeats=False) as publisher:
            group = PublishGroup()
            await publisher.publish(group, f"{prefix}.x", b"1", {"Nats-Msg-Id": "one"})
            await asyncio.sleep(0.1)  # there is no stream to store it
            await js.add_stream(name=prefix, subjects=[f"{prefix}.*"])
            await asyncio.wait_for(group.wait_confirmed(), 10)
            assert group.sequences == [1] and not publisher.lost.is_set()
            stored = await js.get_msg(prefix, 1)
            assert "Tamis-Again" not in (stored.headers or {})  # it was not stored before
            # A subscriber receives it and does not answer.
            await js.delete_stream(prefix)
            await connection.nats.subscribe(f"{prefix}.x")
            monkeypatch.setattr(publish, "_SILENCE", 0.5)
            await publisher.publish(PublishGroup(), f"{prefix}.x", b"2", {"Nats-Msg-Id": "two"})
            await asyncio.wait_for(publisher.lost.wait(), 10)
        await connection.close()

    run(work())
