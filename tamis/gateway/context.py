"""What the handlers share: the broker, the users and the limits."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

from tamis.broker.fabric.publish import Publisher
from tamis.broker.fabric.request import ask
from tamis.broker.security.guard import UsersFile
from tamis.broker.service.broker import Broker
from tamis.gateway.gateway_settings import GatewaySettings
from tamis.gateway.worker_process import WorkerProcess


class GatewayContext:
    """The shared state of the handlers; an async context manager.

    Attributes:
        broker: The broker of this process; other brokers may answer requests too.
        settings: The settings of the gateway.
        file: The users, or None without authentication.
        publisher: Publishes events.
        worker: The process that explains and lints.
        streams: The number of open streams, by subscriber.
        answers: The number of responses, by method, path and status.
    """

    def __init__(self, broker: Broker, settings: GatewaySettings, file: UsersFile | None) -> None:
        """Take the broker, the settings and the users."""
        self.broker = broker
        self.settings = settings
        self.file = file
        self.worker = WorkerProcess(settings.work, settings.work_memory, settings.work_queue)
        self.streams: Counter[str] = Counter()
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> GatewayContext:
        """Start the publisher."""
        self.publisher = await self._stack.enter_async_context(Publisher(self.broker.connection))
        self._stack.callback(self.worker.stop)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the publisher and the worker."""
        await self._stack.aclose()

    async def ask(
        self, subscriber: str, verb: str, body: dict[str, Any], selector: str = ""
    ) -> dict[str, Any]:
        """Send a request to the brokers on behalf of a subscriber.

        Raises:
            TamisError: The request is refused, or no broker answers.
        """
        return await ask(
            self.broker.connection,
            self.broker.names,
            subscriber,
            verb,
            body,
            self.settings.timeout,
            selector,
        )
