"""Five nodes, each with its NATS server: every subscriber gets exactly its events, once."""

from pathlib import Path

import pytest

from tests.broker.conftest import run
from tests.broker.crossing import crossed
from tests.broker.delivering import Work
from tests.broker.overlaying import LINE, STAR, nodes
from tests.soak import count


@pytest.mark.parametrize(
    ("routing", "edges"), [("edge", LINE), ("covering", STAR)], ids=["edge-line", "covering-star"]
)
def test_exact_delivery(routing: str, edges: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    work = Work(events=count(2_000, 4_000), subscriptions=500)

    async def go() -> None:
        async with nodes(tmp_path, edges, routing) as overlay:
            outcome = await crossed({n: each.url for n, each in overlay.nats.items()}, work)
            assert outcome.repeated == 0 and outcome.deliveries > work.events
            states = [await broker.node.refresh() for broker in overlay.brokers.values()]
            evaluated = sum(state["evaluations"] for state in states)
            if routing == "edge":
                assert evaluated == work.events

    run(go(), 200)
