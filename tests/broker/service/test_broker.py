"""Subscribe, publish, receive: what a broker promises, one thing at a time."""

import asyncio
import json

import pytest

import tamis
from tamis.broker.config.limits import Limits
from tamis.broker.config.settings import Settings
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import encode_json
from tamis.errors import BrokerError, SelectorSyntaxError, SelectorTypeError
from tests.broker.conftest import Nats, brokering, run


async def received(client, count: int, timeout: float = 5.0) -> list:
    found = []
    async for message in client.messages(limit=count, timeout=timeout):
        found.append(message)
        await message.ack()
    return found


def test_one_message_per_event_and_subscriber(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix)),
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
            tamis.connect(shared_nats.url, "bob", prefix=prefix) as bob,
        ):
            await ann.subscribe("price > 100", id="dear")
            await ann.subscribe("price > 10", id="not for nothing €", priority=2)
            last = await bob.subscribe("price > 10", id="dear", priority=1)
            sent = await ann.publish_many([{"price": 120}, '{"price":  20}', b'{"price": 1}'])
            first, second = await received(ann, 2)
            assert first.event == {"price": 120} and first.sequence == sent[0]
            assert first.subscriptions == ["not for nothing €", "dear"] and first.priority == 2
            assert first.revision == last.revision and not first.redelivered
            assert second.data == b'{"price":  20}' and second.sequence == sent[1]
            assert second.subscriptions == ["not for nothing €"]
            assert [m.sequence for m in await received(bob, 2)] == sent[:2]
            assert await received(ann, 1, timeout=0.3) == []

    run(work())


def test_changes_count_at_once(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix)),
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            for n in range(30):
                await ann.subscribe(f"n = {n}", id="the one")
                await ann.publish({"n": n - 1})
                expected = await ann.publish({"n": n})
                assert [m.sequence for m in await received(ann, 1)] == [expected]
            await ann.unsubscribe("the one")
            await ann.publish({"n": 29})
            assert await received(ann, 1, timeout=0.3) == []
            with pytest.raises(BrokerError, match="no subscription") as caught:
                await ann.unsubscribe("the one")
            assert caught.value.code == "unknown"
            rows = [(f"s{n:04}", f"n > {n}", n) for n in range(1500)]
            assert len(await ann.subscribe_many(rows)) == 1500
            listed = await ann.subscriptions()
            assert [(s["id"], s["selector"], s["priority"]) for s in listed] == rows

    run(work())


def test_bad_requests_are_refused_with_a_reason(shared_nats: Nats, prefix: str) -> None:
    settings = Settings(
        prefix=prefix,
        schema=tamis.Schema({"price": "DBL"}),
        limits=Limits(selector=100, subscriptions=2),
    )

    async def work() -> None:
        async with (
            brokering(shared_nats.url, settings) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            with pytest.raises(SelectorSyntaxError) as caught:
                await ann.subscribe("price >> 100")
            assert str(caught.value).endswith("  price >> 100\n         ^")
            with pytest.raises(SelectorTypeError, match="did you mean 'price'"):
                await ann.subscribe("prise > 100")
            for wrong in (
                {"selector": "price > 1", "id": ""},
                {"selector": "price > 1", "id": "x" * 201},
                {"selector": "price > 1", "priority": 1.5},
                {"selector": "price > 1", "ttl": 0.1},
                {"selector": "price > 1 AND " * 10 + "price > 1"},
            ):
                with pytest.raises(BrokerError):
                    await ann.subscribe(**wrong)
            await ann.subscribe("price > 1", id="a")
            await ann.subscribe("price > 2", id="b")
            await ann.subscribe("price > 3", id="b")
            with pytest.raises(BrokerError, match="at most 2 subscriptions") as limited:
                await ann.subscribe("price > 3", id="c")
            assert limited.value.code == "limit"
            # Over plain NATS: every request gets an answer, and the broker survives.
            nats, names = broker._connection.nats, Names(prefix)
            for verb, data in (
                ("put", b"\xff"),
                ("put", b"[1]"),
                ("put", b'{"selector": 5}'),
                ("put", b'{"selector": "price > 1", "odd": 1}'),
                ("put", b"{" * 100_000),
                ("put_many", b'{"subscriptions": 3}'),
                ("remove", b"{}"),
                ("remove", b'{"ids": [7]}'),
                ("list", b'{"after": 7}'),
                ("open", b'{"passing": "x"}'),
                ("nonsense", b"{}"),
            ):
                answer = await nats.request(names.request("ann", verb), data, timeout=5)
                told = json.loads(answer.data)["error"]
                assert told["code"] and told["message"], (verb, data)
            both = encode_json(
                {
                    "subscriptions": [
                        {"id": "b", "selector": "x"},
                        {"id": "a", "selector": "price < 1"},
                    ]
                }
            )
            answer = json.loads(
                (await nats.request(names.request("ann", "put_many"), both, timeout=5)).data
            )
            assert answer["results"][0]["error"]["kind"] == "type"
            assert answer["results"][1]["id"] == "a"
        with pytest.raises(BrokerError, match="letters, digits"):
            async with tamis.connect(shared_nats.url, "a.b", prefix=prefix):
                pass
        with pytest.raises(BrokerError, match="no broker answers"):
            async with tamis.connect(shared_nats.url, "ann", prefix=prefix, timeout=0.5) as ann:
                await ann.subscribe("price > 1")
        with pytest.raises(BrokerError, match="tamis serve"):
            async with tamis.connect("nats://127.0.0.1:9", wait=0.1):
                pass

    run(work())


def test_events_that_cannot_be_matched_become_dead_letters(shared_nats: Nats, prefix: str) -> None:
    settings = Settings(
        prefix=prefix,
        schema=tamis.Schema({"price": "INT"}, open=True),
        limits=Limits(event=10_000),
    )
    bad = {
        b"garbage": "not JSON",
        b"[1]": "not a JSON object",
        b'{"price": "x"}': "price",
        b'{"a": "' + b"x" * 10_000 + b'"}': "10,009 bytes",
        b'{"a":' * 1500 + b"1" + b"}" * 1500: "deep",
        b'{"a": "\\ud800"}': "surrogate",
    }

    async def work() -> None:
        async with (
            brokering(shared_nats.url, settings) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            await ann.subscribe("price IS NOT NULL OR TRUE")
            sent = await ann.publish_many([*bad, {"price": 1}])
            assert [m.sequence for m in await received(ann, 1)] == sent[-1:]
            while broker.figures.dead < len(bad):
                await asyncio.sleep(0.01)
            names = Names(prefix)
            js = broker._connection.nats.jetstream()
            dead = {}
            for n in range(1, len(bad) + 1):
                message = await js.get_msg(names.dead_stream, n)
                dead[int(message.headers["Tamis-Event"])] = message
            for sequence, (data, reason) in zip(sent, bad.items(), strict=False):
                assert dead[sequence].data == data
                assert reason in dead[sequence].headers["Tamis-Reason"]
            assert broker.figures.dead == len(bad)

    run(work())


def test_events_and_subscriptions_expire(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        settings = Settings(prefix=prefix)
        async with tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann:
            async with brokering(shared_nats.url, settings):
                await ann.subscribe("n > 0", id="stays")
                await ann.subscribe("n > 0", id="goes", ttl=1)
                await ann.publish({"n": 1}, ttl=1)
                await ann.publish({"n": 2})
                await asyncio.sleep(2.6)
                assert [s["id"] for s in await ann.subscriptions()] == ["stays"]
                await ann.publish({"n": 3})
            # No broker serves while this event expires.
            await ann.publish({"n": 4}, ttl=1)
            await ann.publish({"n": 5})
            await asyncio.sleep(1.5)
            async with brokering(shared_nats.url, settings):
                found = await received(ann, 3)
        assert [m.event["n"] for m in found] == [2, 3, 5]
        assert found[0].subscriptions == ["goes", "stays"]
        assert found[1].subscriptions == ["stays"]

    run(work())


def test_a_durable_subscriber_gets_what_it_missed(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        settings = Settings(prefix=prefix, delivery_wait=1)
        async with brokering(shared_nats.url, settings):
            async with tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann:
                await ann.subscribe("n >= 0")
                await ann.publish_many({"n": n} for n in range(10))
                assert [m.event["n"] for m in await received(ann, 3)] == [0, 1, 2]
                async for message in ann.messages(limit=1):  # and crashes: no ack
                    assert message.event == {"n": 3}
            async with tamis.connect(shared_nats.url, prefix=prefix) as other:
                await other.publish({"n": 10})
                await other.subscribe("n = 11")
                passing = other.subscriber
            async with tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann:
                found = await received(ann, 8)
                assert sorted(m.event["n"] for m in found) == [3, 4, 5, 6, 7, 8, 9, 10]
                again = {m.event["n"]: m.redelivered for m in found}
                assert again[3] and not again[10]
        async with brokering(shared_nats.url, settings) as broker:  # a restart reads the bucket
            assert (
                broker.registry.subscription_count("ann") == 1
                and broker.registry.subscription_count(passing) == 0
            )

    run(work())


def test_a_slow_subscriber_harms_nobody(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix, backlog=100)),
            tamis.connect(shared_nats.url, "slow", prefix=prefix) as slow,
            tamis.connect(shared_nats.url, "quick", prefix=prefix) as quick,
        ):
            await slow.subscribe("n >= 0")
            await quick.subscribe("n >= 0")
            for low in range(0, 500, 50):
                await quick.publish_many({"n": n} for n in range(low, low + 50))
                found = await received(quick, 50)
                assert [m.event["n"] for m in found] == list(range(low, low + 50))
            # The slow subscriber loses the deliveries beyond its limit, oldest first.
            found = await received(slow, 500, timeout=0.5)
            assert [m.event["n"] for m in found] == list(range(400, 500))

    run(work())


def test_ids_that_do_not_fit_are_counted(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix)) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            broker._matcher._max_payload = 4096
            await ann.subscribe_many((f"{n:0100}", "n > 0", n) for n in range(100))
            await ann.publish({"n": 1})
            (message,) = await received(ann, 1)
            assert 10 < len(message.subscriptions) < 100
            assert message.subscriptions[0] == f"{99:0100}"
            assert len(message.subscriptions) + message.left_out == 100

    run(work())


def test_the_synchronous_client_does_the_same(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with brokering(shared_nats.url, Settings(prefix=prefix)):
            await asyncio.to_thread(plain)

    def plain() -> None:
        with tamis.connect(shared_nats.url, "ann", prefix=prefix) as c:
            with pytest.raises(SelectorSyntaxError):
                c.subscribe("a =")
            subscribed = c.subscribe("a = 1", priority=3)
            assert c.subscribe_many([("x", "a = 2")])[0].id == "x"
            c.settled(subscribed.revision)
            assert c.publish_many([{"a": 1}, {"a": 3}]) == [1, 2]
            assert c.publish({"a": 1}, id="same") == c.publish({"a": 1}, id="same") == 3
            for message in c.messages(limit=1, timeout=5):
                assert message.event == {"a": 1} and message.priority == 3
                message.ack()
            for message in c.messages(limit=1, timeout=5):
                message.nak()
            (again,) = c.messages(limit=1, timeout=5)
            assert again.redelivered and again.sequence == 3
            again.working()
            again.ack()
            assert [s["id"] for s in c.subscriptions()] == sorted([subscribed.id, "x"])
            c.unsubscribe(subscribed)
            assert len(c.brokers()) == 1
            c.forget()
            assert c.subscriptions() == []

    run(work())
