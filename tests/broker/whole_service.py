"""A whole service in this process: a NATS server with users, a broker and a gateway."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

import tamis
from tamis.broker.client.connect import ClientContext
from tamis.broker.config.limits import Limits
from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.server import Server
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.protocol.names import Names
from tamis.broker.security.guard import Guard, UsersFile
from tamis.broker.security.tls import tls_context
from tamis.broker.security.users import Users, checked_user, with_new_token, write_users
from tamis.broker.service.broker import Broker
from tamis.gateway.gateway_settings import GatewaySettings
from tamis.gateway.http_server import gateway
from tests.broker.ports import free_port

SUBSCRIBERS = ("ann", "bob", "carl", "dora", "eve", "fred", "gina", "hugo", "ida", "jon", "kim")
LIMITS = Limits(subscriptions=300, selector=4096, cost=200, event=64 * 1024)
GATEWAY = GatewaySettings(
    port=0, arrival=1, ping=0.4, streams_each=2, body=256 * 1024, work=60, lint_limit=50
)


@dataclass
class Service:
    """It runs from `start` to `stop`, on a thread.

    Attributes:
        folder: Where everything is.
        certificate: A certificate and its key, or None for no TLS.
        authority: Who signed it.
        tokens: Of all users, by name.
    """

    folder: Path
    certificate: tuple[str, str] | None = None
    authority: str | None = None
    limits: Limits = LIMITS
    tokens: dict[str, str] = field(default_factory=dict)

    def start(self) -> None:
        users = {}
        roles = {name: ["subscribe"] for name in SUBSCRIBERS}
        roles |= {"shop": ["publish"], "ops": ["admin"], "meter": ["metrics"]}
        for name, each in roles.items():
            users[name], self.tokens[name] = with_new_token(checked_user(name, each))
        self.file = self.folder / "users.json"
        write_users(self.file, Users(users))
        self._begun = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        self._begun.wait(60)
        if self._error is not None:
            raise self._error
        with self.connect("jon", timeout=60) as c, self.connect("shop", timeout=60) as shop:
            c.subscribe("warm = TRUE", id="warm")  # kernels are loaded or compiled meanwhile
            shop.publish({"warm": True})
            next(iter(c.messages(limit=1, timeout=60)))
            c.forget()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        try:
            cert, key = self.certificate or (None, None)
            store = self.folder / "store"
            file = UsersFile(self.file)
            guard = Guard(store=store, names=Names(), file=file, certificate=cert, key=key)
            port = free_port()
            config = ServerConfig(store=store, port=port, sections=guard.sections())
            async with Server(config) as server:
                self.nats = server.url
                watching = asyncio.create_task(guard.watch(server.reload))
                connection = await open_connection(server.url, **guard.options())
                settings = Settings(limits=self.limits, delivery_wait=3.0)
                self.broker = Broker(connection, settings)
                http = replace(GATEWAY, certificate=cert, key=key)
                async with self.broker, gateway(self.broker, http, UsersFile(self.file)) as url:
                    self.http = url
                    self._begun.set()
                    await self._end.wait()
                watching.cancel()
                await connection.close()
        except BaseException as error:
            self._error = error
            self._begun.set()
            raise

    # -- clients ----------------------------------------------------------------------------------

    def connect(self, name: str, **options: Any) -> ClientContext:
        """A client over NATS, as a user."""
        given = {"user": name, "password": self.tokens[name], "timeout": 5.0} | options
        if self.authority and "tls" not in given:
            given["tls"] = tls_context(self.authority)
        return tamis.connect(self.nats, **given)

    def web(self, name: str | None, token: str | None = None) -> httpx.Client:
        """A client over HTTP, as a user."""
        token = token or (self.tokens[name] if name else None)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        verify = tls_context(self.authority) if self.authority else True
        return httpx.Client(base_url=self.http, headers=headers, timeout=20, verify=verify)

    def works(self) -> None:
        """Check that the service still works."""
        with self.web("jon") as jon, self.web("shop") as shop:
            put = jon.put("/subscribers/jon/subscriptions/x", json={"selector": "alive = TRUE"})
            assert put.status_code == 200, put.text
            assert shop.post("/events", json={"alive": True}).status_code == 202
            taken = jon.get("/subscribers/jon/deliveries?limit=1&idle=5").text
            assert '"subscriptions":["x"]' in taken
        with self.connect("jon") as c:
            assert [each["id"] for each in c.subscriptions()] == ["x"]
