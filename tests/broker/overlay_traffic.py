"""Many events, published at all nodes of an overlay, and what subscribers at all nodes got."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

import tamis
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.follow import ReadStart, follow_stream, start_at_sequence
from tamis.broker.protocol.names import Names
from tests.broker.delivery_run import Work
from tests.broker.overlay_nodes import out_of_step

PER_NODE = 2  # subscribers


@dataclass
class Got:
    """The deliveries of one subscriber: ids by origin."""

    first: dict[str, list[str]] = field(default_factory=dict)
    repeated: int = 0
    unmarked: int = 0
    open: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Outcome:
    """The result of a run."""

    events: int = 0
    deliveries: int = 0
    repeated: int = 0
    unmarked: int = 0
    seconds: float = 0.0


async def quiet(urls: Mapping[str, str], seconds: float = 60, prefix: str = "tamis") -> None:
    """Wait until all interests are advertised and received, at all brokers of all nodes."""
    async with AsyncExitStack() as stack:
        clients = {
            name: await stack.enter_async_context(tamis.connect(url, prefix=prefix, timeout=30))
            for name, url in urls.items()
        }
        deadline = time.monotonic() + seconds
        while True:
            answers = await asyncio.gather(*(each.brokers(0.2) for each in clients.values()))
            found = dict(zip(clients, answers, strict=True))
            why: str | None = "a node does not answer"
            if all(found.values()):
                # The leader writes; all brokers of a node receive the same.
                states = {name: each[0]["overlay"] for name, each in found.items()}
                why = out_of_step(states)
            if why is None:
                return
            assert time.monotonic() < deadline, why
            await asyncio.sleep(0.1)


async def crossed(
    urls: Mapping[str, str],
    work: Work,
    *,
    seconds: float = 0.0,
    meanwhile: Callable[[], Awaitable[object]] | None = None,
    gates: Mapping[str, asyncio.Lock] | None = None,
    patience: float = 60.0,
) -> Outcome:
    """Subscribe and publish at all nodes, and check that every subscriber gets exactly its events.

    Args:
        urls: By node, its NATS server.
        work: The events and subscriptions.
        seconds: How long publishing is to take at least.
        meanwhile: What happens while events are published.
        gates: By node, a lock, held to publish there or to kill its server.
        patience: How long to wait when nothing comes any more.
    """
    began = time.monotonic()
    names = sorted(urls)
    readers_of = [f"{name}{n}" for name in names for n in range(PER_NODE)]
    got = {reader: Got() for reader in readers_of}
    async with AsyncExitStack() as stack:
        publishers = {
            name: await stack.enter_async_context(tamis.connect(url, timeout=120))
            for name, url in urls.items()
        }
        for i, reader in enumerate(readers_of):
            mine = [
                (f"s{n}", selector)
                for n, selector in enumerate(work.selectors)
                if n % len(readers_of) == i
            ]
            async with tamis.connect(urls[reader[:-1]], reader, timeout=60) as client:
                await client.subscribe_many(mine)
        await quiet(urls)
        readers = [
            asyncio.create_task(_read(urls[reader[:-1]], reader, got[reader]))
            for reader in readers_of
        ]
        await asyncio.gather(*(each.open.wait() for each in got.values()))
        other = asyncio.create_task(meanwhile()) if meanwhile else None
        origins = [""] * len(work.rows)
        chunk = max(1, work.events // 50)
        for low in range(0, work.events, chunk):
            some = list(range(low, min(low + chunk, work.events)))

            async def publish(name: str, mine: list[int]) -> None:
                async with gates[name] if gates else nullcontext():
                    found = await publishers[name].publish_many([work.rows[i] for i in mine])
                for i, sequence in zip(mine, found, strict=True):
                    origins[i] = f"{name}.{sequence}"

            await asyncio.gather(
                *(publish(name, some[n :: len(names)]) for n, name in enumerate(names))
            )
            await asyncio.sleep(seconds / 50)
        if other is not None:
            await other
        wanted = _expected(work, origins, readers_of)
        await _arrived(got, wanted, readers, patience)
        for reader_task in readers:
            reader_task.cancel()
        await asyncio.wait(readers)
    outcome = Outcome(events=work.events)
    for reader in readers_of:
        mine_, theirs = got[reader], wanted[reader]
        lost = theirs.keys() - mine_.first.keys()
        assert not lost, f"{reader}: {len(lost)} lost of {len(theirs)}, {sorted(lost)[:5]}"
        assert mine_.first == theirs, reader
        outcome.deliveries += len(theirs)
        outcome.repeated += mine_.repeated
        outcome.unmarked += mine_.unmarked
    outcome.seconds = round(time.monotonic() - began, 2)
    return outcome


def _expected(work: Work, origins: list[str], readers: list[str]) -> dict[str, Any]:
    wanted: dict[str, dict[str, list[str]]] = {reader: {} for reader in readers}
    for origin, ids in zip(origins, work.found, strict=True):
        by: dict[str, list[str]] = defaultdict(list)
        for id in ids:
            by[readers[id % len(readers)]].append(f"s{id}")  # type: ignore[operator]
        for reader, found in by.items():
            wanted[reader][origin] = sorted(found)
    return wanted


async def _arrived(
    got: dict[str, Got],
    wanted: dict[str, Any],
    readers: list[asyncio.Task[None]],
    patience: float,
) -> None:
    before, deadline = 0, time.monotonic() + patience
    while any(len(got[name].first) < len(wanted[name]) for name in wanted):
        for reader in readers:
            if reader.done():
                reader.result()
        now, here = time.monotonic(), sum(len(each.first) for each in got.values())
        if here > before:
            before, deadline = here, now + patience
        if now > deadline:  # no more deliveries are expected
            break
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)  # for deliveries that should not arrive


async def _read(url: str, name: str, got: Got) -> None:
    async with tamis.connect(url, name, timeout=60) as client:
        client._pull = await client._open_pull()
        got.open.set()
        async for message in client.messages():
            if message.origin in got.first:
                got.repeated += 1
                got.unmarked += not message.redelivered
            else:
                got.first[message.origin] = sorted(message.subscriptions)
            await message.ack()


async def stored_twice(urls: Mapping[str, str], prefix: str = "tamis") -> list[str]:
    """Return the events that a node has stored more than once."""
    twice = []
    for name, url in urls.items():
        connection = await open_connection(url)
        try:
            seen = set()
            names = Names(prefix)
            start = start_at_sequence(1)
            start.filter_subject, start.headers_only = f"{names.events}.link.*", True
            async for news in follow_stream(connection, names.event_stream, lambda s=start: s):  # type: ignore[misc]
                if isinstance(news, ReadStart):
                    left = news.pending
                else:
                    left -= len(news)
                    for message in news:
                        origin = message.headers["Tamis-Origin"]  # type: ignore[index]
                        if origin in seen:
                            twice.append(f"{origin} at {name}")
                        seen.add(origin)
                if left <= 0:
                    break
        finally:
            await connection.close()
    return twice


async def totals(urls: Mapping[str, str]) -> dict[str, int]:
    """Return the counters summed over all brokers of all nodes."""
    summed: dict[str, int] = defaultdict(int)
    for url in urls.values():
        async with tamis.connect(url) as client:
            while not (statuses := await client.brokers(1)):  # repeat until a broker answers
                pass
            for status in statuses:
                overlay = status["overlay"]
                for name in ("evaluations", "checks", "false_positives", "looped"):
                    summed[name] += overlay[name]
                for link in overlay["links"].values():
                    for name in ("events_out", "bytes_out", "filter_bytes_out", "interests_told"):
                        summed[name] += link[name]
    return dict(summed)
