"""The priorities of subscriptions and of nodes (thesis §4.1).

While all priorities are equal, nodes have none, and this module adds no cost.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engines.atree.tree import Tree
from tamis.kernels.atree.node_store import Ints
from tamis.kernels.atree.priorities import (
    NO_PRIORITY,
    TreePriorities,
    fill_priorities,
    lower_priorities,
    nodes_by_level,
    raise_priorities,
)

GROUPS = 64
Array = NDArray[np.int64]


class Priorities:
    """The priorities of an A-Tree."""

    def __init__(self, tree: Tree) -> None:
        """Start without subscriptions."""
        self._tree = tree
        self._of_subscriptions: Array = np.zeros(64, np.int64)
        self._of_nodes: Array | None = None
        self._counts: Counter[int] = Counter()
        self._leaving: tuple[Ints, int] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the arrays: pickle may lend buffers that cannot grow."""
        self.__dict__.update(state)
        self._of_subscriptions = self._of_subscriptions.copy()

    @property
    def has_several(self) -> bool:
        """Whether there is more than one priority."""
        return len(self._counts) > 1

    @property
    def bytes(self) -> int:
        """The memory of all arrays, in bytes."""
        nodes = 0 if self._of_nodes is None else self._of_nodes.nbytes
        return self._of_subscriptions.nbytes + nodes

    def subscription_priorities(self, subscriptions: NDArray[np.int64]) -> Array:
        """Return the priorities of some subscriptions."""
        return self._of_subscriptions[subscriptions]

    def node_priority(self, node: int) -> int:
        """Return the priority of a node: the highest of the subscriptions that use it."""
        if self._of_nodes is None:
            (priority,) = self._counts
            return priority
        return int(self._of_nodes[node])

    def add(self, subscription: int, priority: int) -> None:
        """Record the priority of a subscription that is already in the tree."""
        if subscription >= len(self._of_subscriptions):
            size = max(subscription + 1, len(self._of_subscriptions) * 5 // 4)
            self._of_subscriptions.resize(size, refcheck=False)
        self._of_subscriptions[subscription] = priority
        self._counts[priority] += 1
        if self.has_several or self._of_nodes is not None:
            root = self._tree.root(subscription)
            raise_priorities(self._tree.store, self._grow(), root, priority)

    def remove(self, subscription: int) -> None:
        """Prepare the removal of a subscription from the tree; call `finish_removal` after it."""
        priority = int(self._of_subscriptions[subscription])
        self._counts[priority] -= 1
        if not self._counts[priority]:
            del self._counts[priority]
        if self._of_nodes is not None:
            used = nodes_by_level(self._tree.store, self._tree.root(subscription))
            self._leaving = used, priority

    def finish_removal(self) -> None:
        """Update the nodes that the removed subscription used."""
        if self._leaving is None or self._of_nodes is None:
            return
        used, priority = self._leaving
        store = self._tree.store
        lower_priorities(store, self._of_nodes, self._of_subscriptions, used, priority)
        self._leaving = None

    def arrays(self) -> TreePriorities:
        """Return the priorities by node, by subscription, and the least per group, descending."""
        distinct = np.array(sorted(self._counts, reverse=True), np.int64)
        if len(distinct) > GROUPS:
            ends = np.linspace(0, len(distinct), GROUPS + 1).astype(int)[1:] - 1
            distinct = distinct[ends]
        assert self._of_nodes is not None  # since there are several
        return TreePriorities(self._of_nodes, self._of_subscriptions, distinct)

    def _grow(self) -> Array:
        """Return the priorities of nodes, one per node; compute all of them on first use."""
        size = len(self._tree.store.nodes)
        priorities = self._of_nodes
        if priorities is not None and len(priorities) >= size:
            return priorities
        grown = np.full(size, NO_PRIORITY, np.int64)
        if priorities is None:
            fill_priorities(self._tree.store, grown, self._of_subscriptions)
        else:
            grown[: len(priorities)] = priorities
        self._of_nodes = grown
        return grown
