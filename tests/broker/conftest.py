"""One NATS server for all tests of a process, with file storage; each test has its own prefix."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

pytest.importorskip("nats", reason="pip install 'tamis[broker]'")

from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.server import binary, is_nats_listening
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.service.broker import Broker
from tests.broker.ports import free_port

if TYPE_CHECKING:
    from tests.broker.whole_service import Service


class Nats:
    """A server that a test may kill, and start again on the same folder."""

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        reached: str = "127.0.0.1",
        inside: tuple[str, ...] = (),
    ) -> None:
        self.port = free_port()
        self.url = f"nats://{reached}:{self.port}"
        self._reached = reached
        self._inside = inside
        self._file = folder / "nats.conf"
        config = ServerConfig(store=folder / "js", host=host, port=self.port)
        self._file.write_text(config.text())
        self._log = folder / "nats.log"
        self.start()

    def start(self) -> None:
        command = [*self._inside, binary(), "-c", str(self._file), "-l", str(self._log)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not is_nats_listening(self._reached, self.port):
            assert time.monotonic() < deadline and self.process.poll() is None, (
                self._log.read_text()
            )
            time.sleep(0.02)

    def kill(self, how: int = signal.SIGKILL) -> None:
        os.kill(self.process.pid, how)
        self.process.wait()


@pytest.fixture(scope="session")
def shared_nats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    server = Nats(tmp_path_factory.mktemp("nats"))
    yield server
    server.kill(signal.SIGTERM)


@pytest.fixture
def own_nats(tmp_path: Path) -> Iterator[Nats]:
    server = Nats(tmp_path)
    yield server
    server.kill(signal.SIGTERM)


@pytest.fixture
def prefix() -> str:
    return "t" + uuid4().hex[:8]


@asynccontextmanager
async def brokering(url: str, settings: Settings) -> AsyncIterator[Broker]:
    connection = await open_connection(url)
    try:
        async with Broker(connection, settings) as broker:
            yield broker
    finally:
        await connection.close()


def run(work: Coroutine[Any, Any, None], seconds: float = 60) -> None:
    asyncio.run(asyncio.wait_for(work, seconds))


class Processes:
    """Broker processes, which a test may kill."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        command = [sys.executable, "-m", "tamis", "serve", *self._arguments]
        self.running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))

    def kill(self, which: int) -> None:
        process = self.running.pop(which)
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait(30)


@pytest.fixture
def processes() -> Iterator[Callable[..., Processes]]:
    made: list[Processes] = []

    def make(*arguments: str) -> Processes:
        made.append(Processes(*arguments))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Service"]:
    pytest.importorskip("starlette", reason="pip install 'tamis[http]'")
    from tests.broker.whole_service import Service

    running = Service(tmp_path_factory.mktemp("service"))
    try:
        running.start()
        yield running
    finally:
        running.stop()
