"""An overlay on NATS: throughput and latency over links.

A line of three nodes, each a NATS server and a broker in their own processes, all on this machine:
so the figures show the cost of links, not the speed of three machines. Events are published at the
first node, for a subscriber at one of the three.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import tamis
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.follow import ReadStart, follow_stream, start_at_sequence
from tamis.broker.overlay.discovery import gather_overlay
from tamis.broker.overlay.picture import overlay_snapshot
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError
from tamis_lab.bench.broker import free_port, quantile
from tamis_lab.harness.measure import Experiments, Report, Row, spread

NODES = ("a", "b", "c")
_ROUTINGS = ("edge", "covering", "siena", "flooding")
_OTHERS = 1_000  # subscriptions at each node that match no event
_ROUNDS = 3
_SINGLE = 60


def nodes(events: int, report: Report) -> Iterator[Row]:
    """Three nodes on NATS: events per second and latency, over zero, one and two links."""
    for routing in _ROUTINGS:
        report(f"{routing} …")
        yield from asyncio.run(_measure(routing, events))


async def _measure(routing: str, events: int) -> list[Row]:
    rows: list[Row] = []
    async with _start_line(routing) as urls, AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(tamis.connect(url, f"s{n}", timeout=60))
            for n, url in enumerate(urls)
        ]
        for n, client in enumerate(clients):
            await client.subscribe(f"place = {n}")
            others = [(f"{n}-{i}", f"price < {i} AND size > {n}") for i in range(_OTHERS)]
            await client.subscribe_many(others)
        await _wait_until_synced(urls[0])
        subscribers = [_Subscriber(url) for url in urls]
        for each in subscribers:
            await stack.enter_async_context(each)
        rates: dict[int, list[float]] = {n: [] for n in range(len(urls))}
        for number in range(_ROUNDS + 1):  # in turns; the first round is a warm-up
            for n, subscriber in enumerate(subscribers):
                some = [{"place": n, "number": i} for i in range(events)]
                began = time.perf_counter()
                await clients[0].publish_many(some)
                await subscriber.wait_for(events)
                if number:
                    rates[n].append(events / (time.perf_counter() - began))
        for n, subscriber in enumerate(subscribers):
            times = []
            for i in range(_SINGLE):
                began = time.perf_counter()
                await clients[0].publish({"place": n, "number": i})
                await subscriber.wait_for(1)
                times.append(1000 * (time.perf_counter() - began))
            rows.append(
                {
                    "routing": routing,
                    "links": n,
                    "events": events,
                    **spread("events_per_s", rates[n]),
                    "latency_p50_ms": statistics.median(times),
                    "latency_p99_ms": quantile(times, 0.99),
                }
            )
    return rows


class _Subscriber:
    """Count the deliveries of a node."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._count = 0
        self._more = asyncio.Event()

    async def __aenter__(self) -> _Subscriber:
        self._connection = await open_connection(self._url)
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await self._connection.close()

    async def _read(self) -> None:
        stream = Names().delivery_stream
        async for news in follow_stream(self._connection, stream, lambda: start_at_sequence(1)):
            if not isinstance(news, ReadStart):
                self._count += len(news)
                self._more.set()

    async def wait_for(self, wanted: int) -> None:
        """Wait for `wanted` more deliveries."""
        async with asyncio.timeout(120):
            while self._count < wanted:
                self._more.clear()
                await self._more.wait()
        self._count -= wanted


@asynccontextmanager
async def _start_line(routing: str) -> AsyncIterator[list[str]]:
    """Start the nodes and yield their URLs; each links to the one before it."""
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        ports = [free_port() for _ in NODES]
        urls = [f"nats://127.0.0.1:{port}" for port in ports]
        try:
            for n, name in enumerate(NODES):
                command = [sys.executable, "-m", "tamis", "serve", "--name", name, "--quiet"]
                command += ["--data", str(Path(folder, name)), "--port", str(ports[n])]
                command += ["--routing", routing, *(["--link", urls[n - 1]] if n else [])]
                processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            await _wait_until_synced(urls[0])
            yield urls
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()


async def _wait_until_synced(url: str, seconds: float = 120.0) -> None:
    """Wait until all nodes are up and know all interests."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                connection = await open_connection(url)
                try:
                    shown = overlay_snapshot(await gather_overlay(connection, Names()))
                finally:
                    await connection.close()
                if shown.is_converged and len(shown.nodes) == len(NODES):
                    return
            except BrokerError:
                pass  # not up yet
            await asyncio.sleep(0.3)


EXPERIMENTS: Experiments = {"nodes": (nodes, 1_000, 5_000)}
