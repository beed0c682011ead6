"""Siena's poset of subscriptions (Carzaniga, Rosenblum, Wolf: TOCS 19(3), 2001, §4.2).

Every filter is linked with those next above it, which cover it, and with those next below: the
edges are the transitive reduction of covering. An event is compared with the roots, and below a
filter only if it satisfies it. To insert a filter is to look for both its neighbourhoods, for which
in the worst case, where nothing covers anything, all others are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from tamis.engines.baselines.filter_engine import FilterEngine
from tamis.engines.baselines.filter_node import EventValues, FilterNode, related_nodes


class FilterPoset:
    """Filters, each with all its neighbours.

    Attributes:
        roots: Those that nothing covers.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.roots: dict[FilterNode, None] = {}

    def insert(self, node: FilterNode) -> FilterNode:
        """Put a node where it belongs; instead, give back one that is there and means the same."""
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
        """Take a node out, and close the gap."""
        above, below = list(node.parents), list(node.children)
        for parent in above:
            parent.unlink(node)
        for child in below:
            node.unlink(child)
            others = list(child.parents)
            for parent in above:
                # There may be another way from the one to the other.
                if not any(parent.covers(other) for other in others):
                    parent.link(child)
            if not child.parents:
                self.roots[child] = None
        self.roots.pop(node, None)

    def publish(self, event: EventValues) -> Iterator[FilterNode]:
        """The nodes that an event satisfies: below each of them, those that it covers are tried."""
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
        """What covers a node, and does not cover anything else that covers it."""
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
        """What a node covers, and nothing else that it covers does."""
        # Whatever it covers stands below everything that covers it.
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
        # One may have been reached on a way around another that covers it.
        return [each for each in covered if not any(node.covers(up) for up in each.parents)]


class SienaEngine(FilterEngine):
    """Subscriptions in a poset."""

    name: ClassVar[str] = "siena"

    def __init__(self) -> None:
        """Begin with no subscriptions."""
        super().__init__(FilterPoset())
