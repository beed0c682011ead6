"""Every subscriber gets exactly its events, even if brokers and servers are killed."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict

from tests.broker.conftest import Nats, Processes, run
from tests.broker.delivery_run import Work, delivered
from tests.soak import SOAK, count, only_in_soak, record

# Slow on purpose, so that a killed process has events in flight.
_OPTIONS = ("--ack-wait", "2", "--delivery-wait", "5", "--wait", "20", "--batch", "32", "--quiet")


def test_one_broker_delivers_in_order(
    own_nats: Nats, processes: Callable[..., Processes], prefix: str
) -> None:
    work = Work(events=count(2_000, 20_000), subscriptions=count(500, 5_000))
    brokers = processes("--nats", own_nats.url, "--prefix", prefix, "--quiet")

    async def go() -> None:
        outcome = await delivered(own_nats, brokers, prefix, work, 1)
        assert outcome.in_order and outcome.repeated == 0 and outcome.deliveries > work.events
        record("broker: one, in order", events=work.events, **asdict(outcome))

    run(go(), 300 if not SOAK else 3_000)


def test_three_brokers_deliver_exactly_once_despite_kills(
    own_nats: Nats, processes: Callable[..., Processes], prefix: str
) -> None:
    work = Work(events=2_000, subscriptions=500)
    brokers = processes("--nats", own_nats.url, "--prefix", prefix, *_OPTIONS)

    async def go() -> None:
        outcome = await delivered(own_nats, brokers, prefix, work, 3, kills=4, seconds=8)
        assert outcome.kills == 4 and outcome.killed_nats == 1
        # No subscriber crashed, and the client hides redeliveries of acknowledged messages.
        assert outcome.repeated == 0
        record("broker: three, a few kills", events=work.events, **asdict(outcome))

    run(go(), 200)


@only_in_soak
def test_three_brokers_deliver_exactly_once_despite_many_kills(
    own_nats: Nats, processes: Callable[..., Processes], prefix: str
) -> None:
    work = Work(events=100_000, subscriptions=10_000)
    brokers = processes("--nats", own_nats.url, "--prefix", prefix, *_OPTIONS)

    async def go() -> None:
        outcome = await delivered(own_nats, brokers, prefix, work, 3, kills=50, seconds=300)
        assert outcome.kills == 50 and outcome.repeated == 0
        record("broker: three, 50 kills", events=work.events, **asdict(outcome))

    asyncio.run(go())


@only_in_soak
def test_three_brokers_share_the_load(
    own_nats: Nats, processes: Callable[..., Processes], prefix: str
) -> None:
    work = Work(events=100_000, subscriptions=10_000)
    brokers = processes("--nats", own_nats.url, "--prefix", prefix, "--quiet")

    async def go() -> None:
        outcome = await delivered(own_nats, brokers, prefix, work, 3)
        assert outcome.repeated == 0
        record("broker: three", events=work.events, **asdict(outcome))

    asyncio.run(go())
