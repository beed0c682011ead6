"""Links: what they refuse, what they carry, and how they are removed."""

import asyncio
from pathlib import Path

import pytest

import tamis
from tamis.bloom.hashing import Shape
from tamis.broker.config.settings import Settings
from tamis.broker.overlay import advertiser
from tamis.broker.overlay.handshake import Handshake
from tamis.broker.overlay.overlay_records import Description
from tamis.broker.overlay.unlink import unlink
from tamis.broker.protocol.names import Names
from tamis.errors import BrokerError
from tests.broker.conftest import brokering, run
from tests.broker.overlay_nodes import Nodes, nodes


async def _fails(overlay: Nodes, name: str) -> BrokerError:
    with pytest.raises(BrokerError) as caught:
        await asyncio.wait_for(overlay.brokers[name].wait_for_failure(), 20)
    return caught.value


def test_a_link_that_would_close_a_loop_is_refused(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"), ("b", "c"))) as overlay:
            await overlay.stop("c")
            await overlay.start("c", "a")
            error = await _fails(overlay, "c")
            assert error.code == "loop"
            assert str(error) == ("linking c to a would close a loop: there is c - b - a already")
            await overlay.stop("c")
            await overlay.start("c", "c")
            assert "both nodes have the name 'c'" in str(await _fails(overlay, "c"))

    run(go(), 60)


def test_links_that_close_a_loop_together_are_opened_at_the_youngest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def trusting(self: Handshake, other: Description, asked: bool = False) -> None:
        self.description.check(other)

    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"), ("b", "c"))) as overlay:
            # As if both were created at the same moment, before the nodes know of the other link.
            monkeypatch.setattr(Handshake, "check", trusting)
            monkeypatch.setattr(advertiser, "_DOUBT", 0.4)
            await overlay.stop("c")
            await overlay.start("c", "a")
            error = await _fails(overlay, "c")
            assert error.code == "loop" and "would close a loop" in str(error)
            await overlay.stop("c")
            await overlay.start("c")
            await overlay.settled(links=2)
            async with overlay.client("c", "cy") as cy, overlay.client("a") as publisher:
                await cy.subscribe("n = 1")
                await overlay.settled(links=2)
                await publisher.publish({"n": 1})
                assert [m.origin async for m in cy.messages(limit=1, timeout=10)] == ["a.1"]

    run(go(), 90)


def test_nodes_that_differ_are_not_linked(tmp_path: Path) -> None:
    async def go() -> None:
        overlay = Nodes(tmp_path)
        try:
            await overlay.start("a")
            for more, expected in (
                ({"node": {"routing": "covering"}}, "differ in routing: covering here, edge there"),
                ({"node": {"shape": Shape(1024, 2)}}, "1,024 bits and 2 hash functions here"),
                ({"semantics": "strict"}, "give both the same --semantics"),
                ({"schema": tamis.Schema({"n": "INT"})}, "differ in schema: "),
            ):
                await overlay.start("b", "a", **more)
                error = await _fails(overlay, "b")
                assert error.code == "overlay" and expected in str(error), error
                await overlay.stop("b")
            # Neither node has kept state about the other.
            assert overlay.brokers["a"].node.table.records == {}  # type: ignore[union-attr]
            await overlay.start("b", "a")
            await overlay.settled(links=1)
            await overlay.stop("a")
            await overlay.start("a", "b")
            assert "give --link to one of the two only" in str(await _fails(overlay, "a"))
        finally:
            await overlay.close()

    run(go(), 90)


def test_all_brokers_of_a_server_are_one_node(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"),)) as overlay:
            with pytest.raises(BrokerError, match="is the node 'a'"):
                await overlay.start("a", node={"name": "x"})
            with pytest.raises(BrokerError, match="differ in routing"):
                await overlay.start("a", node={"routing": "siena"})
            with pytest.raises(tamis.errors.InputError, match="unknown routing strategy"):
                await overlay.start("b", node={"routing": "x"})
            url = overlay.nats["a"].url
            with pytest.raises(BrokerError, match="is a node with a link to b; give the --name"):
                async with brokering(url, Settings()):
                    pass
            # Without links a plain broker may start, but then the server cannot become a node.
            await unlink(overlay.brokers["a"].connection, Names(), "b")
            await overlay.stop("a")
            async with brokering(url, Settings()):
                with pytest.raises(BrokerError, match="a broker without --name"):
                    await overlay.start("a")

    run(go(), 60)


def test_an_event_on_a_link_carries_its_origin_hops_and_ttl(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"), ("b", "c"))) as overlay:
            async with overlay.client("c", "cy") as cy, overlay.client("a") as publisher:
                await cy.subscribe("n > 0", id="one")
                await cy.subscribe("FIRST n = 1 THEN n = 2", id="both")
                await overlay.settled()
                await publisher.publish({"n": 1}, ttl=60)
                await publisher.publish({"n": 2})
                found = [m async for m in cy.messages(limit=3, timeout=15)]
            told = sorted((m.origin, m.subscriptions) for m in found)
            assert told == [("a.1", ["one"]), ("a.2", ["both"]), ("a.2", ["one"])]
            assert all(m.published <= m.time for m in found) and not found[0].redelivered
            js = overlay.brokers["c"].connection.nats.jetstream()
            first = await js.get_msg("TAMIS_EVENTS", 1)
            assert first.subject == "tamis.events.link.b" and first.headers is not None
            assert first.headers["Tamis-Origin"] == first.headers["Nats-Msg-Id"] == "a.1"
            assert first.headers["Tamis-Hops"] == "2" and 50 <= int(first.headers["Nats-TTL"]) <= 60
            assert first.headers["Tamis-Link"].endswith(".1") and first.headers["Tamis-Filter"]

    run(go(), 60)


def test_a_schema_fills_in_what_is_missing_at_every_node(tmp_path: Path) -> None:
    schema = tamis.Schema({"n": ("INT", 7), "word": "STR"})

    async def go() -> None:
        edges = (("a", "b"), ("b", "c"))
        async with nodes(tmp_path, edges, schema=schema, semantics="default") as overlay:
            async with overlay.client("c", "cy") as cy, overlay.client("a") as publisher:
                await cy.subscribe("n = 7", id="seven")
                await overlay.settled()
                await publisher.publish_many([{"n": 1}, {"word": "x"}, {"n": "no number"}])
                found = [m async for m in cy.messages(limit=1, timeout=15)]
                assert [(m.origin, m.event) for m in found] == [("a.2", {"word": "x"})]
            # An event that cannot be matched is not forwarded.
            assert overlay.brokers["a"].figures.dead == 1
            assert overlay.brokers["b"].figures.events == 1

    run(go(), 60)


def test_an_event_that_comes_back_is_dropped(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"),)) as overlay:
            async with overlay.client("a", "al") as al:
                await al.subscribe("n = 1")
                js = overlay.brokers["a"].connection.nats.jetstream()
                headers = {"Tamis-Origin": "a.77", "Tamis-Hops": "3"}
                await js.publish("tamis.events.link.b", b'{"n": 1}', headers=headers)
                assert [m async for m in al.messages(timeout=0.5)] == []
            state = await overlay.brokers["a"].node.refresh()  # type: ignore[union-attr]
            assert state["looped"] == 1

    run(go(), 60)


def test_a_full_queue_holds_events_back_and_loses_none(tmp_path: Path) -> None:
    async def go() -> None:
        settings = {"ack_wait": 0.6, "tries": 2, "batch": 16}
        overlay = Nodes(tmp_path, **settings)
        try:
            overlay.serve("a", "b")
            await overlay.start("b")
            await overlay.start("a", "b", node={"queue": 10})
            await overlay.settled(links=1)
            async with overlay.client("b", "bo") as bo, overlay.client("a", "al") as al:
                await bo.subscribe("n >= 0")
                await overlay.settled(links=1)
                await asyncio.to_thread(overlay.nats["b"].kill)
                await al.publish_many([{"n": n} for n in range(200)])
                await al.subscribe("n = -1")  # the node still answers
                await asyncio.sleep(2)
                js = overlay.brokers["a"].connection.nats.jetstream()
                assert (await js.stream_info("TAMIS_LINK_b")).state.messages == 10
                assert overlay.brokers["a"].figures.events < 200
                await asyncio.to_thread(overlay.nats["b"].start)
                found = [m.event["n"] async for m in bo.messages(limit=200, timeout=20)]
                assert sorted(found) == list(range(200))
                while overlay.brokers["a"].figures.events < 200:
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.7)
                # Events that waited for room were not redelivered, and none became a dead letter.
                assert overlay.brokers["a"].figures.events == 200
                assert overlay.brokers["a"].figures.dead == 0
        finally:
            await overlay.close()

    run(go(), 90)


def test_another_broker_takes_the_link_over(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"),)) as overlay:
            first, stack = overlay.brokers["a"], overlay._stacks["a"]
            await overlay.start("a", "b")
            async with overlay.client("b", "bo") as bo, overlay.client("a") as publisher:
                await bo.subscribe("n >= 0")
                await overlay.settled()
                await publisher.publish_many([{"n": n} for n in range(100)])
                await stack.aclose()
                assert first.node is not None
                await publisher.publish_many([{"n": n} for n in range(100, 200)])
                found = [m.event["n"] async for m in bo.messages(limit=200, timeout=20)]
                assert sorted(found) == list(range(200))
                await bo.subscribe("n = -5", id="more")
                await overlay.settled()

    run(go(), 90)


def test_an_entry_that_vanished_without_a_marker_is_found_by_comparing(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"),)) as overlay:
            async with overlay.client("b", "bo") as bo:
                await bo.subscribe("n = 1", id="one")
                await bo.subscribe("n = 2", id="two")
                await overlay.settled()
                await overlay.stop("a")
                await bo.unsubscribe("one")
            broker = overlay.brokers["b"]
            assert broker.node is not None
            while (await broker.node.refresh())["links"]["a"]["told"][:2] != "1-":
                await asyncio.sleep(0.02)
            js = broker.connection.nats.jetstream()
            # Delete markers are kept for an hour, and the link was down for longer.
            state = (
                await js.stream_info("KV_tamis-routes", subjects_filter="$KV.*.out.a.want.*")
            ).state
            kept = {each.text for each in broker.node.table._desired["a"].values()}
            assert kept == {"n = 2"} and len(state.subjects or {}) == 2
            for subject in state.subjects or {}:
                last = await js.get_last_msg("KV_tamis-routes", subject)
                if not last.data:
                    await js.purge_stream("KV_tamis-routes", subject=subject)
            await overlay.start("a", "b")
            await overlay.settled()
            table = overlay.brokers["a"].node.table  # type: ignore[union-attr]
            assert [each.text for each in table._received["b"].values()] == ["n = 2"]

    run(go(), 60)


def test_unlink_removes_a_link_on_both_sides(tmp_path: Path) -> None:
    async def go() -> None:
        async with nodes(tmp_path, (("a", "b"), ("b", "c"))) as overlay:
            here = overlay.brokers["c"].connection
            with pytest.raises(BrokerError, match="no link to 'a'"):
                await unlink(here, Names(), "a")
            # From the side that does not run it; b removes it on both.
            await unlink(here, Names(), "b")

            async def left(name: str, other: str) -> list[str]:
                js = overlay.brokers[name].connection.nats.jetstream()
                keys = await js.stream_info("KV_tamis-routes", subjects_filter="$KV.*.*.>")
                sides = (f"$KV.tamis-routes.in.{other}.", f"$KV.tamis-routes.out.{other}.")
                return [each for each in keys.state.subjects or {} if each.startswith(sides)]

            # It returns when c has no link; b, which clears both, is then about to clear its own.
            async with asyncio.timeout(5):
                while await left("b", "c") or await left("c", "b"):
                    await asyncio.sleep(0.02)
                while overlay.brokers["a"].node.table.members.nodes != {"b"}:  # type: ignore[union-attr]
                    await asyncio.sleep(0.02)
            await overlay.settled(links=1)
            await asyncio.to_thread(overlay.nats["b"].kill)
            there = overlay.brokers["a"].connection
            with pytest.raises(BrokerError, match="--forget"):
                await unlink(there, Names(), "b", timeout=0.3)
            assert await unlink(there, Names(), "b", forget=True) == 0
            await asyncio.sleep(0.3)
            assert overlay.brokers["a"].node.table.records == {}  # type: ignore[union-attr]
            await asyncio.to_thread(overlay.nats["b"].start)
            while not overlay.brokers["b"].connection.nats.is_connected:
                await asyncio.sleep(0.05)
            await asyncio.sleep(2.1)
            # It was started with this link, which was then removed.
            assert overlay.brokers["a"].node.table.records == {}  # type: ignore[union-attr]

    run(go(), 90)
