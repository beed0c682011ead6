"""The table of a broker: which subscriptions came from where, and where an event goes.

The two ways of the DEBS 2008 paper (§4.1), both behind Listing 1. `EdgeTable`: all brokers have all
subscriptions, the first one evaluates an event's predicates, and all others go by its filter.
`ContentTable`: a subscription is not sent to a neighbour that has one which covers it, so brokers
have different ones, and each evaluates again.

Both may send an event where nobody wants it (the one because of filters, the other never), and
never the other way round; who delivers it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from tamis.bloom.bfposet import BFPoset
from tamis.bloom.filter import Bloom
from tamis.bloom.hashing import Shape
from tamis.bloom.sbstree import SbsTree
from tamis.engines.protocol import Engine
from tamis.engines.subscription import Subscription
from tamis.errors import UnsupportedExpression
from tamis.events import EventBatch
from tamis.language.disjuncts import Conjunction, disjuncts
from tamis.language.evaluate import Event
from tamis.language.expr import Sequence
from tamis.predicates.covering import Coverage, coverage_of

MOST = 64  # conjunctions of one selector


class EdgeTable:
    """bfposet and sbstree, for edge routing.

    >>> table = EdgeTable(Shape(16384, 4), neighbours=["north", "south"])
    >>> sorted(table.subscribe(Subscription.of(1, "x > 5 AND y = 0"), "north"))
    ['south']
    >>> bloom = table.match({"x": 7, "y": 0})
    >>> table.forward(Bloom.from_bytes(bloom.to_bytes())), table.publish({"x": 7})
    ({'north'}, set())

    Attributes:
        poset: The predicates.
        tree: The filters.
    """

    def __init__(self, shape: Shape, neighbours: Iterable[Hashable] = ()) -> None:
        """Begin with no subscriptions.

        Args:
            shape: The shape of filters: the same at all brokers.
            neighbours: The brokers next to this one.
        """
        self.poset = BFPoset(shape, neighbours)
        self.tree = SbsTree(shape)

    def subscribe(self, subscription: Subscription, address: Hashable) -> set[Hashable]:
        """Store a subscription; where to send it on: to all neighbours but where it came from.

        Raises:
            UnsupportedExpression: It is a sequence, or a choice of too many conjunctions; nothing
                has changed.
        """
        for conjunction in _disjuncts(subscription):
            held = self.poset.hold(conjunction)
            self.tree.insert(self.poset.filter_of_held(held), address)
        return set(self.poset.neighbours - {address})

    def unsubscribe(self, subscription: Subscription, address: Hashable) -> set[Hashable]:
        """Forget a subscription that came from an address; where to tell it.

        Raises:
            KeyError: It did not; nothing has changed.
        """
        conjunctions = _disjuncts(subscription)
        removed: list[Bloom] = []
        try:
            for conjunction in conjunctions:
                bloom = self.poset.filter_of(conjunction)
                self.tree.remove(bloom, address)
                removed.append(bloom)
        except KeyError:
            for bloom in removed:
                self.tree.insert(bloom, address)
            raise
        for conjunction in conjunctions:
            self.poset.unsubscribe(conjunction, address)
        return set(self.poset.neighbours - {address})

    def match(self, event: Event) -> Bloom:
        """At the edge: the filter that goes with an event."""
        return self.poset.match(event)

    def forward(self, bloom: Bloom) -> set[Hashable]:
        """At every broker: where an event with this filter goes."""
        return self.tree.publish(bloom)

    def publish(self, event: Event) -> set[Hashable]:
        """The forward set of an event, by its content."""
        return self.forward(self.match(event))


class ContentTable:
    """An engine, for routing by content with covering.

    >>> from tamis.engines.brute import BruteEngine
    >>> table = ContentTable(BruteEngine, neighbours=["north", "south"])
    >>> sorted(table.subscribe(Subscription.of(1, "x > 5"), "client"))
    ['north', 'south']
    >>> sorted(table.subscribe(Subscription.of(2, "x > 15"), "north"))  # south has x > 5
    []
    >>> sorted(table.publish({"x": 20}))
    ['client', 'north']
    """

    def __init__(self, engine: Callable[[], Engine], neighbours: Iterable[Hashable] = ()) -> None:
        """Begin with no subscriptions.

        Args:
            engine: Makes the engine that matches, such as `tamis.ENGINES["siena"]`.
            neighbours: The brokers next to this one.
        """
        self._engine = engine()
        self._sources: list[Hashable] = []
        self._sent: dict[Hashable, list[Coverage]] = {each: [] for each in neighbours}

    def subscribe(self, subscription: Subscription, address: Hashable) -> set[Hashable]:
        """Store a subscription; where to send it on: where nothing was sent that covers it.

        Raises:
            UnsupportedExpression: The engine cannot express it; nothing has changed.
        """
        number = len(self._sources)
        self._engine.add(
            Subscription(
                number,
                subscription.text,
                subscription.priority,
                subscription.selector,
                subscription.required,
                subscription.functions,
            )
        )
        self._sources.append(address)
        coverage = coverage_of(subscription.condition)
        wanted = set()
        for neighbour, sent in self._sent.items():
            if neighbour != address and not any(each.covers(coverage) for each in sent):
                sent[:] = [each for each in sent if not coverage.covers(each)]
                sent.append(coverage)
                wanted.add(neighbour)
        return wanted

    def publish(self, event: Event) -> set[Hashable]:
        """The forward set of an event."""
        matches = self._engine.match(EventBatch.of([dict(event)]))
        return {self._sources[number] for number in matches.subscription.tolist()}


def _disjuncts(subscription: Subscription) -> list[Conjunction]:
    condition = subscription.condition
    if isinstance(condition, Sequence):
        raise UnsupportedExpression("a sequence (FIRST … THEN …)", "routing by Bloom filters")
    found = disjuncts(condition, MOST)
    if found is None:
        raise UnsupportedExpression(
            f"a choice of more than {MOST} conjunctions",
            "routing by Bloom filters",
            "write it as several subscriptions",
        )
    return [tuple(dict.fromkeys(conjunction)) for conjunction in found]
