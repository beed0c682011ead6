"""The client without `await`: the same, on an event loop in a thread of its own."""

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


async def _next(coming: AsyncIterator[Message]) -> Message | None:
    return await anext(coming, None)


class SyncMessage:
    """A delivery; see `tamis.broker.client.message.Message`, whose attributes it has."""

    def __init__(self, message: Message, client: SyncClient) -> None:
        """Wrap one."""
        self._message = message
        self._client = client

    def __getattr__(self, name: str) -> Any:
        """What the delivery has."""
        return getattr(self._message, name)

    def __repr__(self) -> str:
        """What it is."""
        return repr(self._message)

    def ack(self) -> None:
        """Say that it has been dealt with; it will not come again."""
        self._client._run(self._message.ack())

    def nak(self, delay: float = 0.0) -> None:
        """Ask for it again, after some seconds."""
        self._client._run(self._message.nak(delay))

    def working(self) -> None:
        """Say that it takes longer, so that it does not come again meanwhile."""
        self._client._run(self._message.working())


class SyncClient:
    """What `with tamis.connect(…) as c` gives; see `tamis.broker.client.client.Client`."""

    def __init__(self, context: ClientContext) -> None:
        """Start the thread, and connect on it."""
        self._context = context
        self._loop = LoopThread("tamis-client")
        try:
            self._client: Client = self._run(context.__aenter__())
        except BaseException:
            self._loop.end()
            raise

    @property
    def subscriber(self) -> str:
        """The name under which deliveries are kept."""
        return self._client.subscriber

    def publish(self, event: EventLike, *, id: str | None = None, ttl: float | None = None) -> int:
        """Publish an event, and wait until it is stored; gives its number."""
        return self._run(self._client.publish(event, id=id, ttl=ttl))

    def publish_many(
        self,
        events: Iterable[EventLike],
        *,
        ids: Iterable[str] | None = None,
        ttl: float | None = None,
    ) -> list[int]:
        """The same for many events, which are stored in this order."""
        return self._run(self._client.publish_many(events, ids=ids, ttl=ttl))

    def subscribe(
        self, selector: str, *, id: str | None = None, priority: int = 0, ttl: float | None = None
    ) -> IndexedSubscription:
        """Subscribe, or change a subscription, and wait until a broker has indexed it."""
        return self._run(self._client.subscribe(selector, id=id, priority=priority, ttl=ttl))

    def subscribe_many(
        self, rows: Iterable[tuple[str, str] | tuple[str, str, int]], ttl: float | None = None
    ) -> list[IndexedSubscription]:
        """The same for many: (id, selector) or (id, selector, priority)."""
        return self._run(self._client.subscribe_many(rows, ttl))

    def unsubscribe(self, id: str | IndexedSubscription) -> int:
        """Remove a subscription; gives the version from which on it is gone."""
        return self._run(self._client.unsubscribe(id))

    def subscriptions(self) -> list[dict[str, Any]]:
        """All subscriptions of this subscriber, by id."""
        return self._run(self._client.subscriptions())

    def forget(self) -> None:
        """Remove this subscriber: its subscriptions, and what is kept for it."""
        self._run(self._client.forget())

    def brokers(self, wait: float = 0.3) -> list[dict[str, Any]]:
        """What all brokers are doing that answer within some seconds."""
        return self._run(self._client.brokers(wait))

    def settled(self, revision: int, brokers: int = 1, timeout: float = 30.0) -> None:
        """Wait until so many brokers answer, and all that do have indexed a revision."""
        self._run(self._client.settled(revision, brokers, timeout))

    def messages(
        self, *, limit: int | None = None, timeout: float | None = None
    ) -> Iterator[SyncMessage]:
        """Deliveries as they come, those first that were missed."""
        coming = self._client.messages(limit=limit, timeout=timeout)
        while True:
            message = self._run(_next(coming))
            if message is None:
                return
            yield SyncMessage(message, self)

    def close(self) -> None:
        """Give back what was not read, and hang up."""
        try:
            self._run(self._context.__aexit__())
        finally:
            self._loop.end()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run(work)
