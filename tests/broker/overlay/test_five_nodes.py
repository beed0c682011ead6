"""Five nodes, each with its NATS server: every subscriber gets exactly its events, once."""

from dataclasses import asdict
from pathlib import Path

import pytest

from tests.broker.conftest import run
from tests.broker.delivery_run import Work
from tests.broker.overlay_nodes import LINE, STAR, Served, nodes
from tests.broker.overlay_traffic import crossed, stored_twice, totals
from tests.soak import only_in_soak, record


@pytest.mark.parametrize(
    ("routing", "edges", "events", "subscriptions"),
    [("edge", LINE, 1_000, 500), ("covering", STAR, 400, 200)],
    ids=["edge-line", "covering-star"],
)
def test_every_event_is_delivered_exactly_once(
    routing: str,
    edges: tuple[tuple[str, str], ...],
    events: int,
    subscriptions: int,
    tmp_path: Path,
) -> None:
    work = Work(events=events, subscriptions=subscriptions)

    async def go() -> None:
        async with nodes(tmp_path, edges, routing) as overlay:
            outcome = await crossed({n: each.url for n, each in overlay.nats.items()}, work)
            assert outcome.repeated == 0 and outcome.deliveries >= work.events
            states = [await broker.node.refresh() for broker in overlay.brokers.values()]
            evaluated = sum(state["evaluations"] for state in states)
            if routing == "edge":
                assert evaluated == work.events

    run(go(), 200)


@only_in_soak
@pytest.mark.parametrize(
    ("routing", "shape", "events"),
    [
        ("edge", "line", 20_000),
        ("edge", "star", 20_000),
        ("covering", "line", 20_000),
        ("covering", "star", 20_000),
        ("siena", "line", 4_000),
        ("flooding", "star", 4_000),
    ],
)
def test_processes_deliver_every_event_exactly_once(
    routing: str, shape: str, events: int, tmp_path: Path
) -> None:
    work = Work(events=events, subscriptions=600)
    served = Served(tmp_path, "--routing", routing, "--quiet")

    async def go() -> None:
        served.make(LINE if shape == "line" else STAR)
        outcome = await crossed(served.urls, work)
        assert outcome.repeated == 0 and outcome.deliveries > work.events
        assert await stored_twice(served.urls) == []
        figures = await totals(served.urls)
        if routing == "edge":
            assert figures["evaluations"] == events
        record(f"overlay: five {shape}, {routing}", subscriptions=600, **asdict(outcome), **figures)

    try:
        run(go(), 900)
    finally:
        served.close()
