"""`tamis.connect`: for `async with` and for plain `with`."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from tamis.errors import BrokerError

if TYPE_CHECKING:
    from tamis.broker.client.client import Client
    from tamis.broker.client.sync import SyncClient


def connect(
    url: str = "nats://127.0.0.1:4222",
    subscriber: str | None = None,
    *,
    prefix: str = "tamis",
    timeout: float = 10.0,
    **options: Any,
) -> ClientContext:
    """Connect to the brokers at a NATS server.

        async with tamis.connect(subscriber="me") as c:
            await c.subscribe("price > 100", id="dear", priority=1)
            async for message in c.messages():
                print(message.event, message.subscriptions)
                await message.ack()

    With plain `with` everything is the same, without `await`.

    Args:
        url: Of the NATS server; several with commas between them.
        subscriber: The name under which subscriptions and deliveries are kept, also while nobody
            is connected. Without it they go with the connection, or are those of the `user`.
        prefix: What the names of these brokers begin with, as `tamis serve --prefix` has it.
        timeout: How many seconds an answer may take.
        **options: What `nats.connect` takes: `user` and `password` (the name and the token of
            `tamis user add`), `nkeys_seed_str`, `user_credentials`, `token`, `tls`.

    Raises:
        BrokerError: On entering the block: no server answers, or it refuses us.
    """
    return ClientContext(url, subscriber or options.get("user"), prefix, timeout, options)


class ClientContext:
    """What `connect` gives: connects when its block is entered."""

    def __init__(
        self,
        url: str,
        subscriber: str | None,
        prefix: str,
        timeout: float,
        options: dict[str, Any],
    ) -> None:
        """Keep what is needed."""
        self._url = url
        self._subscriber = subscriber
        self._prefix = prefix
        self._timeout = timeout
        self._options = options
        self._stack = AsyncExitStack()
        self._sync: SyncClient | None = None

    async def __aenter__(self) -> Client:
        """Connect.

        Raises:
            BrokerError: No server answers, or it refuses us.
        """
        try:
            from tamis.broker.client.client import Client
            from tamis.broker.fabric.connection import open_connection
        except ModuleNotFoundError as error:
            raise BrokerError(f"{error}; pip install 'tamis[broker]'", "missing") from None
        connection = await open_connection(
            self._url, **{"wait": min(5.0, self._timeout), **self._options}
        )
        try:
            client = Client(connection, self._subscriber, self._prefix, self._timeout)
        except BaseException:
            await connection.close()
            raise
        return await self._stack.enter_async_context(client)

    async def __aexit__(self, *_: object) -> None:
        """Hang up."""
        await self._stack.aclose()

    def __enter__(self) -> SyncClient:
        """Connect, for programs without `await`.

        Raises:
            BrokerError: No server answers, or it refuses us.
        """
        from tamis.broker.client.sync import SyncClient

        self._sync = SyncClient(self)
        return self._sync

    def __exit__(self, *_: object) -> None:
        """Hang up."""
        assert self._sync is not None
        self._sync.close()
