"""What handlers have before them: the brokers, the users, the limits."""

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
    """For `async with`.

    Attributes:
        broker: The broker of this process; others may answer too.
        settings: Of the gateway.
        file: The users, or None if nobody is asked who they are.
        publisher: Stores events.
        worker: Explains, and looks at sets of subscriptions.
        streams: How many are open, by subscriber.
        answers: How many answers there were, by method, path and status.
    """

    def __init__(self, broker: Broker, settings: GatewaySettings, file: UsersFile | None) -> None:
        """Take what belongs to others."""
        self.broker = broker
        self.settings = settings
        self.file = file
        self.worker = WorkerProcess(settings.work, settings.work_memory, settings.work_queue)
        self.streams: Counter[str] = Counter()
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> GatewayContext:
        """Begin."""
        self.publisher = await self._stack.enter_async_context(Publisher(self.broker.connection))
        self._stack.callback(self.worker.stop)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End."""
        await self._stack.aclose()

    async def ask(
        self, subscriber: str, verb: str, asked: dict[str, Any], selector: str = ""
    ) -> dict[str, Any]:
        """Ask the brokers something in the name of a subscriber.

        Raises:
            TamisError: They refuse, or do not answer.
        """
        return await ask(
            self.broker.connection,
            self.broker.names,
            subscriber,
            verb,
            asked,
            self.settings.timeout,
            selector,
        )
