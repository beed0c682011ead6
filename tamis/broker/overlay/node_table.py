"""The table of a node: its links, the interests here and behind each link, and the other nodes.

Every broker of a node has the whole table, from the bucket of routes on its own NATS server. The
thread that changes the table also indexes subscriptions and matches events, so an event is routed
by one consistent state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import msgspec
from nats.aio.msg import Msg

from tamis.broker.config.settings import NodeSettings
from tamis.broker.fabric.bucket_follower import BucketFollower
from tamis.broker.fabric.connection import Connection, log
from tamis.broker.overlay.overlay_records import Key, LinkRecord, digest, path_json, path_of
from tamis.broker.protocol.names import Names
from tamis.broker.protocol.wire import decode_object
from tamis.engines.subscription import Subscription
from tamis.language import evaluate
from tamis.language.expr import Sequence
from tamis.routing.interest import Interest
from tamis.routing.membership import Membership
from tamis.routing.router import InterestUpdate
from tamis.routing.strategies import router


class RouteChanges(NamedTuple):
    """Changes to write to the bucket: first the new entries, then the keys to remove."""

    new: dict[str, dict[str, Any]]
    gone: list[str]


class OverlayTable(BucketFollower):
    """The table of a node; `run` follows the bucket of routes.

    Attributes:
        name: The name of the node.
        router: Routes events; use it on the executor only.
        members: The nodes of the overlay.
        links: The active links, by neighbour; not those that are refused or being removed.
        records: All links of the bucket, by neighbour.
        revision: The last revision of the bucket that has been applied.
        ready: Set once the initial contents of the bucket have been applied.
        changed: Set whenever the table has changed.
    """

    def __init__(
        self,
        connection: Connection,
        names: Names,
        node: NodeSettings,
        executor: Executor,
        on_neighbour_left: Callable[[str], None],
    ) -> None:
        """Start with an empty table; `run` reads the bucket.

        Args:
            connection: The connection to the NATS server of the node.
            names: The names of the system.
            node: The settings of the node.
            executor: An executor with one thread.
            on_neighbour_left: Called in the event loop with the name of a neighbour whose link
                is gone.
        """
        super().__init__(connection, names, names.routes, executor)
        self.name = node.name
        self.router = router(node.routing, node.shape, narrow=True)
        self.members = Membership(node.name)
        self.records: dict[str, LinkRecord] = {}
        self.links: dict[str, LinkRecord] = {}
        self.changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._keys: set[str] = set()
        self._mine: dict[str, Interest] = {}
        self._steps: dict[str, Interest] = {}
        self._received: dict[str, dict[str, Interest]] = {}
        # What the bucket has for a neighbour, and what it should have.
        self._out: dict[str, dict[str, str]] = {}
        self._out_nodes: dict[str, dict[str, object]] = {}
        self._desired: dict[str, dict[str, Interest]] = {}
        self._dirty: dict[str, set[str]] = {}
        self._version = 0
        self._state: tuple[int, dict[str, Any]] = -1, {}
        self._on_neighbour_left = on_neighbour_left

    # -- on the executor: interests of this node --------------------------------------------------

    def add_subscription(self, key: str, subscription: Subscription) -> None:
        """Add a subscription of this node, or replace the one with its key.

        Raises:
            TamisError: It cannot be expressed as an interest.
        """
        interest = Interest.of(subscription)
        self.remove_subscription(key)
        self._mine[key] = interest
        if isinstance(subscription.selector, Sequence):
            self._steps[key] = interest
        self._mark_changed(self.router.subscribe(interest))

    def remove_subscription(self, key: str) -> None:
        """Remove a subscription of this node, if there is one with this key."""
        interest = self._mine.pop(key, None)
        self._steps.pop(key, None)
        if interest is not None:
            self._mark_changed(self.router.unsubscribe(interest))

    def is_step(self, row: dict[str, object]) -> bool:
        """Return whether an event may be a step of a sequence of this node."""
        return any(evaluate(each.condition, row) is True for each in self._steps.values())

    # -- on the executor: entries of the bucket ---------------------------------------------------

    def _apply(self, messages: list[Msg]) -> None:
        super()._apply(messages)
        self._loop.call_soon_threadsafe(self.changed.set)

    def _keep_only(self, keys: set[str]) -> None:
        super()._keep_only(keys)
        self._loop.call_soon_threadsafe(self.changed.set)

    def _held_keys(self) -> Collection[str]:
        return self._keys

    def _put(self, key: str, data: bytes, revision: int) -> None:
        self._update(key, data)

    def _delete(self, key: str) -> None:
        self._update(key, None)

    def _reject(self, key: str, error: Exception) -> None:
        log.warning("route %s: %s", key, error)

    def _update(self, text: str, data: bytes | None) -> None:
        self._version += 1
        key = Key.parse(text)
        (self._keys.discard if data is None else self._keys.add)(text)
        if key.side == "link":
            record = None if data is None else msgspec.json.decode(data, type=LinkRecord)
            self._put_link(key.neighbour, record)
        elif key.side == "out":
            fields = None if data is None else decode_object(data)
            if key.kind == "want":
                self._put_outgoing(key, None if fields is None else str(fields["text"]))
            else:
                nodes = self._out_nodes.setdefault(key.neighbour, {})
                nodes.pop(key.word, None) if fields is None else nodes.update({key.word: fields})
        elif key.kind == "node":
            path = None if data is None else path_of(decode_object(data)["path"])
            self.members.hear(key.neighbour, key.word, path)
        else:
            interest = None if data is None else Interest.parse(str(decode_object(data)["text"]))
            self._put_interest(key.neighbour, key.word, interest)

    def _put_link(self, neighbour: str, record: LinkRecord | None) -> None:
        if record is None:
            self.records.pop(neighbour, None)
        else:
            self.records[neighbour] = record
        usable = record is not None and not record.refused and not record.leaving
        if usable and record is not None:
            self.members.join(neighbour, record.to_link(self.name, neighbour))
            known, self.links = self.links, {**self.links, neighbour: record}
            if neighbour not in known:
                self._desired[neighbour] = {}
                self._mark_changed(self.router.join(neighbour))
                for interest in self._received.get(neighbour, {}).values():
                    self._mark_changed(self.router.subscribe(interest, neighbour))
                self.recheck(neighbour)
            return
        if neighbour in self.links:
            self.links = {each: one for each, one in self.links.items() if each != neighbour}
            self._desired.pop(neighbour, None)
            self._mark_changed(self.router.leave(neighbour))
            self._loop.call_soon_threadsafe(self._on_neighbour_left, neighbour)
        if record is None:
            self.members.forget(neighbour)
            for table in (self._received, self._out, self._out_nodes, self._dirty):
                table.pop(neighbour, None)
            ours = (f"in.{neighbour}.", f"out.{neighbour}.")
            self._keys = {text for text in self._keys if not text.startswith(ours)}
        else:
            self.members.leave(neighbour)

    def _put_interest(self, neighbour: str, word: str, interest: Interest | None) -> None:
        received = self._received.setdefault(neighbour, {})
        old = received.pop(word, None)
        if interest is not None:
            received[word] = interest
        if neighbour not in self.links or old == interest:
            return
        if interest is not None:
            self._mark_changed(self.router.subscribe(interest, neighbour))
        if old is not None:
            self._mark_changed(self.router.unsubscribe(old, neighbour))

    def _put_outgoing(self, key: Key, text: str | None) -> None:
        out = self._out.setdefault(key.neighbour, {})
        if text is None:
            out.pop(key.word, None)
        else:
            out[key.word] = text
        if key.neighbour in self._desired:
            self._dirty.setdefault(key.neighbour, set()).add(key.word)

    def _mark_changed(self, updates: Iterable[InterestUpdate]) -> None:
        self._version += 1
        for neighbour, interest, wanted in updates:
            desired = self._desired.get(neighbour)
            if desired is None:
                continue
            if wanted:
                desired[interest.key] = interest
            else:
                desired.pop(interest.key, None)
            self._dirty.setdefault(neighbour, set()).add(interest.key)
        self._loop.call_soon_threadsafe(self.changed.set)

    # -- on the executor: what to advertise -------------------------------------------------------

    def recheck(self, *neighbours: str) -> None:
        """Have the next `changes` compare everything advertised to some neighbours, or to all."""
        for neighbour in neighbours or self._desired:
            interests = self.router.advertised_interests(neighbour).values()
            self._desired[neighbour] = {interest.key: interest for interest in interests}
            self._dirty[neighbour] = {*self._desired[neighbour], *self._out.get(neighbour, ())}

    def changes(self) -> RouteChanges:
        """Return the changes that bring the bucket to what should be advertised."""
        new: dict[str, dict[str, Any]] = {}
        gone: list[str] = []
        for neighbour, desired in self._desired.items():
            out = self._out.get(neighbour, {})
            for word in self._dirty.pop(neighbour, ()):
                key = str(Key("out", neighbour, "want", word))
                if word in desired:
                    if word not in out:
                        new[key] = {"text": desired[word].text}
                elif word in out:
                    gone.append(key)
            nodes = self._out_nodes.get(neighbour, {})
            for node, path in self.members.advertised_paths(neighbour).items():
                entry = {"path": path_json(path)}
                if nodes.get(node) != entry:
                    new[str(Key("out", neighbour, "node", node))] = entry
            gone += [
                str(Key("out", neighbour, "node", node))
                for node in nodes
                if node not in self.members.advertised_paths(neighbour)
            ]
        return RouteChanges(new, gone)

    def state(self) -> dict[str, Any]:
        """Return the links and what was advertised over them; see docs/reference/protocol.md."""
        if self._state[0] != self._version:  # cached until something changes
            self._state = self._version, self._build_state()
        state = self._state[1]
        links = {neighbour: dict(link) for neighbour, link in state["links"].items()}
        return {**state, "links": links, "evaluations": self.router.evaluations}

    def _build_state(self) -> dict[str, Any]:
        links = {}
        for neighbour, record in self.records.items():
            desired = self._desired.get(neighbour, {})
            links[neighbour] = {
                "by": record.by,
                "refused": record.refused,
                "interests_told": len(desired),
                "interests_received": len(self._received.get(neighbour, {})),
                "to_tell": digest(desired),
                "told": digest(self._out.get(neighbour, {})),
                "received": digest(self._received.get(neighbour, {})),
            }
        return {
            "links": links,
            "nodes": sorted(self.members.nodes),
            "known_links": sorted(list(link.ends) for link in self.members.all_links),
            "table": self.router.sizes(),
        }
