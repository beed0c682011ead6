"""Run many events and subscriptions through several broker processes, and collect deliveries."""

import asyncio
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field

from tamis_lab.workloads.selective import SelectiveWorkload

import tamis
from tamis.language import evaluate, parse
from tests.broker.conftest import Nats, Processes

SUBSCRIBERS = 8


@dataclass
class Got:
    """Of one subscriber: per event, in the order of arrival, ids and whether marked as repeated."""

    first: dict[int, list[str]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    repeated: int = 0
    unmarked: int = 0


@dataclass
class Outcome:
    """The result of a run."""

    deliveries: int = 0
    repeated: int = 0
    unmarked: int = 0
    kills: int = 0
    killed_nats: int = 0
    in_order: bool = True
    seconds: float = 0.0


@dataclass
class Work:
    """Events and subscriptions; subscription n belongs to subscriber n % SUBSCRIBERS."""

    events: int
    subscriptions: int

    def __post_init__(self) -> None:
        made = SelectiveWorkload(subscriptions=self.subscriptions, predicates=2, attributes=10)
        self.selectors = list(made.selectors())
        batch = made.events(self.events)
        self.rows = batch.rows()
        # Another engine than that of the brokers, and the oracle on a sample.
        oracle = tamis.Matcher(engine="counting")
        oracle.add_many(enumerate(self.selectors))
        self.found = [set(ids) for ids in oracle.match_batch(batch).per_event()]
        draw = random.Random(1)
        for _ in range(2_000):
            event, id = draw.randrange(self.events), draw.randrange(self.subscriptions)
            truth = evaluate(parse(self.selectors[id]), self.rows[event]) is True
            assert truth == (id in self.found[event])

    def expected(self, sequences: list[int]) -> list[dict[int, list[str]]]:
        """Per subscriber, by the number of the event, the ids."""
        wanted: list[dict[int, list[str]]] = [{} for _ in range(SUBSCRIBERS)]
        for sequence, ids in zip(sequences, self.found, strict=True):
            by: dict[int, list[str]] = defaultdict(list)
            for id in ids:
                by[id % SUBSCRIBERS].append(f"s{id}")  # type: ignore[operator]
            for subscriber, names in by.items():
                wanted[subscriber][sequence] = sorted(names)
        return wanted


async def delivered(
    nats: Nats,
    brokers: Processes,
    prefix: str,
    work: Work,
    count: int,
    kills: int = 0,
    seconds: float = 0.0,
) -> Outcome:
    """Publish over some seconds, kill at random moments, and compare the deliveries to the oracle.

    Every fourth kill is that of the NATS server, the others are of brokers.
    """
    began = time.monotonic()
    outcome = Outcome()
    options = {"prefix": prefix, "timeout": 60.0, "wait": 10.0}
    for _ in range(count):
        brokers.start()
    got = [Got() for _ in range(SUBSCRIBERS)]
    async with tamis.connect(nats.url, **options) as publisher:
        revision = 0
        for n in range(SUBSCRIBERS):
            async with tamis.connect(nats.url, f"sub{n}", **options) as client:
                mine = range(n, work.subscriptions, SUBSCRIBERS)
                rows = [(f"s{id}", work.selectors[id]) for id in mine]
                revision = (await client.subscribe_many(rows))[-1].revision
        await publisher.settled(revision, brokers=count, timeout=120)
        readers = [
            asyncio.create_task(_read(nats.url, f"sub{n}", options, got[n]))
            for n in range(SUBSCRIBERS)
        ]
        killing = asyncio.create_task(_kill(nats, brokers, kills, seconds, outcome))
        sequences: list[int] = []
        chunk = max(1, work.events // 50)
        for low in range(0, work.events, chunk):
            sequences += await publisher.publish_many(work.rows[low : low + chunk])
            await asyncio.sleep(seconds / 50)
        assert sequences == sorted(set(sequences)), "an event was stored twice, or out of order"
        await killing
        wanted = work.expected(sequences)
        before, deadline = 0, time.monotonic() + 60
        while any(len(a.first) < len(b) for a, b in zip(got, wanted, strict=True)):
            for reader in readers:
                if reader.done():
                    reader.result()
            now, here = time.monotonic(), sum(len(each.first) for each in got)
            if here > before:
                before, deadline = here, now + 60
            if now > deadline:  # no more deliveries are expected
                break
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)  # for deliveries that should not arrive
        for reader in readers:
            reader.cancel()
        await asyncio.wait(readers)
    for n, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
        lost = theirs.keys() - mine.first.keys()
        assert not lost, f"subscriber {n}: {len(lost)} lost of {len(theirs)}, {sorted(lost)[:5]}"
        assert mine.first == theirs
        outcome.deliveries += len(theirs)
        outcome.repeated += mine.repeated
        outcome.unmarked += mine.unmarked
        outcome.in_order &= mine.order == sorted(mine.order)
    outcome.seconds = time.monotonic() - began
    return outcome


async def _read(url: str, name: str, options: dict[str, object], got: Got) -> None:
    async with tamis.connect(url, name, **options) as client:  # type: ignore[arg-type]
        async for message in client.messages():
            if message.sequence in got.first:
                got.repeated += 1
                got.unmarked += not message.redelivered
            else:
                got.first[message.sequence] = sorted(message.subscriptions)
                got.order.append(message.sequence)
            await message.ack()


async def _kill(
    nats: Nats, brokers: Processes, kills: int, seconds: float, outcome: Outcome
) -> None:
    draw = random.Random(7)
    for n in range(kills):
        await asyncio.sleep(draw.uniform(0.2, 1.8) * seconds / max(1, kills))
        if n % 4 == 3:
            await asyncio.to_thread(nats.kill)
            await asyncio.sleep(draw.uniform(0, 0.5))
            await asyncio.to_thread(nats.start)
            outcome.killed_nats += 1
        else:
            await asyncio.to_thread(brokers.kill, draw.randrange(len(brokers.running)))
            brokers.start()
        outcome.kills += 1
