"""Match sequences: one broker at a time, over all events in the order of the stream.

The broker that holds the lease reads the stream on its own and keeps the states in memory. The
result depends only on the stream and the subscriptions: a sequence sees the events that were stored
after it was added, in their order, with the time at which they were stored or that an attribute
holds. So the next holder of the lease reads the stream again from the first event that can matter,
and arrives at the same states and the same deliveries, with the same ids. The position up to which
deliveries are confirmed is saved each time that the lease is renewed, every two seconds; deliveries
before it are not made again.
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import aclosing
from functools import partial
from typing import Any

import numpy as np
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from tamis.broker.config.settings import Settings
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.fabric.follow import ReadStart, follow_stream, start_at_sequence
from tamis.broker.fabric.lease import LASTS, Lease, run_while_held
from tamis.broker.fabric.publish import Publisher, PublishGroup
from tamis.broker.protocol.event_messages import OutgoingMessage
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import decode_object, encode_json, place_of
from tamis.broker.service.matching import BatchMatcher
from tamis.broker.service.subscription_registry import Entry, SubscriptionRegistry
from tamis.engines import DEFAULT
from tamis.engines.registry import make_engine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.sequences.event_time import EventClock, values_at
from tamis.sequences.key_values import key_of, micros_of
from tamis.sequences.sequence_engine import Sequences

_KIND = ".sequences"
_POSITION = "sequences"
_WAIT = 0.005


class SequenceMatcher:
    """Matches sequences while it holds the lease.

    Attributes:
        leads: Whether it holds the lease.
        position: The last event that it has matched, while it holds the lease.
    """

    def __init__(
        self,
        connection: Connection,
        registry: SubscriptionRegistry,
        matcher: BatchMatcher,
        publisher: Publisher,
        executor: Executor,
        names: Names,
        settings: Settings,
        holder: str,
    ) -> None:
        """Take the parts of a broker."""
        self._connection = connection
        self._js = connection.nats.jetstream()
        self._registry = registry
        self._matcher = matcher
        self._publisher = publisher
        self._executor = executor
        self._names = names
        self._settings = settings
        self._lease = Lease(self._js, names, "sequences-lease", holder)
        self._timing = EventClock(settings.time, settings.schema)
        self.leads = False
        self.position = 0
        self._time = 0
        self._indexed = 0
        self._confirmed: dict[str, int] = {}

    async def run(self) -> None:
        """Try to acquire the lease, and match sequences while it is held, until cancelled."""
        try:
            while True:
                if self._registry.sequences and await self._lease.acquire():
                    await self._lead_while_held()
                await asyncio.sleep(LASTS / 6)
        finally:
            await self._lease.release()

    async def _lead_while_held(self) -> None:
        self.leads = True
        try:
            await run_while_held(self._lease, self._connection, self._lead, self._save_position)
        finally:
            self.leads = False

    # -- reading the stream -----------------------------------------------------------------------

    async def _lead(self) -> None:
        self._confirmed = await self._load_position()
        held = self._current_entries()
        sequences = self._build_sequences(held.values())
        start = self._start_config(held.values())
        self.position = 0
        async for news in follow_stream(
            self._connection,
            self._names.event_stream,
            lambda: start_at_sequence(self.position + 1) if self.position else start,
            wait=_WAIT,
        ):
            if isinstance(news, ReadStart):
                continue
            held = await self._update_sequences(sequences, held)
            await self._process_batch(sequences, held, news)
            if not held:
                return

    async def _update_sequences(
        self, sequences: Sequences, held: dict[str, Entry]
    ) -> dict[str, Entry]:
        """Add new sequences, with the events since they were added, and drop removed ones."""
        current = self._current_entries()
        for key, entry in held.items():
            if key not in current or not _is_same(entry, current[key]):
                sequences.remove(key)
        new = {key: one for key, one in current.items() if key not in sequences}
        if not new:
            return current
        missed = min(entry.since for entry in new.values()) + 1
        fresh = self._build_sequences(new.values())
        if missed <= self.position:
            await self._catch_up(fresh, new, missed, self.position)
        for key in new:
            sequences.add(fresh[key].subscription)
            sequences[key].adopt(fresh[key])
        return current

    async def _catch_up(
        self, fresh: Sequences, new: dict[str, Entry], first: int, last: int
    ) -> None:
        place = [first]
        start = partial(_start_at_place, place)
        reading = follow_stream(self._connection, self._names.event_stream, start)
        async with aclosing(reading):
            async for news in reading:
                if isinstance(news, ReadStart):
                    if news.pending == 0:
                        return
                    continue
                some = [each for each in news if place_of(each.reply).sequence <= last]
                if some:
                    await self._publish_completions(fresh, new, some)
                    place[0] = place_of(some[-1].reply).sequence + 1
                end = place_of(news[-1].reply)
                if end.sequence >= last or not end.pending:
                    return

    async def _process_batch(
        self, sequences: Sequences, held: dict[str, Entry], messages: list[Msg]
    ) -> None:
        await self._publish_completions(sequences, held, messages)
        place = place_of(messages[-1].reply)
        self.position, self._time = place.sequence, place.time

    async def _publish_completions(
        self, sequences: Sequences, held: dict[str, Entry], messages: list[Msg]
    ) -> None:
        work = partial(self._match_batch, sequences, held, messages)
        outgoing = await asyncio.get_running_loop().run_in_executor(self._executor, work)
        group = PublishGroup()
        for out in outgoing:
            await self._publisher.publish(group, *out)
        await group.wait_confirmed()

    # -- on the executor --------------------------------------------------------------------------

    def _match_batch(
        self, sequences: Sequences, held: dict[str, Entry], messages: list[Msg]
    ) -> list[OutgoingMessage]:
        events, batch, _, _ = self._matcher.read(messages)
        steps = sequences.step_matches(batch)
        if not steps:
            return []
        rows = sorted({step.event for step in steps})
        times = self._times(batch, rows, [events[row].place.time for row in rows])
        keys: dict[Any, dict[int, Any]] = {}
        done: dict[int, list[str]] = {}
        for row, subscription, satisfied in steps:  # ordered by event, as in the stream
            entry, keyed = held[str(subscription.id)], sequences[subscription.id]
            sequence, time = events[row].place.sequence, times[row]
            if sequence <= entry.since or time is None:
                continue
            if keyed.per is None:
                key: Any = ()
            else:
                if keyed.per not in keys:
                    values = values_at(batch, keyed.per, np.array(rows))
                    keys[keyed.per] = dict(zip(rows, map(key_of, values), strict=True))
                key = keys[keyed.per][row]
            if (
                key is not None
                and keyed.process_event(key, satisfied, time)
                and self._is_due(entry, sequence)
            ):
                done.setdefault(row, []).append(str(subscription.id))
        outgoing: list[OutgoingMessage] = []
        for row, completed in done.items():
            completed.sort(key=lambda key: (-held[key].priority, key))
            known = [key for key in completed if key in self._registry.entries]
            outgoing.extend(self._matcher.deliveries(events[row], known, _KIND))
        return outgoing

    def _is_due(self, entry: Entry, sequence: int) -> bool:
        """Return whether the previous holder may not have delivered a completion."""
        if sequence > self._confirmed["position"]:
            return True
        return entry.revision > self._confirmed["revision"] and not entry.renewed

    def _times(
        self, batch: EventBatch, rows: list[int], stored: list[int]
    ) -> dict[int, int | None]:
        path = self._timing.attribute
        if path is None:
            return {row: time // 1000 for row, time in zip(rows, stored, strict=True)}
        values = values_at(batch, path, np.array(rows))
        return dict(zip(rows, map(micros_of, values), strict=True))

    # -- the sequences, and where to start reading ------------------------------------------------

    def _current_entries(self) -> dict[str, Entry]:
        self._indexed = self._registry.revision  # read it first: the entries may be newer
        return self._registry.sequences.copy()

    def _build_sequences(self, entries: Iterable[Entry]) -> Sequences:
        settings = self._settings
        engine = partial(make_engine, DEFAULT, {}, settings.schema, settings.semantics)
        sequences = Sequences(engine, self._timing)
        for entry in entries:
            sequences.add(
                Subscription.of(
                    entry.key, entry.selector, entry.priority, settings.schema, settings.semantics
                )
            )
        return sequences

    def _start_config(self, entries: Iterable[Entry]) -> ConsumerConfig:
        """Return the first event that can affect a sequence or an outstanding delivery."""
        entries = list(entries)
        since = min((entry.since for entry in entries), default=0)
        spans = [_within(self._build_sequences([entry]), entry) for entry in entries]
        time = self._confirmed["time"]
        if not time or self._settings.time is not None or None in spans:
            return start_at_sequence(since + 1)
        if since >= self._confirmed["position"]:
            return start_at_sequence(since + 1)
        # No state has an event that is older than three times the longest WITHIN.
        longest = max(span for span in spans if span is not None)
        when = datetime.datetime.fromtimestamp(time / 1e9 - 3 * longest / 1e6 - 1, datetime.UTC)
        return ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_TIME,
            opt_start_time=when.isoformat().replace("+00:00", "Z"),  # type: ignore[arg-type]
        )

    # -- the confirmed position -------------------------------------------------------------------

    async def _load_position(self) -> dict[str, int]:
        nothing = {"position": 0, "revision": 0, "time": 0}
        stream = self._names.bucket_stream(self._names.state)
        subject = self._names.bucket_subject(self._names.state, _POSITION)
        while True:
            try:
                last = await self._js.get_last_msg(stream, subject)
                return nothing | decode_object(last.data or b"")
            except NotFoundError:
                return nothing
            except (NatsError, OSError, TimeoutError) as error:
                log.debug("cannot read the position of sequences, retrying: %s", error)
                await asyncio.sleep(0.2)

    async def _save_position(self) -> None:
        if self.position <= self._confirmed["position"]:
            return
        position = {
            "position": self.position,
            "time": self._time,
            "revision": self._indexed,
        }
        subject = self._names.bucket_subject(self._names.state, _POSITION)
        try:
            await self._js.publish(subject, encode_json(position), timeout=2)
        except (NatsError, OSError, TimeoutError) as error:
            log.debug("cannot save the position of sequences: %s", error)


def _start_at_place(place: list[int]) -> ConsumerConfig:
    return start_at_sequence(place[0])


def _is_same(one: Entry, other: Entry) -> bool:
    return (one.selector, one.priority, one.since) == (other.selector, other.priority, other.since)


def _within(sequences: Sequences, entry: Entry) -> int | None:
    return sequences[entry.key].machine.within
