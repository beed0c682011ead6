"""`tamis.connect`, for `async with` and for plain `with`."""

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

    With plain `with` everything works the same, without `await`.

    Args:
        url: The address of the NATS server, or several separated by commas.
        subscriber: The name under which subscriptions and deliveries are kept, also while no client
            is connected. Defaults to the `user`; without either, they are removed when the
            connection closes.
        prefix: The prefix of the names of the brokers, as given to `tamis serve --prefix`.
        timeout: How many seconds a broker may take to answer.
        **options: Options of `nats.connect`: `user` and `password` (the name and the token of
            `tamis user add`), `nkeys_seed_str`, `user_credentials`, `token`, `tls`.

    Raises:
        BrokerError: On entering the block: no server answers, or it rejects the credentials.
    """
    return ClientContext(url, subscriber or options.get("user"), prefix, timeout, options)


class ClientContext:
    """The result of `connect`: it connects when its block is entered."""

    def __init__(
        self,
        url: str,
        subscriber: str | None,
        prefix: str,
        timeout: float,
        options: dict[str, Any],
    ) -> None:
        """Keep the arguments of `connect`."""
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
            BrokerError: No server answers, or it rejects the credentials.
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
        """Close the connection."""
        await self._stack.aclose()

    def __enter__(self) -> SyncClient:
        """Connect, for synchronous programs.

        Raises:
            BrokerError: No server answers, or it rejects the credentials.
        """
        from tamis.broker.client.sync import SyncClient

        self._sync = SyncClient(self)
        return self._sync

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        assert self._sync is not None
        self._sync.close()
