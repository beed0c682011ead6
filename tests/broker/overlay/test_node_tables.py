"""Nodes exchange the same interests over NATS as the model in memory, with the same counters."""

import asyncio
from pathlib import Path

import pytest
from tamis_lab.simulation.network import Network, Passage

from tamis.bloom.hashing import Shape
from tamis.broker.fabric.backlog import backlog
from tamis.broker.overlay.unlink import unlink
from tamis.broker.protocol.names import Names
from tamis.broker.service.latency import Histogram
from tamis.routing.strategies import router
from tests.broker.conftest import run
from tests.broker.overlay_nodes import Nodes, nodes
from tests.soak import only_in_soak

_EDGES = (("a", "b"), ("b", "c"), ("b", "d"))
_SELECTORS = {
    "a": ["price > 10", "price > 20 AND city = 'Lyon'", "size < 5"],
    "b": ["price > 15", "FIRST size = 1 THEN size = 2 WITHIN 1 HOUR"],
    "c": ["price > 5", "size < 3", "city LIKE 'P%'"],
    "d": ["price > 10", "city IN ('Lyon', 'Paris')", "NOT (size > 2)"],
}
_TINY = Shape(16, 1)  # so that there are false positives


def _model(routing: str, shape: Shape) -> Network:
    network = Network(lambda: router(routing, shape))
    for name in "abcd":
        network.add(name)
    for edge in _EDGES:
        network.link(*edge)
    return network


def _same_tables(overlay: Nodes, network: Network) -> None:
    for name, broker in overlay.brokers.items():
        assert broker.node is not None
        table = broker.node.table
        for neighbour in table.links:
            advertised = set(network.router(name).advertised_interests(neighbour))
            assert set(table._out.get(neighbour, {}).values()) == advertised, (name, neighbour)
            wanted = set(network.router(neighbour).advertised_interests(name))
            received = table._received.get(neighbour, {}).values()
            assert {interest.text for interest in received} == wanted, (name, neighbour)
        assert set(table.links) == network.router(name).neighbours


@pytest.mark.parametrize("routing", ["edge", "covering", pytest.param("siena", marks=only_in_soak)])
def test_tables_and_counters_equal_those_of_the_model(routing: str, tmp_path: Path) -> None:
    network = _model(routing, _TINY)

    async def go() -> None:
        overlay = Nodes(tmp_path, routing)
        try:
            overlay.serve(*"abcd")
            for name in "dcba":
                links = [other for one, other in _EDGES if one == name]
                await overlay.start(name, *links, node={"shape": _TINY})
            for name, selectors in _SELECTORS.items():
                async with overlay.client(name, name) as client:
                    for i, selector in enumerate(selectors):
                        await client.subscribe(selector, id=f"s{i}")
                        network.subscribe(name, f"s{i}", selector)
            network.settle()
            await overlay.settled()
            _same_tables(overlay, network)
            await _same_figures(overlay, network)
            # Interests that were covered appear again.
            for name, i in (("c", 0), ("a", 0), ("d", 0)):
                async with overlay.client(name, name) as client:
                    await client.unsubscribe(f"s{i}")
                network.unsubscribe(name, f"s{i}")
            network.settle()
            await overlay.settled()
            _same_tables(overlay, network)
            broker = overlay.brokers["b"]
            await unlink(broker.connection, Names(), "d")
            network.unlink("b", "d")
            network.settle()
            await overlay.settled(links=2)
            _same_tables(overlay, network)
        finally:
            await overlay.close()

    run(go(), 120)


async def _same_figures(overlay: Nodes, network: Network) -> None:
    cities = ("Lyon", "Paris", "Rome")
    events = [{"price": 3 * n - 40, "size": n % 7, "city": cities[n % 3]} for n in range(24)]
    passages = [network.publish("abcd"[n % 4], event) for n, event in enumerate(events)]
    network.settle()
    for name in "abcd":
        mine = [event for n, event in enumerate(events) if "abcd"[n % 4] == name]
        async with overlay.client(name) as client:
            await client.publish_many(mine)
    crossed = sum(len(passage.crossed) for passage in passages)
    for _ in range(400):
        states = [await broker.node.refresh() for broker in overlay.brokers.values()]  # type: ignore[union-attr]
        arrived = sum(link["events_in"] for state in states for link in state["links"].values())
        events_matched = sum(broker.figures.events for broker in overlay.brokers.values())
        if arrived == crossed and events_matched == len(events) + crossed:
            break
        await asyncio.sleep(0.05)
    assert arrived == crossed
    sent = sum(link["events_out"] for state in states for link in state["links"].values())
    assert sent == crossed
    checks = sum(len(passage.checked) for passage in passages)
    assert sum(state["checks"] for state in states) == checks
    assert sum(state["evaluations"] for state in states) == sum(
        passage.evaluations for passage in passages
    )
    wasted = sum(_in_vain(passage) for passage in passages)
    assert sum(state["false_positives"] for state in states) == wasted
    if network.router("a").strategy == "edge":
        assert sum(state["evaluations"] for state in states) == len(events)
        assert wasted > 0  # the filters are tiny


def _in_vain(passage: Passage) -> int:
    """Return at how many nodes the event arrived and was neither delivered nor forwarded."""
    onward = {source for source, _ in passage.crossed}
    return sum(node not in passage.delivered and node not in onward for _, node in passage.crossed)


def test_flooding_advertises_nothing(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"),), "flooding") as overlay:
            async with overlay.client("b", "bo") as bo, overlay.client("a") as publisher:
                await bo.subscribe("n = 2", id="two")
                await overlay.settled()
                await publisher.publish_many([{"n": 1}, {"n": 2}])
                found = [message async for message in bo.messages(limit=1, timeout=10)]
            assert [message.origin for message in found] == ["a.2"]
            state = await overlay.brokers["b"].node.refresh()  # type: ignore[union-attr]
            assert state["links"]["a"]["events_in"] == 2 and state["false_positives"] == 1
            assert state["links"]["a"]["interests_told"] == 0
            metrics = pytest.importorskip("tamis.gateway.metrics")
            status = overlay.brokers["b"].status()
            here = overlay.brokers["b"].connection
            waiting = await backlog(here, Names(), ["a", "nobody"])
            assert waiting.links == {"a": 0}
            text = metrics.metrics_text(status, Histogram(), waiting, 0, {})
            assert 'tamis_link_events_total{neighbour="a",direction="in"} 2' in text
            assert "tamis_overlay_false_positives_total 1" in text
            assert 'tamis_link_waiting{neighbour="a"} 0' in text

    run(go(), 60)
