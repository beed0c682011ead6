"""Siena's poset of subscriptions (Carzaniga, Rosenblum, Wolf: TOCS 19(3), 2001, §4.2).

Every filter is linked to the filters directly above, which cover it, and to those directly below:
the edges are the transitive reduction of covering. An event is compared with the roots, and with
the children of a filter only if it satisfies the filter. Inserting a filter means finding its
parents and children. In the worst case, where no filter covers another, this visits all filters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import EventValues, FilterNode, related_nodes


class FilterPoset:
    """Filters, each linked to all its neighbours.

    Attributes:
        roots: The filters that no other filter covers.
    """

    def __init__(self) -> None:
        """Create an empty poset."""
        self.roots: dict[FilterNode, None] = {}

    def insert(self, node: FilterNode) -> FilterNode:
        """Insert a node and return it; if an equivalent node exists, return that instead."""
        near = related_nodes(self.roots, node)
        above = self._direct_parents(node, near)
        for parent in above:
            if node.covers(parent):
                return parent
        below = self._direct_children(node, above, near)
        for parent in above:
            for child in below:
                parent.unlink(child)
            parent.link(node)
        for child in below:
            self.roots.pop(child, None)
            node.link(child)
        if not above:
            self.roots[node] = None
        return node

    def remove(self, node: FilterNode) -> None:
        """Remove a node and link its parents to its children."""
        above, below = list(node.parents), list(node.children)
        for parent in above:
            parent.unlink(node)
        for child in below:
            node.unlink(child)
            others = list(child.parents)
            for parent in above:
                # Another path may connect the two.
                if not any(parent.covers(other) for other in others):
                    parent.link(child)
            if not child.parents:
                self.roots[child] = None
        self.roots.pop(node, None)

    def publish(self, event: EventValues) -> Iterator[FilterNode]:
        """Iterate over the nodes that an event satisfies; the children of each are tested too."""
        absent = event.absent
        seen: set[FilterNode] = set()
        pending = [root for root in self.roots if not root.needs & absent]
        while pending:
            node = pending.pop()
            if event.satisfies(node):
                yield node
                for child in node.children:
                    if child not in seen:
                        seen.add(child)
                        pending.append(child)

    def _direct_parents(self, node: FilterNode, roots: list[FilterNode]) -> list[FilterNode]:
        """Return the nodes that cover a node and have no child that covers it."""
        nearest = []
        pending = [root for root in roots if root.covers(node)]
        seen = set(pending)
        while pending:
            at = pending.pop()
            nearer = [child for child in at.children if child.covers(node)]
            if not nearer:
                nearest.append(at)
            for child in nearer:
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
        return nearest

    def _direct_children(
        self, node: FilterNode, above: list[FilterNode], roots: list[FilterNode]
    ) -> list[FilterNode]:
        """Return the nodes that a node covers and that no other node it covers is above."""
        # Every node that it covers is below all nodes that cover it.
        level: Iterable[FilterNode] = self.roots
        if above:
            level = min(above, key=lambda parent: len(parent.children)).children
            roots = related_nodes(level, node)
        covered = {each: None for each in roots if node.covers(each)}
        seen: set[FilterNode] = set()
        while inner := [each for each in level if each.children and each not in covered]:
            level = dict.fromkeys(c for each in inner for c in each.children if c not in seen)
            seen.update(level)
            covered |= {each: None for each in related_nodes(level, node) if node.covers(each)}
        # A node may have been reached on a path that bypasses another covered node above it.
        return [each for each in covered if not any(node.covers(up) for up in each.parents)]


class SienaEngine(FilterEngine):
    """Subscriptions in a poset."""

    name: ClassVar[str] = "siena"

    def __init__(self) -> None:
        """Create an engine without subscriptions."""
        super().__init__(FilterPoset())
