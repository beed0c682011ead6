"""A broker end to end, and a floor: plain fan-out of the same messages, with known answers.

One process publishes in advance and receives, another is the broker, a third the NATS server. The
floor is a broker whose matcher does not look at events: it knows their recipients. Both pull,
publish, wait for confirmations and acknowledge with the same code, in turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import tamis
from tamis.broker.client.client import Client
from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import Connection, open_connection
from tamis.broker.fabric.follow import ReadStart, follow_stream, start_at_sequence
from tamis.broker.fabric.server import Server
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.protocol.event_messages import OutgoingMessage
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import (
    EVENT,
    MSG_ID,
    PRIORITY,
    REVISION,
    SUBSCRIPTIONS,
    TIME,
    place_of,
)
from tamis.broker.service.broker import Broker
from tamis.broker.service.matching import BatchMatcher, BatchOutput
from tamis.matcher import Matcher
from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.workloads.selective import SelectiveWorkload

SUBSCRIBERS = 100
_ROUNDS = 3
_SECONDS = 5.0
Answers = list[list[tuple[str, str]]]  # per event: subscribers and ids


class KnownAnswerMatcher(BatchMatcher):
    """A matcher that knows the answers: event number n is row n - 1, cyclically."""

    def __init__(self, answers: Answers, *parts: Any) -> None:
        """Take the answers, and what every matcher of a broker takes."""
        super().__init__(*parts)
        self._answers = answers

    def match(self, messages: list[Any]) -> BatchOutput:
        """Produce the messages that a broker would, without looking at the events."""
        deliveries = []
        for message in messages:
            place = place_of(message.reply)
            for subscriber, ids in self._answers[(place.sequence - 1) % len(self._answers)]:
                headers = {
                    MSG_ID: f"{place.sequence}.{subscriber}",
                    EVENT: str(place.sequence),
                    SUBSCRIPTIONS: ids,
                    PRIORITY: "0",
                    REVISION: "0",
                    TIME: str(place.time),
                }
                subject = self._names.deliveries_to(subscriber)
                deliveries.append(OutgoingMessage(subject, message.data, headers))
        return BatchOutput(deliveries, [], 0)


async def _run_process(kind: str, url: str, prefix: str, answers: str) -> None:
    """Run the process of a broker, or of the floor."""
    connection = await open_connection(url)
    make: Callable[..., BatchMatcher] = BatchMatcher
    if kind == "floor":
        make = partial(KnownAnswerMatcher, pickle.loads(Path(answers).read_bytes()))
    async with Broker(connection, Settings(prefix=prefix), batch_matcher=make) as broker:
        await broker.wait_for_failure()


def throughput(subscriptions: int, report: Report) -> Iterator[Row]:
    """Events per second with 10,000 subscriptions, latency at half that rate, and the floor."""
    events = 20_000 if subscriptions >= 10_000 else max(200, subscriptions)
    yield asyncio.run(_measure(subscriptions, events, report))


async def _measure(subscriptions: int, events: int, report: Report) -> Row:
    work = SelectiveWorkload(subscriptions=subscriptions, predicates=3)
    batch = work.events(events)
    payloads = [json.dumps(row).encode() for row in batch.rows()]
    selectors = list(work.selectors())
    answers = _answers(selectors, batch)
    per_event = sum(map(len, answers)) / events
    report(f"{subscriptions:,} subscriptions, {per_event:.1f} deliveries per event …")
    rates: dict[str, list[float]] = {"broker": [], "floor": []}
    latencies: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answers")
        file.write_bytes(pickle.dumps(answers))
        config = ServerConfig(store=Path(folder, "nats"), port=free_port())
        async with Server(config) as server:
            for number in range(_ROUNDS):
                for kind in rates:
                    prefix = f"{kind}{number}"
                    run = _Run(server.url, prefix, kind, str(file), selectors)
                    rates[kind].append(await run.sustained_rate(payloads, answers))
                    report(f"{kind}: {rates[kind][-1]:,.0f} events/s")
            half = statistics.median(rates["broker"]) / 2
            for kind in rates:
                run = _Run(server.url, f"half-{kind}", kind, str(file), selectors)
                latencies[kind] = await run.paced_latencies(payloads, answers, half)
                report(f"{kind} at {half:,.0f} events/s: {len(latencies[kind]):,} deliveries")
    middle = {kind: statistics.median(found) for kind, found in rates.items()}
    return {
        "subscriptions": subscriptions,
        "events": events,
        "deliveries_per_event": per_event,
        "events_per_s": middle["broker"],
        "floor_events_per_s": middle["floor"],
        "of_floor": middle["broker"] / middle["floor"],
        "slowest": min(rates["broker"]),
        "fastest": max(rates["broker"]),
        "load_events_per_s": half,
        **{
            f"{name}_{part}_ms": 1000 * quantile(latencies[kind], share)
            for kind, name in (("broker", "latency"), ("floor", "floor_latency"))
            for part, share in (("p50", 0.5), ("p99", 0.99))
        },
        "load": os.getloadavg()[0],
    }


class _Run:
    """One broker process, on its own streams."""

    def __init__(
        self, url: str, prefix: str, kind: str, answers: str, selectors: list[str]
    ) -> None:
        self._url = url
        self._prefix = prefix
        self._kind = kind
        self._file = answers
        self._selectors = selectors
        self._names = Names(prefix)

    async def sustained_rate(self, payloads: list[bytes], answers: Answers) -> float:
        """Return events per second over a backlog, from the first delivery to the last."""
        async with self._prepare_streams() as (client, connection):
            await client.publish_many(payloads)
            wanted = sum(map(len, answers))
            async with self._process():
                times = await self._receive(connection, wanted)
            return len(payloads) * (1 - times[0][1] / wanted) / (times[-1][0] - times[0][0])

    async def paced_latencies(
        self, payloads: list[bytes], answers: Answers, rate: float
    ) -> list[float]:
        """Return latencies in seconds, from storing an event to receiving a delivery."""
        payloads = payloads[: min(len(payloads), max(20, int(rate * _SECONDS)))]
        wanted = sum(map(len, answers[: len(payloads)]))
        async with self._prepare_streams() as (client, connection), self._process():
            await client.settled(0)
            latencies: list[float] = []
            receiving = asyncio.create_task(self._receive(connection, wanted, latencies.append))
            began = time.perf_counter()
            step = max(1, int(rate / 200))
            for low in range(0, len(payloads), step):
                await client.publish_many(payloads[low : low + step])
                late = began + (low + step) / rate - time.perf_counter()
                await asyncio.sleep(max(0.0, late))
            await receiving
        return latencies[len(latencies) // 10 :]  # the first tenth is a warm-up

    async def _receive(
        self,
        connection: Connection,
        wanted: int,
        latency: Callable[[float], None] | None = None,
    ) -> list[tuple[float, int]]:
        """Receive deliveries; return times, and how many had arrived by then."""
        count, times = 0, list[tuple[float, int]]()
        reading = follow_stream(
            connection, self._names.delivery_stream, lambda: start_at_sequence(1)
        )
        async for news in reading:
            if isinstance(news, ReadStart):
                continue
            count += len(news)
            times.append((time.perf_counter(), count))
            if latency is not None:
                now = time.time()
                for message in news:
                    latency(now - int(message.headers[TIME]) / 1e9)  # type: ignore[index]
            if count >= wanted:
                await reading.aclose()
                return times
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def _prepare_streams(self) -> AsyncIterator[tuple[Client, Connection]]:
        """Create streams and subscriptions, with a broker that stops afterwards."""
        connection = await open_connection(self._url)
        async with tamis.connect(self._url, prefix=self._prefix, timeout=60) as client:
            settings = Settings(prefix=self._prefix)
            async with Broker(connection, settings):
                rows = defaultdict[str, list[tuple[str, str]]](list)
                for n, selector in enumerate(self._selectors):
                    rows[f"s{n % SUBSCRIBERS}"].append((str(n), selector))
                for subscriber, some in rows.items():
                    subscribing = tamis.connect(
                        self._url, subscriber, prefix=self._prefix, timeout=60
                    )
                    async with subscribing as c:
                        await c.subscribe_many(some)
            yield client, connection
        await connection.close()

    @asynccontextmanager
    async def _process(self) -> AsyncIterator[None]:
        command = [sys.executable, "-m", __name__]
        process = subprocess.Popen([*command, self._kind, self._url, self._prefix, self._file])
        try:
            yield
        finally:
            process.kill()
            process.wait()


def _answers(selectors: list[str], batch: tamis.EventBatch) -> Answers:
    matcher = Matcher()
    matcher.add_many(enumerate(selectors))
    answers: Answers = []
    for ids in matcher.match_batch(batch).per_event():
        by: dict[str, list[str]] = {}
        for id in ids:
            by.setdefault(f"s{int(id) % SUBSCRIBERS}", []).append(f'"{id}"')
        answers.append([(name, f"[{','.join(some)}]") for name, some in by.items()])
    return answers


def quantile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        return int(there.getsockname()[1])


EXPERIMENTS: Experiments = {"throughput": (throughput, 10_000, 10_000)}


if __name__ == "__main__":
    asyncio.run(_run_process(*sys.argv[1:]))
