"""The asynchronous client: subscribe, receive, publish. `tamis.connect` creates one."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from typing import Any, NamedTuple
from uuid import uuid4

from nats.errors import Error as NatsError

from tamis.broker.client.message import Message
from tamis.broker.client.publish_events import EventLike, publish_many
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.publish import Publisher
from tamis.broker.fabric.pull import Pull
from tamis.broker.fabric.request import ask, statuses
from tamis.broker.protocol.names import Names, checked_name
from tamis.broker.protocol.wire import raise_refusal
from tamis.errors import BrokerError, TamisError

# Subscriptions and deliveries of a temporary subscriber expire so many seconds after its last sign
# of life.
PASSING = 60
_RENEWALS = PASSING / 3
_AHEAD = 512
_AT_ONCE = 1000
_REMEMBERED = 100_000


class IndexedSubscription(NamedTuple):
    """A subscription that a broker has indexed.

    Attributes:
        id: The id of the subscription.
        revision: The revision of the subscriptions from which on events match it.
    """

    id: str
    revision: int


class Client:
    """A client of the brokers; an async context manager that `tamis.connect` creates.

    Attributes:
        subscriber: The name under which subscriptions and deliveries are kept.
        durable: Whether they are kept while no client is connected. If not, the name belongs to
            this client, and its subscriptions and deliveries are removed when it closes.
        timeout: How many seconds a broker may take to answer.
    """

    def __init__(
        self,
        connection: Connection,
        subscriber: str | None = None,
        prefix: str = "tamis",
        timeout: float = 10.0,
    ) -> None:
        """Wrap a connection, which is closed at the end.

        Raises:
            BrokerError: The subscriber or the prefix is not a valid name.
        """
        self.durable = subscriber is not None
        self.subscriber = checked_name(subscriber or f"anon-{uuid4().hex}")
        self.timeout = timeout
        self._names = Names(prefix)
        self._connection = connection
        self._stack = AsyncExitStack()
        self._pull: Pull | None = None
        self._seen: OrderedDict[tuple[int, float], bool] = OrderedDict()
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Client:
        """Start publishing."""
        self._stack.push_async_callback(self._connection.close)
        self._publisher = await self._stack.enter_async_context(Publisher(self._connection))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Return unread deliveries to NATS, and close the connection."""
        if self._pull is not None:
            await self._pull.stop()
            for message in await self._pull.take(2 * _AHEAD, 0):
                await self._publish_quietly(message.reply, b"-NAK")
        if self._renewing is not None:
            self._renewing.cancel()
            try:
                await self.forget()
            except TamisError as error:
                log.debug("cannot remove the subscriber, which expires by itself: %s", error)
        await self._stack.aclose()

    # -- publishing -------------------------------------------------------------------------------

    async def publish(
        self, event: EventLike, *, id: str | None = None, ttl: float | None = None
    ) -> int:
        """Publish an event, and wait until it is stored.

        Args:
            event: A mapping of names to values, or JSON.
            id: An id for deduplication: an event published again with the same id within two
                minutes is stored once.
            ttl: The time to live in seconds; after that the event is dropped, matched or not.

        Returns:
            The sequence number of the event in its stream.

        Raises:
            BrokerError: The event cannot be stored.
        """
        return (await self.publish_many([event], ids=None if id is None else [id], ttl=ttl))[0]

    async def publish_many(
        self,
        events: Iterable[EventLike],
        *,
        ids: Iterable[str] | None = None,
        ttl: float | None = None,
    ) -> list[int]:
        """Publish many events, and wait until they are stored, in this order.

        Args:
            events: Mappings of names to values, or JSON.
            ids: One id per event, as in `publish`.
            ttl: The time to live of all of them, in seconds.

        Returns:
            The sequence numbers of the events in their stream.

        Raises:
            BrokerError: One of the events cannot be stored; those before and after it may be.
        """
        return await publish_many(
            self._publisher, self._names, events, ids=ids, ttl=ttl, timeout=self.timeout
        )

    # -- subscriptions ----------------------------------------------------------------------------

    async def subscribe(
        self, selector: str, *, id: str | None = None, priority: int = 0, ttl: float | None = None
    ) -> IndexedSubscription:
        """Add or replace a subscription, and wait until a broker has indexed it.

        Args:
            selector: A condition as after WHERE in Spark SQL, or a sequence.
            id: The id of the subscription; one with the same id is replaced. By default a new id.
            priority: Subscriptions with a higher priority come first.
            ttl: Remove the subscription after so many seconds; None to keep it.

        Raises:
            SelectorError: The selector is invalid; the error says where and why.
            BrokerError: The subscription exceeds a limit, or no broker answers.
        """
        body = self._subscribe_request(selector, id, priority, ttl)
        answer = await self._ask("put", body, selector)
        return IndexedSubscription(answer["id"], answer["revision"])

    async def subscribe_many(
        self, rows: Iterable[tuple[str, str] | tuple[str, str, int]], ttl: float | None = None
    ) -> list[IndexedSubscription]:
        """Add or replace many subscriptions: (id, selector) or (id, selector, priority) tuples.

        Raises:
            TamisError: One of them is refused; others may have been added.
        """
        requests = [
            self._subscribe_request(row[1], row[0], row[2] if len(row) > 2 else 0, ttl)
            for row in rows
        ]
        done: list[IndexedSubscription] = []
        for low in range(0, len(requests), _AT_ONCE):
            some = requests[low : low + _AT_ONCE]
            answer = await self._ask("put_many", {"subscriptions": some})
            for body, result in zip(some, answer["results"], strict=True):
                raise_refusal(result, body["selector"])
                done.append(IndexedSubscription(result["id"], result["revision"]))
        return done

    async def unsubscribe(self, id: str | IndexedSubscription) -> int:
        """Remove a subscription, and return the revision from which on it is gone.

        Raises:
            BrokerError: There is no subscription with this id, or no broker answers.
        """
        id = id.id if isinstance(id, IndexedSubscription) else id
        revision: int = (await self._ask("remove", {"id": id}))["revision"]
        return revision

    async def subscriptions(self) -> list[dict[str, Any]]:
        """Return all subscriptions of this subscriber, ordered by id."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["id"] if found else ""
            answer = await self._ask("list", {"after": after})
            found += answer["subscriptions"]
            if not answer["more"]:
                return found

    async def forget(self) -> None:
        """Remove this subscriber with its subscriptions and unread deliveries."""
        await self._ask("close", {})

    async def brokers(self, wait: float = 0.3) -> list[dict[str, Any]]:
        """Return the status of every broker that answers within `wait` seconds."""
        return await statuses(self._connection, self._names, wait)

    async def settled(self, revision: int, brokers: int = 1, timeout: float = 30.0) -> None:
        """Wait until enough brokers answer, and all of them have indexed a revision.

        Args:
            revision: The revision, as `subscribe` and `unsubscribe` return it.
            brokers: How many brokers must answer.
            timeout: How many seconds to wait.

        Raises:
            BrokerError: It takes too long.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            found = await self.brokers(0.2)
            if len(found) >= brokers and all(one["revision"] >= revision for one in found):
                return
            if asyncio.get_running_loop().time() > deadline:
                raise BrokerError(
                    f"{len(found)} of {brokers} brokers answer, and not all have indexed revision "
                    f"{revision}",
                    "timeout",
                )

    # -- deliveries -------------------------------------------------------------------------------

    async def messages(
        self, *, limit: int | None = None, timeout: float | None = None
    ) -> AsyncIterator[Message]:
        """Yield deliveries as they arrive, starting with those that were missed.

        Args:
            limit: Stop after so many deliveries; None for no limit.
            timeout: Stop when no delivery has arrived for so many seconds; None to wait for ever.
        """
        given = 0
        while limit is None or given < limit:
            if self._pull is None:
                self._pull = await self._open_pull()
            most = _AHEAD if limit is None else min(_AHEAD, limit - given)
            # One at a time, so that a caller that stops leaves the rest unread.
            taken = await self._pull.take(min(most, 1), 0, timeout)
            if not taken:
                if not self._pull.gone:
                    return
                await self._pull.stop()
                self._pull = None
                continue
            message = Message(taken[0], self._connection, self._mark_acked)
            # A server that was killed may have lost the record that it sent this delivery, or that
            # the delivery was acknowledged.
            acked = self._seen.get((message.delivery, message.time))
            if acked:
                await message.ack()
                continue
            message.redelivered |= acked is not None
            self._remember(message, False)
            given += 1
            yield message

    def _mark_acked(self, message: Message) -> None:
        self._remember(message, True)

    def _remember(self, message: Message, acked: bool) -> None:
        self._seen[message.delivery, message.time] = acked
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    async def _open_pull(self) -> Pull:
        passing = {} if self.durable else {"passing": PASSING}
        answer = await self._ask("open", passing)
        pull = Pull(self._connection, answer["stream"], answer["consumer"], _AHEAD)
        return await self._stack.enter_async_context(pull)

    # -- the rest ---------------------------------------------------------------------------------

    def _subscribe_request(
        self, selector: str, id: str | None, priority: int, ttl: float | None
    ) -> dict[str, Any]:
        if not self.durable:
            ttl = min(PASSING, ttl or PASSING)
            if self._renewing is None:
                self._renewing = asyncio.create_task(self._keep_renewing())
        # The id is chosen here, so that a repeated request does not add a second subscription.
        body = {"id": uuid4().hex if id is None else id, "selector": selector}
        return body | {"priority": priority} | ({} if ttl is None else {"ttl": ttl})

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(_RENEWALS)
            try:
                await self._ask("renew", {})
            except TamisError as error:
                log.warning("cannot renew subscriptions: %s", error)

    async def _ask(self, verb: str, body: dict[str, Any], selector: str = "") -> dict[str, Any]:
        return await ask(
            self._connection, self._names, self.subscriber, verb, body, self.timeout, selector
        )

    async def _publish_quietly(self, subject: str, payload: bytes) -> None:
        try:
            await self._connection.nats.publish(subject, payload)
        except NatsError as error:
            log.debug("cannot send to %s: %s", subject, error)
