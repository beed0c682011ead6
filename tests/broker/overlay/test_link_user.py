"""A link between nodes with authentication, run by a user that may do that and nothing else."""

import asyncio
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.errors import Error as NatsError

import tamis
from tamis.broker.client.connect import ClientContext
from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.server import Server
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.overlay.discovery import gather_overlay
from tamis.broker.overlay.picture import overlay_snapshot
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import encode_json
from tamis.broker.security.guard import Guard, UsersFile
from tamis.broker.security.tls import tls_context
from tamis.broker.security.users import Users, checked_user, read_users, with_new_token, write_users
from tamis.broker.service.broker import Broker
from tamis.errors import BrokerError
from tests.broker.certificates import certified
from tests.broker.conftest import run
from tests.broker.overlay_nodes import out_of_step
from tests.broker.ports import free_port
from tests.soak import only_in_soak

_ROLES = {"shop": ["publish"], "ann": ["subscribe"], "ops": ["admin"]}


class Guarded(AsyncExitStack):
    """Nodes with users, each with a broker or none."""

    def __init__(self, folder: Path, encrypted: bool = False) -> None:
        super().__init__()
        self._folder = folder
        self._certificate: dict[str, str] = {}
        self.trusted: dict[str, ssl.SSLContext] = {}
        if encrypted:
            made = certified(folder)
            self._certificate = {"certificate": made.certificate, "key": made.key}
            self.trusted = {"tls": tls_context(made.authority)}
        self._servers: dict[str, Server] = {}
        self._guards: dict[str, Guard] = {}
        self._stacks: dict[str, AsyncExitStack] = {}
        self.tokens: dict[tuple[str, str], str] = {}
        self.brokers: dict[str, Broker] = {}

    async def serve(self, *nodes: str, links: Iterable[str] = ()) -> None:
        """Start servers; on each of them these nodes have a user with the role `link`."""
        for node in nodes:
            file = self._folder / f"{node}.json"
            write_users(file, Users())
            for name, roles in (_ROLES | {each: ["link"] for each in links}).items():
                self._add(node, name, roles)
            store = self._folder / node
            guard = Guard(store=store, names=Names(), file=UsersFile(file), **self._certificate)
            config = ServerConfig(store=store, port=free_port(), sections=guard.sections())
            self._servers[node] = await self.enter_async_context(Server(config))
            self._guards[node] = guard

    async def add(self, node: str, name: str, roles: list[str]) -> None:
        """Add a user, while the server runs."""
        self._add(node, name, roles)
        assert self._guards[node].file.refresh()  # type: ignore[union-attr]
        await self._servers[node].reload(self._guards[node].sections())

    def _add(self, node: str, name: str, roles: list[str]) -> None:
        file = self._folder / f"{node}.json"
        user, self.tokens[node, name] = with_new_token(checked_user(name, roles))
        write_users(file, Users({**read_users(file).by_name, name: user}))

    def url(self, node: str, user: str = "", token: str = "") -> str:
        """Return the address of a server for a link."""
        url = self._servers[node].url
        if not user:
            return url
        return url.replace("127.0.0.1", f"{user}:{token or self.tokens[node, user]}@127.0.0.1")

    async def start(self, node: str, *links: str, **more: Any) -> Broker:
        """Start a broker."""
        stack = self._stacks[node] = AsyncExitStack()
        self.push_async_exit(stack)
        connection = await open_connection(self.url(node), **self._guards[node].options())
        stack.push_async_callback(connection.close)
        settings = Settings(node=NodeSettings(name=node, links=links, **more))
        self.brokers[node] = await stack.enter_async_context(Broker(connection, settings))
        return self.brokers[node]

    def process(self, node: str, *links: tuple[str, str]) -> subprocess.Popen[bytes]:
        """Start a broker in its own process, with links to nodes as users there."""
        known = self._guards[node].options()
        given = {"TAMIS_USER": known["user"], "TAMIS_TOKEN": known["password"]}
        command = [sys.executable, "-m", "tamis", "serve", "--nats", self.url(node), "--name", node]
        command += ["--ack-wait", "2", "--quiet"]
        for other, user in links:
            command += ["--link", self.url(other)]
            given |= {"TAMIS_LINK_USER": user, "TAMIS_LINK_TOKEN": self.tokens[other, user]}
        with (self._folder / f"{node}.log").open("ab") as log:
            process = subprocess.Popen(command, stderr=log, env=os.environ | given)
        self.callback(process.wait)
        self.callback(process.kill)
        return process

    def client(self, node: str, user: str) -> ClientContext:
        given = {"user": user, "password": self.tokens[node, user], "timeout": 20.0}
        return tamis.connect(self.url(node), **given, **self.trusted)

    async def known(self, node: str, links: int) -> None:
        """Wait until so many ends of links have advertised something, and all have converged."""
        async with asyncio.timeout(30):
            while True:
                seen = overlay_snapshot(
                    await gather_overlay(self.brokers[node].connection, Names())
                )
                ends = [link for each in seen.nodes.values() for link in each.links.values()]
                told = [end for end in ends if end["interests_told"]]
                if seen.is_converged and len(told) == links:
                    return
                await asyncio.sleep(0.1)

    async def settled(self) -> None:
        async with asyncio.timeout(30):
            while out_of_step({n: await b.node.refresh() for n, b in self.brokers.items()}):  # type: ignore[union-attr]
                await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("role", "encrypted"),
    [("link", False), ("link", True), ("admin", False)],
    ids=["plain", "tls", "admin"],
)
def test_a_link_works_with_users(role: str, encrypted: bool, tmp_path: Path) -> None:
    async def go() -> None:
        async with Guarded(tmp_path, encrypted) as guarded:
            await guarded.serve("paris", "rome")
            await guarded.start("paris")
            await guarded.add("paris", "rome", [role])
            there = guarded.url("paris", "rome")
            if encrypted:
                doubtful = await guarded.start("rome", there)
                with pytest.raises(BrokerError, match="TLS handshake with NATS failed") as caught:
                    await asyncio.wait_for(doubtful.wait_for_failure(), 20)
                assert caught.value.code == "tls"
            elsewhere = guarded.url("paris", "rome", "wrong")
            stranger = await guarded.start("rome", elsewhere, options=guarded.trusted)
            with pytest.raises(BrokerError, match="rejects the credentials") as caught:
                await asyncio.wait_for(stranger.wait_for_failure(), 20)
            assert caught.value.code == "auth" and "wrong" not in str(caught.value)
            await guarded.start("rome", there, options=guarded.trusted)
            async with (
                guarded.client("rome", "ann") as ann,
                guarded.client("paris", "shop") as shop,
                guarded.client("paris", "ann") as ann_there,
                guarded.client("rome", "shop") as shop_there,
            ):
                await ann.subscribe("n = 1")
                await ann_there.subscribe("m = 1")
                await guarded.settled()
                await shop.publish_many([{"n": 0}, {"n": 1}])
                await shop_there.publish_many([{"m": 0}, {"m": 1}])
                taken = [m async for m in ann.messages(limit=1, timeout=20)]
                assert [m.origin for m in taken] == ["paris.2"]
                taken = [m async for m in ann_there.messages(limit=1, timeout=20)]
                assert [m.origin for m in taken] == ["rome.2"]
                # Each node can be reached over the link.
                for node in ("paris", "rome"):
                    seen = await gather_overlay(guarded.brokers[node].connection, Names())
                    assert set(seen["nodes"]) == {"paris", "rome"} and not seen["silent"]
                # A publisher cannot pretend to be a link.
                with pytest.raises(NatsError):
                    await shop._connection.nats.request(
                        "tamis.events.link.rome", b'{"n": 1}', timeout=1
                    )

    run(go(), 90)


@only_in_soak
def test_a_link_goes_on_after_a_crash(tmp_path: Path) -> None:
    async def go() -> None:
        async with Guarded(tmp_path) as guarded:
            await guarded.serve("paris", "rome", links=["rome"])
            await guarded.start("paris")
            running = guarded.process("rome", ("paris", "rome"))
            async with (
                guarded.client("rome", "ann") as ann,
                guarded.client("paris", "shop") as shop,
                guarded.client("paris", "ann") as ann_there,
                guarded.client("rome", "shop") as shop_there,
            ):
                await ann.subscribe("n >= 0")
                await ann_there.subscribe("m >= 0")
                await guarded.known("paris", 2)
                await shop.publish_many([{"n": i} for i in range(50)])
                await shop_there.publish_many([{"m": i} for i in range(50)])
                running.kill()
                await asyncio.to_thread(running.wait)
                await shop.publish_many([{"n": i} for i in range(50, 100)])
                await shop_there.publish_many([{"m": i} for i in range(50, 100)])
                guarded.process("rome", ("paris", "rome"))
                for client, name in ((ann, "n"), (ann_there, "m")):
                    got = [m async for m in client.messages(limit=100, timeout=20)]
                    assert sorted(m.event[name] for m in got) == list(range(100))
            for node, other in (("paris", "rome"), ("rome", "paris")):
                # Each crossed once.
                async with guarded.client(node, "ops") as ops:
                    js, links = ops._connection.nats.jetstream(), "tamis.events.link.*"
                    info = await js.stream_info("TAMIS_EVENTS", subjects_filter=links)
                assert info.state.subjects == {f"tamis.events.link.{other}": 100}

    run(go(), 90)


def test_a_link_user_can_do_nothing_else(tmp_path: Path) -> None:
    deliveries, events, subscriptions = "TAMIS_DELIVERIES", "TAMIS_EVENTS", "KV_tamis-subscriptions"
    routes, state = "KV_tamis-routes", "KV_tamis-state"
    create, get, direct = "$JS.API.CONSUMER.CREATE", "$JS.API.STREAM.MSG.GET", "$JS.API.DIRECT.GET"
    pull = "$JS.API.CONSUMER.MSG.NEXT"

    def consumer(stream: str, **config: object) -> dict[str, object]:
        return {"stream_name": stream, "config": {"ack_policy": "none", **config}}

    pushed = {"deliver_subject": "tamis.sub.ann.close"}
    mine = "tamis.events.link.rome"
    refused: dict[str, dict[str, object]] = {
        # Deliveries, events, subscriptions, links and leases of others.
        f"{get}.{deliveries}": {"seq": 1},
        f"{get}.{events}": {"seq": 1},
        f"{get}.{subscriptions}": {"seq": 1},
        f"{get}.{routes}": {"last_by_subj": "$KV.tamis-routes.link.oslo"},
        f"{get}.{state}": {"seq": 1},
        f"{direct}.{deliveries}": {"seq": 1},
        f"{direct}.{events}": {"seq": 1},
        f"{direct}.{deliveries}.tamis.deliver.ann": {},
        f"{direct}.{events}.tamis.events": {},
        f"{direct}.{events}.{mine}": {"last_by_subj": "tamis.events"},
        f"{direct}.{routes}.$KV.tamis-routes.link.oslo": {},
        f"{create}.{deliveries}": consumer(deliveries),
        f"{create}.{deliveries}.x": consumer(deliveries, name="x"),
        f"$JS.API.CONSUMER.DURABLE.CREATE.{deliveries}.x": consumer(deliveries, durable_name="x"),
        f"{create}.{events}": consumer(events),
        f"{create}.{events}.x.tamis.events": consumer(
            events, name="x", filter_subject="tamis.events"
        ),
        # Not even a consumer of its own data: a consumer chooses its delivery subject.
        f"{create}.{events}.x.{mine}": consumer(events, name="x", filter_subject=mine, **pushed),
        f"{create}.TAMIS_LINK_rome.link": consumer("TAMIS_LINK_rome", name="link", **pushed),
        f"{pull}.{deliveries}.ann": {"batch": 1},
        f"{pull}.{events}.tamis-brokers": {"batch": 1},
        f"{pull}.TAMIS_LINK_oslo.link": {"batch": 1},
        f"{pull}.{routes}.link-oslo-out": {"batch": 1},
        "$JS.API.STREAM.NAMES": {},
        f"$JS.API.STREAM.INFO.{events}": {"subjects_filter": ">"},
        # It cannot change or remove anything.
        f"$JS.API.STREAM.DELETE.{events}": {},
        "$JS.API.STREAM.DELETE.TAMIS_LINK_rome": {},
        f"$JS.API.STREAM.PURGE.{deliveries}": {},
        f"$JS.API.STREAM.UPDATE.{routes}": {"name": routes, "subjects": [">"]},
        f"$JS.API.CONSUMER.DELETE.{deliveries}.ann": {},
        "tamis.events": {"n": 1},
        "tamis.events.x": {"n": 1},
        "tamis.events.link.oslo": {"n": 1},
        "tamis.events.link.rome.x": {"n": 1},
        "tamis.deliver.ann": {"n": 1},
        "tamis.link.oslo": {"n": 1},
        "$KV.tamis-subscriptions.ann.x": {"selector": "n = 1"},
        "$KV.tamis-routes.in.oslo.want.x": {"text": "n = 1"},
        "$KV.tamis-routes.out.rome.want.x": {"text": "n = 1"},
        "$KV.tamis-routes.link.rome": {},
        "$KV.tamis-routes.link.oslo": {},
        "$KV.tamis-state.link.oslo": {},
        "$KV.tamis-state.routes-lease": {},
        "tamis.peer.oslo.hello": {},
        "tamis.peer.oslo.bye": {},
        "tamis.peer.oslo.read": {"what": "queue", "first": 1},
        "tamis.sub.ann.list": {},
        "tamis.sub.ann.close": {},
        "tamis.sub.rome.put": {"id": "x", "selector": "n = 1"},
    }

    async def go() -> None:
        async with Guarded(tmp_path) as guarded:
            await guarded.serve("paris", "rome", "oslo", links=["rome", "oslo"])
            await guarded.start("paris")
            for name in ("rome", "oslo"):
                await guarded.start(name, guarded.url("paris", name))
            async with guarded.client("paris", "ann") as ann:
                await ann.subscribe("n >= 0", id="hers")
                await guarded.settled()
                async with guarded.client("paris", "shop") as shop:
                    await shop.publish({"n": 1})
                assert len([m async for m in ann.messages(limit=1, timeout=20)]) == 1
                js = guarded.brokers["paris"].connection.nats.jetstream()

                async def standing() -> dict[str, Any]:
                    """Return everything stored except leases, which are written all the time.

                    What NATS answers does not tell: for an account without streams it always says
                    that it has none, also if it has passed a request on to another account.
                    """
                    found: dict[str, Any] = {"hers": await ann.subscriptions()}
                    for each in await js.streams_info():
                        name = each.config.name or ""
                        info = await js.stream_info(name, subjects_filter=">")
                        readers = sorted(one.name for one in await js.consumers_info(name))
                        number, subjects = info.state.last_seq, info.state.subjects
                        kept = None if name == state else (number, subjects)
                        found[name] = kept, info.config, readers
                    return found

                before = await standing()
                heard: list[str] = []
                user = {"user": "rome", "password": guarded.tokens["paris", "rome"]}
                rome = await nats.connect(guarded.url("paris"), error_cb=_ignored, **user)

                async def hear(message: Any) -> None:
                    if not message.subject.startswith("_INBOX."):
                        heard.append(message.subject)

                inbox, answers = rome.new_inbox(), list[Any]()

                async def answered(message: Any) -> None:
                    answers.append(message)

                listening = await rome.subscribe(f"{inbox}.>", cb=answered)
                for i, (subject, body) in enumerate(refused.items()):
                    data = json.dumps(body).encode() if body else b""
                    await rome.publish(subject, data, reply=f"{inbox}.{i}")
                await rome.flush()
                await asyncio.sleep(1)
                # All answers, not only the first: a refusal may be faster than an answer.
                for answer in answers:
                    asked = list(refused)[int(answer.subject.rpartition(".")[2])]
                    status = (answer.headers or {}).get("Status")
                    told = json.loads(answer.data) if answer.data else {"error": status}
                    assert told.get("error"), (asked, told)
                assert await standing() == before
                await listening.unsubscribe()
                # A writer of one key cannot remove all others with a rollup.
                for subject in ("$KV.tamis-routes.in.rome.want.x", "$KV.tamis-state.link.rome"):
                    rolled = await rome.request(subject, b"", headers={"Nats-Rollup": "all"})
                    assert "rollup not permitted" in rolled.data.decode()
                # Nor claim to be another node, nor that another node opens the link.
                described = guarded.brokers["rome"].node._handshake.description  # type: ignore[union-attr]
                for verb, body in (
                    ("hello", {"node": _as_json(described) | {"name": "oslo"}}),
                    ("link", {"node": _as_json(described), "record": _RECORD}),
                    ("read", {"what": "deliveries", "first": 1}),
                    ("other", {}),
                ):
                    data = json.dumps(body).encode()
                    told = json.loads((await rome.request(f"tamis.peer.rome.{verb}", data)).data)
                    assert told["error"]["code"] == "request", (verb, told)
                # Nor have an answer sent to the subject of another.
                await rome.publish("tamis.overlay", b"{}", reply="tamis.sub.ann.close")
                read = b'{"what": "out", "first": 1}'
                await rome.publish("tamis.peer.rome.read", read, reply="tamis.peer.oslo.bye")
                await asyncio.sleep(1)  # the answers arrive at its own inbox
                # Nor read messages of others.
                for subject in ("tamis.>", "$JS.>", "$KV.>", "_R_.>"):
                    await rome.subscribe(subject, cb=hear)
                await rome.flush()
                async with guarded.client("paris", "shop") as shop:
                    await shop.publish({"n": 2})
                assert len([m async for m in ann.messages(limit=1, timeout=20)]) == 1
                await ann.subscribe("n < 0", id="also hers")
                others = [each for each in heard if "rome" not in each and each[:4] != "_R_."]
                assert others == [] or others == ["tamis.overlay"]
                await rome.close()
                after = await standing()
                assert [each["id"] for each in after["hers"]] == ["also hers", "hers"]
                links = [each for each in after[routes][0][1] if ".link." in each]
                assert sorted(links) == [
                    "$KV.tamis-routes.link.oslo",
                    "$KV.tamis-routes.link.rome",
                ]

    run(go(), 90)


_RECORD = {"id": "x", "made": 1, "by": "oslo"}


def _as_json(value: object) -> dict[str, Any]:
    return json.loads(encode_json(value))  # type: ignore[no-any-return]


async def _ignored(error: Exception) -> None:
    """Ignore errors: refusals are expected."""
