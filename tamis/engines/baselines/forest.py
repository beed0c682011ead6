"""A forest of filters (Tarkoma and Kangasharju, Distributed Computing 19(1), 2006).

The forest is the poset with only one parent per filter: a filter is below one of those that cover
it, and no filter covers a sibling. So an insertion follows a single path down, and then only
searches the siblings for filters that the new one covers. If several siblings cover the new filter,
it goes below the one with the fewest children, which keeps the trees balanced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import EventValues, FilterNode, related_nodes


class Forest:
    """Filters, each below one that covers it.

    Attributes:
        roots: The filters that no other filter covers.
    """

    def __init__(self) -> None:
        """Create an empty forest."""
        self.roots: dict[FilterNode, None] = {}

    def insert(self, node: FilterNode) -> FilterNode:
        """Insert a node and return it; if an equivalent node exists, return that instead."""
        return self._attach(node, None)

    def remove(self, node: FilterNode) -> None:
        """Remove a node and insert its children elsewhere."""
        (parent,) = node.parents or (None,)
        self._drop(parent, node)
        for child in list(node.children):
            node.unlink(child)
            self._attach(child, parent)

    def publish(self, event: EventValues) -> Iterator[FilterNode]:
        """Iterate over the nodes that an event satisfies; the children of each are tested too."""
        absent = event.absent
        pending = [root for root in self.roots if not root.needs & absent]
        while pending:
            node = pending.pop()
            if event.satisfies(node):
                yield node
                pending += node.children

    def _attach(self, node: FilterNode, parent: FilterNode | None) -> FilterNode:
        """Insert a node and its subtree below a parent, or below a descendant that covers it."""
        pending = [(node, parent)]
        while pending:
            moved, parent = pending.pop()
            while True:
                beside = related_nodes(self.roots if parent is None else parent.children, moved)
                covering = [each for each in beside if each.covers(moved)]
                if not covering:
                    break
                parent = min(covering, key=_population)
                if moved.covers(parent):
                    return parent
            for each in [each for each in beside if moved.covers(each)]:
                self._drop(parent, each)
                # Not directly below: nodes of its subtree may cover the new one or be covered by
                # it.
                pending.append((each, moved))
            if parent is None:
                self.roots[moved] = None
            else:
                parent.link(moved)
        return node

    def _drop(self, parent: FilterNode | None, node: FilterNode) -> None:
        if parent is None:
            del self.roots[node]
        else:
            parent.unlink(node)


def _population(node: FilterNode) -> int:
    return len(node.children)


class ForestEngine(FilterEngine):
    """Subscriptions in a forest."""

    name: ClassVar[str] = "forest"

    def __init__(self) -> None:
        """Create an engine without subscriptions."""
        super().__init__(Forest())
