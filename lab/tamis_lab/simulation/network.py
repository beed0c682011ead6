"""A network of brokers in memory, which exchange interests and events message by message.

This is the reference model: brokers over NATS and the simulation on Spark are compared with it. A
link carries messages in order, in both directions, events included. The caller chooses which link
delivers its next message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tamis.bloom.filter import Bloom
from tamis.engines.subscription import Subscription
from tamis.errors import InputError, LoopError
from tamis.language.evaluate import Event, evaluate
from tamis.language.expr import BoolExpr
from tamis.matches import Id
from tamis.routing.interest import Interest
from tamis.routing.router import HERE, InterestUpdate, Router
from tamis.routing.strategies import router

Link = tuple[str, str]  # from, to


@dataclass
class Passage:
    """An event on its way.

    Attributes:
        event: Its values.
        origin: The broker at which it was published.
        delivered: By broker, the ids of its subscriptions that the event satisfies.
        hops: By broker that it reached, the number of links.
        crossed: The links that it crossed, with repetitions.
        evaluations: Number of brokers that evaluated predicates to route it.
        checked: The brokers that then evaluated their own subscribers' selectors.
        filter_bytes: Size of the filter that it carries; 0 for none.
    """

    event: Event
    origin: str
    delivered: dict[str, list[Id]] = field(default_factory=dict)
    hops: dict[str, int] = field(default_factory=dict)
    crossed: list[Link] = field(default_factory=list)
    evaluations: int = 0
    checked: set[str] = field(default_factory=set)
    filter_bytes: int = 0

    @property
    def wasted_links(self) -> set[Link]:
        """The links that it crossed needlessly: no subscriber beyond them matches."""
        came_from = {to: source for source, to in self.crossed}
        useful: set[str] = set()
        for node in self.delivered:
            at = node
            while at not in useful and at != self.origin:
                useful.add(at)
                at = came_from[at]
        return {link for link in self.crossed if link[1] not in useful}


class _Node:
    def __init__(self, router: Router) -> None:
        self.router = router
        self.subscriptions: dict[Id, tuple[Interest, BoolExpr]] = {}


class Network:
    """Brokers and the links between them, without loops.

    >>> network = Network("edge")
    >>> for name in ("paris", "lyon", "rome"):
    ...     network.add(name)
    >>> network.link("paris", "lyon")
    >>> network.link("lyon", "rome")
    >>> network.subscribe("rome", "dear", "price > 100")
    >>> network.settle()
    >>> passage = network.publish("paris", {"price": 120})
    >>> network.settle()
    >>> passage.delivered, passage.crossed, passage.evaluations
    ({'rome': ['dear']}, [('paris', 'lyon'), ('lyon', 'rome')], 1)

    Attributes:
        nodes: The names of all brokers.
        messages: By link, the number of messages about interests that it carried.
    """

    def __init__(
        self,
        strategy: str | Callable[[], Router],
        pick: Callable[[Sequence[Link]], Link] = lambda links: links[0],
    ) -> None:
        """Start with no brokers.

        Args:
            strategy: The name of a routing strategy, or a function that creates a router.
            pick: Chooses the link that delivers its next message.
        """
        self._router: Callable[[], Router]
        self._router = partial(router, strategy) if isinstance(strategy, str) else strategy
        self._pick = pick
        self._nodes: dict[str, _Node] = {}
        self._links: dict[Link, deque[InterestUpdate | tuple[Passage, Bloom | None, int]]] = {}
        self.messages: dict[Link, int] = {}

    # -- brokers and links ------------------------------------------------------------------------

    @property
    def nodes(self) -> list[str]:
        """The names of all brokers."""
        return list(self._nodes)

    @property
    def links(self) -> list[Link]:
        """All links, each in both directions."""
        return list(self._links)

    def router(self, node: str) -> Router:
        """Return the router of a broker.

        Raises:
            InputError: There is no such broker.
        """
        return self._node(node).router

    def add(self, node: str) -> None:
        """Add a broker without links.

        Raises:
            InputError: The name is taken or empty.
        """
        if node == HERE or node in self._nodes:
            raise InputError(
                f"there is a broker {node!r} already" if node else "a broker needs a name"
            )
        self._nodes[node] = _Node(self._router())

    def link(self, one: str, other: str) -> None:
        """Link two brokers, which exchange what they know.

        Raises:
            LoopError: They are connected already; nothing has changed.
            InputError: There is no such broker.
        """
        way = self.way(one, other)
        if way is not None:
            raise LoopError(one, other, way)
        for here, there in ((one, other), (other, one)):
            self._links[here, there] = deque()
            self.messages[here, there] = 0
        for here, there in ((one, other), (other, one)):
            self._send_updates(here, self._node(here).router.join(there))

    def unlink(self, one: str, other: str) -> None:
        """Remove a link, with the messages on it.

        Raises:
            InputError: There is no such link.
        """
        if (one, other) not in self._links:
            raise InputError(f"{one!r} and {other!r} are not linked")
        for here, there in ((one, other), (other, one)):
            del self._links[here, there]
            del self.messages[here, there]
        for here, there in ((one, other), (other, one)):
            self._send_updates(here, self._node(here).router.leave(there))

    def remove(self, node: str) -> None:
        """Remove a broker, with its links and subscribers.

        Raises:
            InputError: There is no such broker.
        """
        for neighbour in self._node(node).router.neighbours:
            self.unlink(node, neighbour)
        del self._nodes[node]

    def way(self, one: str, other: str) -> list[str] | None:
        """Return the brokers from one to another, both included; None if they are not connected.

        Raises:
            InputError: There is no such broker.
        """
        self._node(other)
        pending = [[one]]
        while pending:
            way = pending.pop()
            if way[-1] == other:
                return way
            onward = sorted(self._node(way[-1]).router.neighbours)
            pending += [[*way, each] for each in onward if each not in way]
        return None

    # -- subscribers ------------------------------------------------------------------------------

    def subscribe(self, node: str, id: Id, selector: str) -> None:
        """Add a subscription at a broker.

        Raises:
            InputError: The broker has a subscription with this id.
            SelectorError: The selector is invalid.
        """
        at = self._node(node)
        if id in at.subscriptions:
            raise InputError(f"there is already a subscription {id!r} at {node!r}")
        subscription = Subscription.of(id, selector)
        interest = Interest.of(subscription)
        at.subscriptions[id] = (interest, interest.condition)
        self._send_updates(node, at.router.subscribe(interest))

    def unsubscribe(self, node: str, id: Id) -> None:
        """Remove a subscription at a broker.

        Raises:
            KeyError: There is no such id.
        """
        at = self._node(node)
        interest, _ = at.subscriptions.pop(id)
        self._send_updates(node, at.router.unsubscribe(interest))

    # -- events -----------------------------------------------------------------------------------

    def publish(self, node: str, event: Event) -> Passage:
        """Publish an event at a broker; `settle` delivers it elsewhere."""
        passage = Passage(event, node)
        self._receive_event(node, HERE, passage, None, 0)
        return passage

    def step(self) -> bool:
        """Deliver one message, if there is one; return whether there was."""
        waiting = [link for link, queue in self._links.items() if queue]
        if not waiting:
            return False
        source, node = link = self._pick(waiting)
        message = self._links[link].popleft()
        if isinstance(message, InterestUpdate):
            change = self._node(node).router
            turn = change.subscribe if message.wanted else change.unsubscribe
            self._send_updates(node, turn(message.interest, source))
        else:
            self._receive_event(node, source, *message)
        return True

    def settle(self) -> None:
        """Deliver all messages."""
        while self.step():
            pass

    # -- parts ------------------------------------------------------------------------------------

    def _node(self, name: str) -> _Node:
        found = self._nodes.get(name)
        if found is None:
            raise InputError(f"there is no broker {name!r}")
        return found

    def _send_updates(self, node: str, updates: list[InterestUpdate]) -> None:
        for message in updates:
            link = node, message.neighbour
            self._links[link].append(message)
            self.messages[link] += 1

    def _receive_event(
        self, node: str, source: str, passage: Passage, bloom: Bloom | None, hops: int
    ) -> None:
        at = self._node(node)
        if source != HERE:
            passage.crossed.append((source, node))
        passage.hops[node] = hops
        before = at.router.evaluations
        route = at.router.route(passage.event, source, bloom)
        passage.evaluations += at.router.evaluations - before
        if route.bloom is not None and route.bloom is not bloom:
            passage.filter_bytes = len(route.bloom.to_bytes())
        if route.here:
            passage.checked.add(node)
            found = [
                id
                for id, (_, condition) in at.subscriptions.items()
                if evaluate(condition, passage.event) is True
            ]
            if found:
                passage.delivered[node] = found
        for neighbour in sorted(route.neighbours):
            self._links[node, neighbour].append((passage, route.bloom, hops + 1))
