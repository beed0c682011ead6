"""The client: subscribe, receive, publish. `tamis.connect` makes one."""

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

# What a passing subscriber leaves behind goes so many seconds after it was last heard of.
PASSING = 60
_RENEWALS = PASSING / 3
_AHEAD = 512
_AT_ONCE = 1000
_REMEMBERED = 100_000


class IndexedSubscription(NamedTuple):
    """A subscription that a broker has indexed.

    Attributes:
        id: What it is called.
        revision: The version of all subscriptions from which on it is there.
    """

    id: str
    revision: int


class Client:
    """For `async with`, by way of `tamis.connect`.

    Attributes:
        subscriber: The name under which deliveries are kept.
        durable: Whether they are kept while nobody is connected; else the name is of this client
            only, and all that is under it goes with it.
    """

    def __init__(
        self,
        connection: Connection,
        subscriber: str | None = None,
        prefix: str = "tamis",
        timeout: float = 10.0,
    ) -> None:
        """Take a connection, which is closed at the end.

        Raises:
            BrokerError: The subscriber or the prefix is no name.
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
        """Begin."""
        self._stack.push_async_callback(self._connection.close)
        self._publisher = await self._stack.enter_async_context(Publisher(self._connection))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give back what was not read, and hang up."""
        if self._pull is not None:
            await self._pull.stop()
            for message in await self._pull.take(2 * _AHEAD, 0):
                await self._publish_quietly(message.reply, b"-NAK")
        if self._renewing is not None:
            self._renewing.cancel()
            try:
                await self.forget()
            except TamisError as error:
                log.debug("it will go by itself: %s", error)
        await self._stack.aclose()

    # -- publishing -------------------------------------------------------------------------------

    async def publish(
        self, event: EventLike, *, id: str | None = None, ttl: float | None = None
    ) -> int:
        """Publish an event, and wait until it is stored.

        Args:
            event: Names and values, or JSON.
            id: Published again with the same id within two minutes, it is stored once.
            ttl: After so many seconds it is worth nothing any more, judged or not.

        Returns:
            The number of the event in its stream.

        Raises:
            BrokerError: It cannot be stored.
        """
        return (await self.publish_many([event], ids=None if id is None else [id], ttl=ttl))[0]

    async def publish_many(
        self,
        events: Iterable[EventLike],
        *,
        ids: Iterable[str] | None = None,
        ttl: float | None = None,
    ) -> list[int]:
        """The same for many events, which are stored in this order.

        Raises:
            BrokerError: One of them cannot be stored; those before and after it may be.
        """
        return await publish_many(
            self._publisher, self._names, events, ids=ids, ttl=ttl, timeout=self.timeout
        )

    # -- subscriptions ----------------------------------------------------------------------------

    async def subscribe(
        self, selector: str, *, id: str | None = None, priority: int = 0, ttl: float | None = None
    ) -> IndexedSubscription:
        """Subscribe, or change a subscription, and wait until a broker has indexed it.

        Args:
            selector: What may stand after WHERE in Spark SQL, or a sequence.
            id: What to call it; another one of that id is replaced. By default a new one.
            priority: The higher, the earlier.
            ttl: After so many seconds it goes by itself.

        Raises:
            SelectorError: The selector is refused; the error says where and why.
            BrokerError: It is beyond a limit, or no broker answers.
        """
        asked = self._subscribe_request(selector, id, priority, ttl)
        answer = await self._ask("put", asked, selector)
        return IndexedSubscription(answer["id"], answer["revision"])

    async def subscribe_many(
        self, rows: Iterable[tuple[str, str] | tuple[str, str, int]], ttl: float | None = None
    ) -> list[IndexedSubscription]:
        """The same for many: (id, selector) or (id, selector, priority).

        Raises:
            TamisError: One of them is refused; others may have been taken.
        """
        wanted = [
            self._subscribe_request(row[1], row[0], row[2] if len(row) > 2 else 0, ttl)
            for row in rows
        ]
        done: list[IndexedSubscription] = []
        for low in range(0, len(wanted), _AT_ONCE):
            some = wanted[low : low + _AT_ONCE]
            answer = await self._ask("put_many", {"subscriptions": some})
            for asked, result in zip(some, answer["results"], strict=True):
                raise_refusal(result, asked["selector"])
                done.append(IndexedSubscription(result["id"], result["revision"]))
        return done

    async def unsubscribe(self, id: str | IndexedSubscription) -> int:
        """Remove a subscription; gives the version from which on it is gone.

        Raises:
            BrokerError: There is none of that id, or no broker answers.
        """
        id = id.id if isinstance(id, IndexedSubscription) else id
        revision: int = (await self._ask("remove", {"id": id}))["revision"]
        return revision

    async def subscriptions(self) -> list[dict[str, Any]]:
        """All subscriptions of this subscriber, by id."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["id"] if found else ""
            answer = await self._ask("list", {"after": after})
            found += answer["subscriptions"]
            if not answer["more"]:
                return found

    async def forget(self) -> None:
        """Remove this subscriber: its subscriptions, and what is kept for it."""
        await self._ask("close", {})

    async def brokers(self, wait: float = 0.3) -> list[dict[str, Any]]:
        """What all brokers are doing that answer within some seconds."""
        return await statuses(self._connection, self._names, wait)

    async def settled(self, revision: int, brokers: int = 1, timeout: float = 30.0) -> None:
        """Wait until so many brokers answer, and all that do have indexed a revision.

        Raises:
            BrokerError: It takes too long.
        """
        deadline = asyncio.get_running_loop().time() + timeout
        while True:
            found = await self.brokers(0.2)
            if len(found) >= brokers and all(one["revision"] >= revision for one in found):
                return
            if asyncio.get_running_loop().time() > deadline:
                raise BrokerError(f"{len(found)} brokers answer, not all at {revision}", "timeout")

    # -- deliveries -------------------------------------------------------------------------------

    async def messages(
        self, *, limit: int | None = None, timeout: float | None = None
    ) -> AsyncIterator[Message]:
        """Deliveries as they come, those first that were missed.

        Args:
            limit: End after so many.
            timeout: End when nothing has come for so many seconds.
        """
        given = 0
        while limit is None or given < limit:
            if self._pull is None:
                self._pull = await self._open_pull()
            most = _AHEAD if limit is None else min(_AHEAD, limit - given)
            # One at a time: whoever stops after it leaves the rest where it is.
            taken = await self._pull.take(min(most, 1), 0, timeout)
            if not taken:
                if not self._pull.gone:
                    return
                await self._pull.stop()
                self._pull = None
                continue
            message = Message(taken[0], self._connection, self._mark_acked)
            # A server that was killed may have forgotten that it gave this to us already, or that
            # it was acknowledged.
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
        # Named here, so that a request that is repeated makes no second subscription.
        asked = {"id": uuid4().hex if id is None else id, "selector": selector}
        return asked | {"priority": priority} | ({} if ttl is None else {"ttl": ttl})

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(_RENEWALS)
            try:
                await self._ask("renew", {})
            except TamisError as error:
                log.warning("cannot renew subscriptions: %s", error)

    async def _ask(self, verb: str, asked: dict[str, Any], selector: str = "") -> dict[str, Any]:
        return await ask(
            self._connection, self._names, self.subscriber, verb, asked, self.timeout, selector
        )

    async def _publish_quietly(self, subject: str, payload: bytes) -> None:
        try:
            await self._connection.nats.publish(subject, payload)
        except NatsError as error:
            log.debug("not sent: %s", error)
