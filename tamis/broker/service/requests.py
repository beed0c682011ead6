"""Answer the requests of subscribers: put, remove, get, list and renew subscriptions; open, close.

The subject has the subscriber and the verb, the body is JSON. A broker answers a change once it has
indexed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from tamis.broker.config.limits import SubscriptionRequest, check_subscription, check_ttl
from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.fabric.streams import MARKER_TTL, subscriber_consumer
from tamis.broker.protocol.names import Names, checked_id, checked_name, key_of
from tamis.broker.protocol.time_to_live import ttl_headers
from tamis.broker.protocol.wire import OPERATION, ROLLUP, TTL, decode_object, encode_json, refusal
from tamis.broker.service.subscription_registry import Entry, SubscriptionRegistry
from tamis.errors import BrokerError, TamisError
from tamis.language.expr import Sequence

_AT_ONCE = 256
_PAGE = 1000
_TIMEOUT = 30.0

Answer = dict[str, object]


class Requests:
    """Answers requests, in a queue group with the other brokers; an async context manager."""

    def __init__(
        self,
        connection: Connection,
        registry: SubscriptionRegistry,
        publisher: Publisher,
        names: Names,
        settings: Settings,
    ) -> None:
        """Take the parts of a broker."""
        self._nats = connection.nats
        self._js: JetStreamContext = connection.nats.jetstream()
        self._registry = registry
        self._publisher = publisher
        self._names = names
        self._settings = settings
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._verbs: dict[str, Callable[[str, dict[str, Any]], Awaitable[Answer]]] = {
            "put": self._put,
            "put_many": self._put_many,
            "remove": self._remove,
            "get": self._get,
            "list": self._list,
            "renew": self._renew,
            "open": self._open,
            "close": self._close,
        }

    async def __aenter__(self) -> Requests:
        """Start to listen."""
        self._subscription = await self._nats.subscribe(
            self._names.all_requests, queue=self._names.group, cb=self._accept
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening, and answer the requests that have arrived."""
        if self._nats.is_connected:
            await self._subscription.drain()  # type: ignore[no-untyped-call]
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _accept(self, message: Msg) -> None:
        await self._room.acquire()  # further requests wait in the NATS client
        task = asyncio.create_task(self._send_answer(message))
        self._tasks.add(task)
        task.add_done_callback(self._release)

    def _release(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()

    async def _send_answer(self, message: Msg) -> None:
        answer = encode_json(await self.answer(message.subject, message.data))
        if message.reply:
            if len(answer) > self._nats.max_payload:
                error = BrokerError(
                    "the request was carried out, but the answer is too large; request less",
                    "limit",
                )
                answer = encode_json(refusal(error))
            try:
                await self._nats.publish(message.reply, answer)
            except NatsError as error:
                log.warning("cannot answer %s: %s", message.subject, error)

    async def answer(self, subject: str, data: bytes) -> Answer:
        """Return the answer to a request."""
        subscriber, verb = subject.split(".")[-2:]
        try:
            checked_name(subscriber)
            if verb not in self._verbs:
                known = ", ".join(self._verbs)
                raise BrokerError(f"unknown request {verb!r}; known are {known}", "request")
            return await asyncio.wait_for(
                self._verbs[verb](subscriber, decode_object(data)), _TIMEOUT
            )
        except TamisError as error:
            return refusal(error)
        except (NatsError, TimeoutError, OSError) as error:
            log.warning("%s: %s", subject, error)
            return refusal(BrokerError(f"the broker is busy: {error!r}", "busy"))
        except Exception as error:
            log.exception("%s", subject)
            return refusal(BrokerError(f"the broker failed: {error!r}", "internal"))

    # -- subscriptions ----------------------------------------------------------------------------

    async def _put(self, subscriber: str, body: dict[str, Any]) -> Answer:
        requests = _parse_subscription(body)
        results = await self._store_subscriptions(subscriber, [(0, requests)], [{}])
        return results[0]

    async def _put_many(self, subscriber: str, body: dict[str, Any]) -> Answer:
        rows = body.get("subscriptions")
        if not isinstance(rows, list):
            raise BrokerError('"subscriptions" must be a list of objects', "request")
        most = self._settings.limits.at_once
        if len(rows) > most:
            raise BrokerError(
                f"at most {most:,} subscriptions per request, not {len(rows):,}", "limit"
            )
        results: list[Answer] = [{} for _ in rows]
        requests: list[tuple[int, SubscriptionRequest]] = []
        for i, row in enumerate(rows):
            try:
                requests.append((i, _parse_subscription(row)))
            except TamisError as error:
                results[i] = refusal(error)
        return {
            "results": await self._store_subscriptions(subscriber, requests, results, many=True)
        }

    async def _store_subscriptions(
        self,
        subscriber: str,
        requests: list[tuple[int, SubscriptionRequest]],
        results: list[Answer],
        many: bool = False,
    ) -> list[Answer]:
        """Check, store and index subscriptions; write the outcome of each into the results."""
        keys = [key_of(subscriber, one.id) for _, one in requests]
        try:
            group, stored = await self._write_checked(subscriber, requests, results, many)
            await group.wait_confirmed()
            group.check()
            for (i, id), revision in zip(stored, group.sequences, strict=True):
                results[i] = {"id": id, "revision": revision}
            await self._registry.wait_for_revision(max(group.sequences, default=0))
        finally:
            self._registry.withdraw(keys)
        return results

    async def _write_checked(
        self,
        subscriber: str,
        requests: list[tuple[int, SubscriptionRequest]],
        results: list[Answer],
        many: bool,
    ) -> tuple[PublishGroup, list[tuple[int, str]]]:
        """Write the subscriptions that pass the checks; return their positions in the results."""
        held = self._registry.subscription_count(subscriber)
        group, stored = PublishGroup(), list[tuple[int, str]]()
        since = None
        for i, one in requests:
            key = key_of(subscriber, one.id)
            try:
                others = held - 1 if key in self._registry.entries else held
                checked = check_subscription(
                    one,
                    self._settings.limits,
                    others,
                    self._settings.schema,
                    self._settings.semantics,
                )
            except TamisError as error:
                if not many:
                    raise
                results[i] = refusal(error)
                continue
            held = others + 1
            if isinstance(checked.selector, Sequence) and since is None:
                since = (await self._js.stream_info(self._names.event_stream)).state.last_seq
            entry: dict[str, object] = {"selector": one.selector, "priority": one.priority}
            if one.ttl is not None:
                entry["ttl"] = one.ttl
            if isinstance(checked.selector, Sequence):
                entry["since"] = since
            self._registry.offer(replace(checked, id=key))
            await self._write(group, key, entry, one.ttl)
            stored.append((i, one.id))
        return group, stored

    async def _write(
        self, group: PublishGroup, key: str, entry: dict[str, object], ttl: float | None
    ) -> None:
        subject = self._names.bucket_subject(self._names.subscriptions, key)
        await self._publisher.publish(group, subject, encode_json(entry), ttl_headers(ttl) or None)

    async def _remove(self, subscriber: str, body: dict[str, Any]) -> Answer:
        ids = body.get("ids", [body["id"]] if "id" in body else None)
        if not isinstance(ids, list):
            raise BrokerError('give "id", or "ids" as a list', "request")
        keys = [key_of(subscriber, checked_id(id)) for id in ids]
        known = [key for key in keys if key in self._registry.entries]
        if "id" in body and not known:
            raise BrokerError(f"there is no subscription {body['id']!r}", "unknown")
        return {"removed": len(known), "revision": await self._remove_keys(known)}

    async def _remove_keys(self, keys: Iterable[str]) -> int:
        group = PublishGroup()
        for key in keys:
            subject = self._names.bucket_subject(self._names.subscriptions, key)
            headers = {OPERATION: "PURGE", ROLLUP: "sub", TTL: str(MARKER_TTL)}
            await self._publisher.publish(group, subject, b"", headers)
        await group.wait_confirmed()
        group.check()
        revision = max(group.sequences, default=0)
        await self._registry.wait_for_revision(revision)
        return revision

    async def _get(self, subscriber: str, body: dict[str, Any]) -> Answer:
        id = checked_id(body.get("id", ""))
        entry = self._registry.entries.get(key_of(subscriber, id))
        if entry is None:
            raise BrokerError(f"there is no subscription {id!r}", "unknown")
        return _entry_answer(entry)

    async def _list(self, subscriber: str, body: dict[str, Any]) -> Answer:
        after = body.get("after", "")
        if not isinstance(after, str):
            raise BrokerError('"after" must be an id', "request")
        page: list[Answer] = []
        size = 0
        entries = [entry for entry in self._registry.entries_of(subscriber) if entry.id > after]
        for entry in entries:
            size += len(entry.selector) * 6 + 1024  # an upper bound of its size as JSON
            if page and (len(page) == _PAGE or size > self._nats.max_payload):
                return {"subscriptions": page, "more": True}
            page.append(_entry_answer(entry))
        return {"subscriptions": page, "more": False}

    async def _renew(self, subscriber: str, body: dict[str, Any]) -> Answer:
        entries = [
            entry for entry in self._registry.entries_of(subscriber) if entry.ttl is not None
        ]
        group = PublishGroup()
        for entry in entries:
            fields: dict[str, object] = {
                "selector": entry.selector,
                "priority": entry.priority,
                "ttl": entry.ttl,
                "renewed": True,
            }
            if entry.is_sequence:
                fields["since"] = entry.since
            await self._write(group, key_of(subscriber, entry.id), fields, entry.ttl)
        await group.wait_confirmed()
        return {"renewed": len(entries)}

    # -- deliveries -------------------------------------------------------------------------------

    async def _open(self, subscriber: str, body: dict[str, Any]) -> Answer:
        passing = body.get("passing")
        check_ttl(passing)
        stream = self._names.delivery_stream
        consumer = await self._js.add_consumer(
            stream, subscriber_consumer(self._names, self._settings, subscriber, passing)
        )
        return {
            "stream": stream,
            "consumer": consumer.name,
            "next": f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer.name}",
            "pending": consumer.num_pending or 0,
        }

    async def _close(self, subscriber: str, body: dict[str, Any]) -> Answer:
        keys = [key_of(subscriber, entry.id) for entry in self._registry.entries_of(subscriber)]
        await self._remove_keys(keys)
        stream = self._names.delivery_stream
        try:
            await self._js.delete_consumer(stream, subscriber)
        except NotFoundError:
            pass
        await self._js.purge_stream(stream, subject=self._names.deliveries_to(subscriber))
        return {"removed": len(keys)}


def _parse_subscription(body: object) -> SubscriptionRequest:
    if not isinstance(body, dict):
        raise BrokerError("a subscription must be a JSON object", "request")
    for name in body:
        if name not in ("id", "selector", "priority", "ttl"):
            raise BrokerError(
                f"unknown field {name!r}; known are id, selector, priority, ttl", "request"
            )
    id = body.get("id")
    return SubscriptionRequest(
        uuid4().hex if id is None else checked_id(id),
        body.get("selector"),  # type: ignore[arg-type]
        body.get("priority", 0),
        body.get("ttl"),
    )


def _entry_answer(entry: Entry) -> Answer:
    answer: Answer = {
        "id": entry.id,
        "selector": entry.selector,
        "priority": entry.priority,
        "revision": entry.revision,
    }
    return answer if entry.ttl is None else {**answer, "ttl": entry.ttl}
