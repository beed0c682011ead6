"""A forest of filters (Tarkoma and Kangasharju, Distributed Computing 19(1), 2006).

The poset with one parent left to each filter: a filter stands below one of those that cover it, and
no filter covers one that stands beside it. So there is one way down to follow when a filter is
inserted, and nothing to look for but what it covers among those beside it. Where several would take
it, it goes to the one that has the fewest below, which keeps the trees in balance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import EventValues, FilterNode, related_nodes


class Forest:
    """Filters, each below one that covers it.

    Attributes:
        roots: Those that nothing covers.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.roots: dict[FilterNode, None] = {}

    def insert(self, node: FilterNode) -> FilterNode:
        """Put a node where it belongs; instead, give back one that is there and means the same."""
        return self._attach(node, None)

    def remove(self, node: FilterNode) -> None:
        """Take a node out, and find places for what it covered."""
        (parent,) = node.parents or (None,)
        self._drop(parent, node)
        for child in list(node.children):
            node.unlink(child)
            self._attach(child, parent)

    def publish(self, event: EventValues) -> Iterator[FilterNode]:
        """The nodes that an event satisfies: below each of them, those that it covers are tried."""
        absent = event.absent
        pending = [root for root in self.roots if not root.needs & absent]
        while pending:
            node = pending.pop()
            if event.satisfies(node):
                yield node
                pending += node.children

    def _attach(self, node: FilterNode, parent: FilterNode | None) -> FilterNode:
        """Put a node, and all that is below it, below another one or below what that covers."""
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
                # Not right below it: what came with it may cover, or be covered by, the newcomer.
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
        """Begin with no subscriptions."""
        super().__init__(Forest())
