"""The common part of the engines that keep filters ordered by covering.

Siena's poset and the forest differ only in where they put a filter. Both support conjunctions only,
whose filters `covering/coverage.py` compares. Equal filters are stored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import ClassVar, Protocol

import numpy as np

from tamis.covering.coverage import ConjunctiveFilter, conjunction
from tamis.dot import quote
from tamis.engines.baselines.conjuncts import conjuncts
from tamis.engines.baselines.filter_node import EventValues, FilterNode
from tamis.engines.roster import Roster
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.matches import Id, Matches


class Order(Protocol):
    """Filters ordered by covering.

    Attributes:
        roots: The filters that no other filter covers.
    """

    roots: dict[FilterNode, None]

    def insert(self, node: FilterNode) -> FilterNode:
        """Insert a node and return it; if an equivalent node exists, return that instead."""

    def remove(self, node: FilterNode) -> None:
        """Remove a node and reconnect its neighbours."""

    def publish(self, event: EventValues) -> Iterator[FilterNode]:
        """Iterate over the nodes that an event satisfies."""


class FilterEngine:
    """Subscriptions at the nodes of an order of their filters.

    Attributes:
        order: The order.
    """

    name: ClassVar[str]

    def __init__(self, order: Order) -> None:
        """Create an engine without subscriptions."""
        self.order = order
        self._roster = Roster()
        self._nodes: dict[ConjunctiveFilter, FilterNode] = {}
        # None if no event can satisfy the subscription: `a = 1 AND a = 2`.
        self._node_of: dict[int, FilterNode | None] = {}

    def add(self, subscription: Subscription) -> None:
        """Add a subscription.

        Raises:
            UnsupportedExpression: It is not a conjunction. The engine is unchanged.
        """
        filter = _filter_of(subscription, self.name)
        code = self._roster.add(subscription)
        node = None
        if filter is not None:
            node = self._nodes.get(filter)
            if node is None:
                new = FilterNode(filter)
                node = self.order.insert(new)
                if node is new:
                    self._nodes[filter] = node
            node.codes[code] = None
        self._node_of[code] = node

    def remove(self, id: Id) -> None:
        """Remove a subscription."""
        code = self._roster.remove(id)
        node = self._node_of.pop(code)
        if node is None:
            return
        del node.codes[code]
        if not node.codes:
            self.order.remove(node)
            del self._nodes[node.filter]

    def match(self, batch: EventBatch, limit: int | None = None) -> Matches:
        """Return all subscriptions that each event of the batch satisfies."""
        codes_by_event = [self.publish(EventValues(row)) for row in batch.rows()]
        event = np.repeat(np.arange(len(codes_by_event)), [len(codes) for codes in codes_by_event])
        code = np.fromiter(chain.from_iterable(codes_by_event), np.int32, len(event))
        return self._roster.matches(len(batch), event, code)

    def publish(self, event: EventValues) -> list[int]:
        """Return the subscriptions that an event satisfies, by number."""
        return [code for node in self.order.publish(event) for code in node.codes]

    # -- introspection ----------------------------------------------------------------------------

    def nodes(self) -> Iterable[FilterNode]:
        """Return all nodes in the order of insertion."""
        return self._nodes.values()

    def subscriptions_at(self, node: FilterNode) -> list[Subscription]:
        """Return the subscriptions that have the filter of a node."""
        return [self._roster[code] for code in node.codes]

    def stats(self) -> Mapping[str, object]:
        """Return sizes by name; an edge leads from a filter to one that it covers."""
        return {
            "subscriptions": len(self._roster),
            "filters": len(self._nodes),
            "roots": len(self.order.roots),
            "edges": sum(len(node.children) for node in self.nodes()),
            "depth": _depth(self.order.roots),
        }

    def to_dot(self) -> str:
        """Return the order as a Graphviz digraph, after Figure 1 of the DEBS paper, root first."""
        names = {node: f"n{number}" for number, node in enumerate(self.nodes())}
        lines = [f"digraph {self.name} {{", "  node [shape=box];", '  root [label="{null}"];']
        for node, name in names.items():
            subscriptions = self.subscriptions_at(node)
            ids = ", ".join(sorted(str(each.id) for each in subscriptions))
            lines.append(f"  {name} [label={quote(f'{{{subscriptions[0].text}}}')}, "
                         f"xlabel={quote(ids)}];")  # fmt: skip
        lines += [f"  root -> {names[node]};" for node in self.order.roots]
        lines += [
            f"  {names[node]} -> {names[child]};" for node in names for child in node.children
        ]
        return "\n".join([*lines, "}"])

    # -- pickling: by number, because pickle cannot handle a long chain of nodes ------------------

    def __getstate__(self) -> dict[str, object]:
        """Return the subscriptions and, by node, its subscriptions and its parents."""
        places = {node: place for place, node in enumerate(self.nodes())}
        return {
            "roster": self._roster,
            "codes": [list(node.codes) for node in places],
            "parents": [[places[parent] for parent in node.parents] for node in places],
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        """Rebuild the nodes."""
        self.__init__()  # type: ignore[misc]
        self._roster = state["roster"]  # type: ignore[assignment]
        codes: list[list[int]] = state["codes"]  # type: ignore[assignment]
        parents: list[list[int]] = state["parents"]  # type: ignore[assignment]
        self._node_of = dict.fromkeys(self._roster)
        nodes = []
        for members in codes:
            filter = _filter_of(self._roster[members[0]], self.name)
            assert filter is not None
            node = self._nodes[filter] = FilterNode(filter)
            node.codes = dict.fromkeys(members)
            self._node_of |= dict.fromkeys(members, node)
            nodes.append(node)
        for node, above in zip(nodes, parents, strict=True):
            for place in above:
                nodes[place].link(node)
            if not above:
                self.order.roots[node] = None


def _filter_of(subscription: Subscription, engine: str) -> ConjunctiveFilter | None:
    return conjunction(conjuncts(subscription, engine))


def _depth(roots: Iterable[FilterNode]) -> int:
    depth = 0
    level = dict.fromkeys(roots)
    while level:
        depth += 1
        level = dict.fromkeys(child for node in level for child in node.children)
    return depth
