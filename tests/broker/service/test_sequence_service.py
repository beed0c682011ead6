"""One broker at a time matches sequences, and another takes over when it is killed."""

import asyncio
import os
import random
import signal
from collections.abc import Callable

import tamis
from tamis.broker.config.settings import Settings
from tests.broker.conftest import Nats, Processes, brokering, run

SELECTORS = {
    "pair": "FIRST a = 1 THEN b = 1 PER k",
    "soon": "FIRST a = 1 THEN a = 2 THEN b = 2 WITHIN 5 SECONDS",
    "again": "FIRST a = 3 THEN a = 3 WITHIN 8 SECONDS PER k",
}


def drawn(count: int, seed: int) -> list[dict[str, int]]:
    draw = random.Random(seed)
    return [
        {"a": draw.randrange(4), "b": draw.randrange(4), "k": draw.randrange(3), "at": n}
        for n in range(count)
    ]


async def received(client, count: int, seconds: float = 30) -> list:
    found = []
    async for message in client.messages(limit=count, timeout=seconds):
        found.append(message)
        await message.ack()
    return found


def test_sequences_are_delivered_beside_other_subscriptions(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with (
            brokering(shared_nats.url, Settings(prefix=prefix)) as broker,
            tamis.connect(shared_nats.url, "ann", prefix=prefix) as ann,
        ):
            # A sequence sees only the events after it was added.
            await ann.publish({"status": "down", "host": "a"})
            text = "FIRST status = 'down' THEN status = 'down' WITHIN 1 MINUTE PER host"
            await ann.subscribe(text, id="outage", priority=5)
            await ann.subscribe("status = 'down'", id="down")
            sent = await ann.publish_many(
                {"status": "down", "host": host} for host in ("a", "b", "a")
            )
            found = await received(ann, 4)
            by = {(m.sequence, *m.subscriptions): m for m in found}
            assert by.keys() == {
                *((sequence, "down") for sequence in sent),
                (sent[2], "outage"),
            }
            assert by[sent[2], "outage"].priority == 5
            assert broker.sequence_matcher.leads
            await ann.unsubscribe("outage")
            await ann.publish({"status": "down", "host": "a"})
            assert [m.subscriptions for m in await received(ann, 2, 0.5)] == [["down"]]

    run(work())


def test_another_broker_takes_over_the_sequences(
    own_nats: Nats, processes: Callable[..., Processes], prefix: str
) -> None:
    async def work() -> None:
        brokers = processes("--nats", own_nats.url, "--prefix", prefix, "--time", "at", "--quiet")
        oracle = tamis.Matcher(time="at")
        expected: dict[int, set[str]] = {}
        brokers.start()
        brokers.start()
        async with tamis.connect(own_nats.url, "ann", prefix=prefix, timeout=30) as ann:
            last = await ann.subscribe_many(list(SELECTORS.items())[:2])
            await ann.settled(last[-1].revision, brokers=2)
            oracle.add_many(list(SELECTORS.items())[:2])
            events = drawn(240, 3)
            for part in range(3):
                if part == 1:  # one more, while events come
                    await ann.subscribe(SELECTORS["again"], id="again")
                    oracle.add("again", SELECTORS["again"])
                if part == 2:
                    await until_judged(ann)
                    leader = next(one for one in await ann.brokers() if one["sequences"])
                    os.kill(int(leader["broker"].split("-")[-2]), signal.SIGKILL)
                some = events[part * 80 : part * 80 + 80]
                for sequence, event in zip(await ann.publish_many(some), some, strict=True):
                    if ids := set(oracle.match(event)):
                        expected[sequence] = ids
            found = await received(ann, len(expected))
            assert {m.sequence: set(m.subscriptions) for m in found} == expected
            assert await received(ann, 1, 1.0) == []  # nothing twice

    async def until_judged(ann) -> None:
        for _ in range(100):
            if any(one["sequences"] for one in await ann.brokers()):
                return
            await asyncio.sleep(0.1)

    run(work(), 90)
