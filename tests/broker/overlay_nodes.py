"""Nodes of an overlay: real NATS servers, with brokers in this process or in their own."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import tamis
from tamis.broker.config.settings import NodeSettings, Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.service.broker import Broker
from tamis.broker.service.warm_up import warm
from tests.broker.conftest import Nats

LINE = (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"))
STAR = (("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"))


class Nodes:
    """Several nodes in this process; link (x, y) is run by x."""

    def __init__(self, folder: Path, routing: str = "edge", **settings: Any) -> None:
        self._folder = folder
        self._routing = routing
        self._settings = {"ack_wait": 5.0} | settings
        # Otherwise kernels are compiled while links wait for an answer.
        warm(Settings(node=NodeSettings(name="warm", routing=routing)))
        self.nats: dict[str, Nats] = {}
        self.brokers: dict[str, Broker] = {}
        self._stacks: dict[str, AsyncExitStack] = {}

    def serve(self, *names: str) -> None:
        """Start NATS servers, at once; brokers come later."""
        for name in names:
            folder = self._folder / name
            folder.mkdir()
            self.nats[name] = Nats(folder)

    async def start(self, name: str, *neighbours: str, **more: Any) -> Broker:
        """Start the broker of a node, with links to others."""
        if name not in self.nats:
            await asyncio.to_thread(self.serve, name)
        links = tuple(self.nats[each].url for each in neighbours)
        node = NodeSettings(
            **{"name": name, "routing": self._routing, "links": links} | more.pop("node", {})
        )
        stack = AsyncExitStack()
        connection = await open_connection(self.nats[name].url)
        stack.push_async_callback(connection.close)
        broker = Broker(connection, Settings(**self._settings | more, node=node))
        try:
            await stack.enter_async_context(broker)
        except BaseException:
            await stack.aclose()
            raise
        self.brokers[name], self._stacks[name] = broker, stack
        return broker

    async def stop(self, name: str) -> None:
        del self.brokers[name]
        await self._stacks.pop(name).aclose()

    async def close(self) -> None:
        for name in list(self.brokers):
            await self.stop(name)
        for server in self.nats.values():
            if server.process.poll() is None:
                server.kill(15)

    @asynccontextmanager
    async def client(self, node: str, subscriber: str | None = None) -> AsyncIterator[Any]:
        async with tamis.connect(self.nats[node].url, subscriber, timeout=30) as client:
            yield client

    async def settled(self, seconds: float = 30, links: int | None = None) -> None:
        """Wait until all interests have been advertised and received over all links."""
        deadline = time.monotonic() + seconds
        while True:
            states = {name: await broker.node.refresh() for name, broker in self.brokers.items()}  # type: ignore[union-attr]
            why = out_of_step(states, links)
            if why is None:
                return
            assert time.monotonic() < deadline, why
            await asyncio.sleep(0.05)


def out_of_step(states: dict[str, dict[str, Any]], links: int | None = None) -> str | None:
    """Return why an overlay has not converged; None if it has."""
    seen = 0
    for name, state in states.items():
        for neighbour, link in state["links"].items():
            seen += 1
            if link["to_tell"] != link["told"]:
                return f"{name} has not advertised everything to {neighbour}: {link}"
            other = states.get(neighbour)
            if other is None or name not in other["links"]:
                return f"{neighbour} does not know {name}"
            if other["links"][name]["received"] != link["told"]:
                return f"{neighbour} has not heard {name}: {link}, {other['links'][name]}"
        expected = {each for each in states if each != name}
        if links is None and set(state["nodes"]) != expected:
            return f"{name} knows {state['nodes']}"
    if links is not None and seen != 2 * links:
        return f"{seen} ends of links"
    return None


@asynccontextmanager
async def nodes(
    folder: Path, edges: Iterable[tuple[str, str]], routing: str = "edge", **settings: Any
) -> AsyncIterator[Nodes]:
    """Run an overlay with these links, and wait until it has converged."""
    overlay = Nodes(folder, routing, **settings)
    try:
        edges = list(edges)
        names = sorted({name for edge in edges for name in edge})
        await asyncio.to_thread(overlay.serve, *names)
        for name in names:
            await overlay.start(name, *(other for one, other in edges if one == name))
        await overlay.settled()
        yield overlay
    finally:
        await overlay.close()


class Served:
    """Nodes of real processes: a NATS server each, and any number of `tamis serve`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self.nats: dict[str, Nats] = {}
        self._links: dict[str, list[str]] = {}
        self._inside: dict[str, tuple[str, ...]] = {}
        self._nearby: dict[str, str] = {}
        self.running: dict[str, list[subprocess.Popen[bytes]]] = {}

    @property
    def urls(self) -> dict[str, str]:
        return {name: server.url for name, server in self.nats.items()}

    def make(self, edges: Iterable[tuple[str, str]], brokers: int = 1) -> None:
        edges = list(edges)
        names = sorted({name for edge in edges for name in edge})
        for name in names:
            (self._folder / name).mkdir()
            self.nats[name] = Nats(self._folder / name)
        for name in names:
            self._links[name] = [self.nats[other].url for one, other in edges if one == name]
            for _ in range(brokers):
                self.start(name)

    def add(
        self,
        name: str,
        links: list[str],
        nats: Nats,
        nearby: str | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:
        """Start a node on any server: links by URL, and the options to connect its broker."""
        self.nats[name], self._links[name] = nats, links
        self._inside[name], self._nearby[name] = inside, nearby or nats.url
        self.start(name)

    def start(self, name: str) -> None:
        near = self._nearby.get(name, self.nats[name].url)
        command = [*self._inside.get(name, ()), sys.executable, "-m", "tamis", "serve"]
        command += ["--nats", near]
        command += ["--name", name, *self._options]
        for link in self._links[name]:
            command += ["--link", link]
        with (self._folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, stderr=log)
        self.running.setdefault(name, []).append(process)

    def kill(self, name: str) -> None:
        process = self.running[name].pop()
        process.kill()
        process.wait()

    def logs(self) -> str:
        return "".join(
            f"{each.name}: {each.read_text()}" for each in sorted(self._folder.glob("*.log"))
        )

    def close(self) -> None:
        every = [each for some in self.running.values() for each in some]
        for process in every:
            process.terminate()
        for process in every:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for server in self.nats.values():
            if server.process.poll() is None:
                server.kill(15)
