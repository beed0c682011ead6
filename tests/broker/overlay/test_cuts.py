"""A link is cut for seconds, as if the cable had been pulled, and heals; nothing is lost."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

import tamis
from tests.broker.conftest import Nats, run
from tests.broker.delivery_run import Work
from tests.broker.netns import Cable, cable
from tests.broker.overlay_nodes import Served
from tests.broker.overlay_traffic import crossed, quiet, stored_twice
from tests.soak import SOAK, count, record


@pytest.fixture
def cut_nodes(tmp_path: Path) -> Iterator[tuple[Served, Cable]]:
    """Run three nodes in a line; `a` is behind the cable, and runs the link over it."""
    with cable() as laid:
        served = Served(tmp_path, "--dedupe", "1", "--ack-wait", "5", "--quiet")
        try:
            for name in "abc":
                (tmp_path / name).mkdir()
            c = Nats(tmp_path / "c")
            b = Nats(tmp_path / "b", host="0.0.0.0")
            a = Nats(tmp_path / "a", host="0.0.0.0", reached=laid.aside, inside=laid.inside)
            served.add("c", [], c)
            served.add("b", [c.url], b)
            near = f"nats://127.0.0.1:{a.port}"
            served.add("a", [f"nats://{laid.here}:{b.port}"], a, near, laid.inside)
            yield served, laid
        finally:
            served.close()


def test_a_cut_heals_without_loss(cut_nodes: tuple[Served, Cable]) -> None:
    served, laid = cut_nodes
    work = Work(events=count(400, 5_000), subscriptions=200)
    cuts = 3 if SOAK else 1

    async def pull() -> None:
        for _ in range(cuts):
            await asyncio.sleep(0.7)
            await asyncio.to_thread(laid.cut)
            # Longer than the duplicate window; in a soak also until the cut is noticed.
            await asyncio.sleep(8 if SOAK else 2)
            await asyncio.to_thread(laid.mend)
            await asyncio.sleep(1)

    async def go() -> None:
        await quiet(served.urls)
        async with (
            tamis.connect(served.urls["c"], "cy") as cy,
            tamis.connect(served.urls["a"], "al") as al,
        ):
            await cy.subscribe("word = 'old'", id="old")
            outcome = await crossed(
                served.urls, work, seconds=10 * cuts if SOAK else 3, meanwhile=pull
            )
            assert outcome.repeated == 0
            assert await stored_twice(served.urls) == []
            record("overlay: a link that is cut", cuts=cuts, **asdict(outcome))
            # Interests may change meanwhile.
            await asyncio.to_thread(laid.cut)
            await cy.unsubscribe("old")
            await cy.subscribe("word = 'new'", id="new")
            await al.subscribe("word = 'back'", id="back")
            await asyncio.sleep(1)
            await asyncio.to_thread(laid.mend)
            await quiet(served.urls)
            (before,) = await al.brokers()
            await al.publish_many([{"word": "old"}, {"word": "new"}])
            await cy.publish({"word": "back"})
            assert [m.event["word"] async for m in cy.messages(limit=1, timeout=20)] == ["new"]
            assert [m.event["word"] async for m in al.messages(limit=1, timeout=20)] == ["back"]
            (after,) = await al.brokers()
            sent = [each["overlay"]["links"]["b"]["events_out"] for each in (before, after)]
            assert sent[1] == sent[0] + 1  # "old" did not even leave

    run(go(), 300)
