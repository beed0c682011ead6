"""The synchronous client: the asynchronous one on an event loop in its own thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from tamis.broker.client.loop_thread import LoopThread

if TYPE_CHECKING:
    from tamis.broker.client.client import Client, IndexedSubscription
    from tamis.broker.client.connect import ClientContext
    from tamis.broker.client.message import Message
    from tamis.broker.client.publish_events import EventLike

_T = TypeVar("_T")


async def _next(messages: AsyncIterator[Message]) -> Message | None:
    return await anext(messages, None)


class SyncMessage:
    """A delivery with the attributes of `tamis.broker.client.message.Message`."""

    def __init__(self, message: Message, client: SyncClient) -> None:
        """Wrap a delivery."""
        self._message = message
        self._client = client

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the delivery."""
        return getattr(self._message, name)

    def __repr__(self) -> str:
        """Return a short description."""
        return repr(self._message)

    def ack(self) -> None:
        """Acknowledge the delivery, so that it is not sent again."""
        self._client._run(self._message.ack())

    def nak(self, delay: float = 0.0) -> None:
        """Have the delivery sent again, after a delay in seconds."""
        self._client._run(self._message.nak(delay))

    def working(self) -> None:
        """Extend the time to acknowledge, so that the delivery is not sent again meanwhile."""
        self._client._run(self._message.working())


class SyncClient:
    """The client of `with tamis.connect(…)`; see `tamis.broker.client.client.Client`."""

    def __init__(self, context: ClientContext) -> None:
        """Start the thread, and connect."""
        self._context = context
        self._loop = LoopThread("tamis-client")
        try:
            self._client: Client = self._run(context.__aenter__())
        except BaseException:
            self._loop.end()
            raise

    @property
    def subscriber(self) -> str:
        """The name under which subscriptions and deliveries are kept."""
        return self._client.subscriber

    def publish(self, event: EventLike, *, id: str | None = None, ttl: float | None = None) -> int:
        """Publish an event, wait until it is stored, and return its sequence number."""
        return self._run(self._client.publish(event, id=id, ttl=ttl))

    def publish_many(
        self,
        events: Iterable[EventLike],
        *,
        ids: Iterable[str] | None = None,
        ttl: float | None = None,
    ) -> list[int]:
        """Publish many events, and wait until they are stored, in this order."""
        return self._run(self._client.publish_many(events, ids=ids, ttl=ttl))

    def subscribe(
        self, selector: str, *, id: str | None = None, priority: int = 0, ttl: float | None = None
    ) -> IndexedSubscription:
        """Add or replace a subscription, and wait until a broker has indexed it."""
        return self._run(self._client.subscribe(selector, id=id, priority=priority, ttl=ttl))

    def subscribe_many(
        self, rows: Iterable[tuple[str, str] | tuple[str, str, int]], ttl: float | None = None
    ) -> list[IndexedSubscription]:
        """Add or replace many subscriptions: (id, selector) or (id, selector, priority) tuples."""
        return self._run(self._client.subscribe_many(rows, ttl))

    def unsubscribe(self, id: str | IndexedSubscription) -> int:
        """Remove a subscription, and return the revision from which on it is gone."""
        return self._run(self._client.unsubscribe(id))

    def subscriptions(self) -> list[dict[str, Any]]:
        """Return all subscriptions of this subscriber, ordered by id."""
        return self._run(self._client.subscriptions())

    def forget(self) -> None:
        """Remove this subscriber with its subscriptions and unread deliveries."""
        self._run(self._client.forget())

    def brokers(self, wait: float = 0.3) -> list[dict[str, Any]]:
        """Return the status of every broker that answers within `wait` seconds."""
        return self._run(self._client.brokers(wait))

    def settled(self, revision: int, brokers: int = 1, timeout: float = 30.0) -> None:
        """Wait until enough brokers answer, and all of them have indexed a revision."""
        self._run(self._client.settled(revision, brokers, timeout))

    def messages(
        self, *, limit: int | None = None, timeout: float | None = None
    ) -> Iterator[SyncMessage]:
        """Yield deliveries as they arrive, starting with those that were missed."""
        messages = self._client.messages(limit=limit, timeout=timeout)
        while True:
            message = self._run(_next(messages))
            if message is None:
                return
            yield SyncMessage(message, self)

    def close(self) -> None:
        """Return unread deliveries to NATS, and close the connection."""
        try:
            self._run(self._context.__aexit__())
        finally:
            self._loop.end()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run(work)
