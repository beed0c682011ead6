"""Ranges of a stream hold every stored message once, whatever is lost in transit."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from nats.js import JetStreamContext

from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.stream_ranges import Ranges
from tamis.broker.fabric.streams import prepare
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError
from tests.broker.conftest import Nats, run


@asynccontextmanager
async def reading(
    nats: Nats, stream: str, subject: str | None = None, timeout: float = 20
) -> AsyncIterator[tuple[Ranges, JetStreamContext]]:
    connection = await open_connection(nats.url)
    try:
        async with Ranges(connection, stream, subject, timeout) as ranges:
            yield ranges, connection.nats.jetstream()
    finally:
        await connection.close()


async def all_of(ranges: Ranges, start: int, stop: int) -> list[tuple[int, bytes]]:
    return [(one.sequence, one.data) async for some in ranges.read(start, stop) for one in some]


async def filled(js: JetStreamContext, names: Names, draw: random.Random, **settings: float):
    """Fill a stream of deliveries with gaps; return its sequences, subscribers and data."""
    await prepare(js, names, Settings(prefix=names.prefix, **settings))
    there: dict[int, tuple[str, bytes]] = {}
    for n in range(400):
        who = draw.choice(["ann", "ann", "bob", "zoe"])
        data = b'{"n": %d}' % n
        there[(await js.publish(names.deliveries_to(who), data)).seq] = (who, data)
    for sequence in draw.sample(sorted(there), 60):
        await js.delete_msg(names.delivery_stream, sequence)
        del there[sequence]
    return there


def test_any_range_holds_what_is_stored(shared_nats: Nats, prefix: str) -> None:
    names, draw = Names(prefix), random.Random(7)

    async def work() -> None:
        async with reading(shared_nats, names.delivery_stream) as (ranges, js):
            there = await filled(js, names, draw)
            for who in (None, "ann", "zoe", "nobody"):
                subject = names.deliveries_to(who) if who else None
                async with reading(shared_nats, names.delivery_stream, subject) as (ranges, _):
                    mine = {s: d for s, (w, d) in there.items() if who in (None, w)}
                    cuts = [(draw.randrange(420), draw.randrange(420)) for _ in range(20)]
                    for start, stop in [(0, 401), (1, 2), (400, 401), (401, 500), *cuts]:
                        expected = [(s, d) for s, d in mine.items() if start <= s < stop]
                        assert await all_of(ranges, start, stop) == expected, (start, stop)
                        assert await ranges.count(start) == sum(s >= start for s in mine)

    run(work())


def test_a_range_of_so_many_rows_is_as_long_as_can_be(shared_nats: Nats, prefix: str) -> None:
    names, draw = Names(prefix), random.Random(8)

    async def work() -> None:
        subject = names.deliveries_to("zoe")
        async with reading(shared_nats, names.delivery_stream, subject) as (ranges, js):
            there = await filled(js, names, draw)
            mine = [sequence for sequence, (who, _) in there.items() if who == "zoe"]
            for _ in range(25):
                start, rows = draw.randrange(1, 401), draw.randrange(1, 120)
                stop = await ranges.stop_after(start, rows, 400)
                inside = [sequence for sequence in mine if start <= sequence < stop]
                after = [sequence for sequence in mine if sequence >= max(start, stop)]
                assert len(inside) == rows or (len(inside) < rows and not after)
                assert stop == 401 or stop == after[0]
        async with reading(shared_nats, names.delivery_stream) as (ranges, _):
            assert await ranges.stop_after(5, 10, 400) == 15
            assert await ranges.stop_after(395, 10, 400) == 401

    run(work())


def test_large_messages_come_in_several_answers(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with reading(shared_nats, names.event_stream) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix))
            for n in range(12):
                await js.publish(names.events, bytes([n]) * 900_000)
            answers = [some async for some in ranges.read(1, 13)]
            assert len(answers) > 1
            assert [one.data[0] for some in answers for one in some] == list(range(12))

    run(work())


def test_removed_messages_are_reported(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        subject = names.deliveries_to("ann")
        async with reading(shared_nats, names.delivery_stream, subject) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix, backlog=5))
            assert (await ranges.state()).last == 0 and await ranges.first_remaining(1) is None
            await js.publish(names.deliveries_to("bob"), b"{}")
            for _ in range(5):
                await js.publish(subject, b"{}")
            assert await ranges.first_remaining(2) is None
            await js.publish(subject, b"{}")  # drops the first of ann's, 2
            assert await ranges.first_remaining(2) == 3 and await ranges.first_remaining(3) is None
            await js.purge_stream(names.delivery_stream, seq=6)
            assert await ranges.first_remaining(3) == 6 and await ranges.first_remaining(6) is None
        async with reading(shared_nats, names.event_stream) as (ranges, js):
            for n in range(6):
                await js.publish(names.events, b"%d" % n)
            await js.delete_msg(names.event_stream, 3)  # a gap does not count
            assert await ranges.first_remaining(1) is None
            await js.purge_stream(names.event_stream, seq=5)
            assert await ranges.first_remaining(1) == 5 and (await ranges.state()).first == 5
            await js.purge_stream(names.event_stream)
            assert await ranges.first_remaining(6) == 7 and await all_of(ranges, 1, 7) == []

    run(work())


def test_the_first_message_since_a_time_is_found(shared_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with reading(shared_nats, names.event_stream) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix))
            before = time.time()
            await js.publish(names.events, b"1")
            await asyncio.sleep(0.05)
            between = time.time()
            await js.publish(names.events, b"2")
            when = datetime.fromtimestamp
            assert await ranges.first_since(when(before, UTC)) == 1
            assert await ranges.first_since(when(between, UTC)) == 2
            assert await ranges.first_since(when(time.time() + 9, UTC)) is None
            (some,) = [some async for some in ranges.read(1, 3)]
            assert before <= some[0].time / 1e6 <= between <= some[1].time / 1e6
            assert (await ranges.latest(names.events)).data == b"2"
            assert await ranges.latest(f"{names.events}.nobody") is None

    run(work())


def test_an_incomplete_answer_is_requested_again(
    shared_nats: Nats, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(prefix)
    monkeypatch.setattr("tamis.broker.fabric.stream_ranges._SILENCE", 0.2)

    async def work() -> None:
        async with reading(shared_nats, names.event_stream) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix))
            for n in range(10):
                await js.publish(names.events, b"%d" % n)
            take = ranges._subscription._cb
            arrived = lost = 0

            async def losing(message):
                nonlocal arrived
                arrived += 1
                if arrived != lost + 1:
                    await take(message)

            ranges._subscription._cb = losing
            for which in (0, 4, 9, 10):  # the first, a middle one, the last, and the end marker
                arrived, lost = 0, which
                found = await all_of(ranges, 1, 11)
                assert found == [(n + 1, b"%d" % n) for n in range(10)] and arrived > 11
            arrived = lost = 0  # and the only one
            assert await ranges.count(1) == 10

    run(work())


def test_a_lagging_replica_is_not_trusted(
    shared_nats: Nats, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with reading(shared_nats, names.event_stream) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix))
            for n in range(4):
                await js.publish(names.events, b"%d" % n)
            asked = ranges._request
            answers = [2, 0, 0, 9]  # how many messages the replica has, each time

            async def behind(request):
                return (await asked(request))[: answers.pop(0)]

            monkeypatch.setattr(ranges, "_request", behind)
            assert [data for _, data in await all_of(ranges, 1, 5)] == [b"0", b"1", b"2", b"3"]
            assert answers == []

    run(work())


def test_reading_goes_on_when_nats_is_back(own_nats: Nats, prefix: str) -> None:
    names = Names(prefix)

    async def work() -> None:
        async with reading(own_nats, names.event_stream) as (ranges, js):
            await prepare(js, names, Settings(prefix=prefix))
            for n in range(2500):
                await js._nc.publish(names.events, b"%d" % n)
            await js._nc.flush()
            found: list[bytes] = []
            async for some in ranges.read(1, 2501):
                found += [one.data for one in some]
                if len(found) == 1000:
                    own_nats.kill()
                    own_nats.start()
            assert found == [b"%d" % n for n in range(2500)]

    run(work())


def test_a_missing_stream_or_server_is_an_error(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with reading(shared_nats, "NOBODY_EVENTS", timeout=0.2) as (ranges, _):
            with pytest.raises(BrokerError, match="there is no stream NOBODY_EVENTS; is `tamis"):
                await ranges.state()
            with pytest.raises(BrokerError, match="there is no stream NOBODY_EVENTS"):
                await ranges.count(1)

    run(work())
