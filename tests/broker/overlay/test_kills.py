"""Brokers, links and NATS servers are killed while events cross three nodes; all catch up."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.broker.conftest import run
from tests.broker.delivery_run import Work
from tests.broker.overlay_nodes import Served
from tests.broker.overlay_traffic import crossed, stored_twice
from tests.soak import count, only_in_soak, record

_CHAIN = (("a", "b"), ("b", "c"))
# Slow on purpose, so that a killed process has events in flight.
_OPTIONS = ("--ack-wait", "2", "--delivery-wait", "5", "--wait", "20", "--batch", "32", "--quiet")


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    nodes = Served(tmp_path, *_OPTIONS, *getattr(request, "param", ()))
    try:
        yield nodes
    finally:
        nodes.close()


async def _kill(
    served: Served,
    brokers: str,
    servers: str,
    pause: float,
    gates: Mapping[str, asyncio.Lock] | None = None,
    rounds: int = 1,
) -> int:
    """Kill brokers, and NATS servers, one after the other, for a while each."""
    gates = gates or {name: asyncio.Lock() for name in "abc"}
    kills = 0
    for _ in range(rounds):
        for name in brokers:
            await asyncio.to_thread(served.kill, name)
            await asyncio.sleep(pause)
            served.start(name)
            await asyncio.sleep(1)
            kills += 1
        for name in servers:
            async with gates[name]:
                await asyncio.to_thread(served.nats[name].kill)
                await asyncio.sleep(pause)
                await asyncio.to_thread(served.nats[name].start)
            await asyncio.sleep(1)
            kills += 1
    return kills


def test_killed_brokers_and_servers_catch_up(served: Served) -> None:
    work = Work(events=500, subscriptions=200)

    async def go() -> None:
        served.make(_CHAIN)
        outcome = await crossed(
            served.urls, work, seconds=4, meanwhile=lambda: _kill(served, "ba", "c", 0.3)
        )
        # No process was down for longer than the duplicate window.
        assert outcome.repeated == 0
        assert await stored_twice(served.urls) == []

    run(go(), 200)


@only_in_soak
@pytest.mark.parametrize(
    "served", [("--dedupe", "1", "--routing", each) for each in ("edge", "covering")], indirect=True
)
def test_nodes_killed_for_longer_than_the_duplicate_window_catch_up(served: Served) -> None:
    work = Work(events=count(1_000, 10_000), subscriptions=500)

    async def go() -> None:
        served.make(_CHAIN, brokers=2)
        kills = 0
        # A publisher whose server is down for longer than that may store an event twice.
        gates = {name: asyncio.Lock() for name in "abc"}

        async def meanwhile() -> None:
            nonlocal kills
            kills = await _kill(served, "bca", "cb", 3, gates, rounds=2)

        outcome = await crossed(served.urls, work, seconds=50, meanwhile=meanwhile, gates=gates)
        # No event crosses a link twice, whatever was killed for how long. A broker that was
        # killed may have made deliveries that another makes again; those say so.
        assert outcome.unmarked == 0
        assert await stored_twice(served.urls) == []
        record("overlay: kills longer than ids are known", kills=kills, **asdict(outcome))

    run(go(), 600)
