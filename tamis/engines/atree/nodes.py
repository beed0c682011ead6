"""The nodes of an A-Tree in growing arrays: leaves, capacity, and inspection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engines.array_growth import extend_array
from tamis.engines.atree.plan import FunctionSpec
from tamis.errors import TamisError, UnsupportedExpression
from tamis.kernels.atree import insert, node_store, walk
from tamis.kernels.atree.node_store import (
    BLOCK,
    COUNTERS,
    FIELDS,
    FIRST_MADE,
    FREE_NODE,
    KIND,
    LEFT,
    LIVE,
    MAX_NODES,
    RIGHT,
    ROOT,
    TOP,
    TreeStore,
)

MAX_LEVEL = node_store.LEVEL_MASK
_MAX_LOAD = 0.8  # maximum load of the hash table of nodes


class Nodes:
    """The nodes of an A-Tree.

    Attributes:
        store: The arrays, for kernels.
        true_leaf: By predicate, the leaf that is true where the predicate holds, or -1.
        false_leaf: By predicate, the leaf that is false where the predicate holds, or -1.
        labels: By node, what it represents, where the plan has a label.
    """

    def __init__(self) -> None:
        """Create empty arrays."""
        self.store = TreeStore(
            nodes=np.zeros((64, FIELDS), np.int32),
            slots=np.zeros(128, np.uint32),
            arena=np.zeros(BLOCK, np.int32),
            counters=np.zeros(COUNTERS, np.int64),
            levels=np.zeros(32, np.int64),
            functions=np.zeros((FIRST_MADE, 3), np.int32),
            subscriptions=np.zeros((64, 2), np.int32),
        )
        self.store.counters[FREE_NODE] = -1
        self.store.counters[node_store.ARENA_TOP] = 1  # 0 means none
        self.true_leaf = np.full(64, -1, np.int32)
        self.false_leaf = np.full(64, -1, np.int32)
        self.labels: dict[int, object] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the arrays: pickle may lend buffers that cannot grow."""
        self.__dict__.update(state)
        self.store = TreeStore._make(array.copy() for array in self.store)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return int(self.store.counters[LIVE])

    @property
    def highest(self) -> int:
        """The highest level: 1 if there are only leaves, 0 if the tree is empty."""
        # No level below the highest is empty (Corollary 1), and `levels` has one entry more than
        # needed.
        return int(np.argmin(self.store.levels[1:] > 0))

    @property
    def populations(self) -> list[int]:
        """The number of nodes at each level, from 1."""
        populations: list[int] = self.store.levels[1 : self.highest + 1].tolist()
        return populations

    @property
    def bytes(self) -> int:
        """The memory of all arrays in bytes, including reserved room."""
        return sum(a.nbytes for a in (*self.store, self.true_leaf, self.false_leaf))

    # -- leaves and functions ---------------------------------------------------------------------

    def leaf(self, predicate: int) -> int:
        """Return the leaf of a predicate; create it if missing, in room from `reserve_leaves`."""
        self._reserve_leaves(predicate)
        node = int(self.true_leaf[predicate])
        if node < 0:
            node = self.true_leaf[predicate] = node_store.new_leaf(self.store, predicate)
        return int(node)

    def has_leaf(self, predicate: int) -> bool:
        """Return whether a predicate has a leaf."""
        return predicate < len(self.true_leaf) and self.true_leaf[predicate] >= 0

    def set_false_predicate(self, leaf: int, negated: int) -> None:
        """Set the predicate that holds where a leaf is false."""
        self._reserve_leaves(negated)
        self.store.nodes[leaf, RIGHT] = negated
        self.false_leaf[negated] = leaf

    def describe(self, function: int, spec: FunctionSpec) -> None:
        """Store the description of a function."""
        if function >= len(self.store.functions):
            functions = extend_array(self.store.functions, 2 * function, 0)
            self.store = self.store._replace(functions=functions)
        self.store.functions[function] = spec

    # -- capacity ---------------------------------------------------------------------------------

    def reserve_leaves(self, count: int) -> None:
        """Reserve room for `count` more leaves."""
        self._reserve(count, 0)

    def _reserve(self, nodes: int, entries: int, subscriptions: int = 0, depth: int = 1) -> None:
        """Reserve room.

        Args:
            nodes: The number of additional nodes.
            entries: The number of additional list entries: parents and subscriptions.
            subscriptions: One more than the highest subscription number.
            depth: The number of levels.
        """
        self._reserve_levels(depth)
        if subscriptions > len(self.store.subscriptions):
            size = max(subscriptions, _grown_length(self.store.subscriptions))
            self.store.subscriptions.resize((size, 2), refcheck=False)
        if insert.has_room(self.store, nodes, entries):
            return
        # Arrays are resized in place, in small steps: at tens of millions of nodes a copy would
        # double the memory for a moment, and reserved room counts too.
        self._reserve_nodes(len(self) + nodes)
        arena = self.store.arena
        needed = int(self.store.counters[node_store.ARENA_TOP]) + entries * BLOCK
        if needed > len(arena):
            arena.resize(max(needed, _grown_length(arena)), refcheck=False)

    def _reserve_levels(self, depth: int) -> None:
        if depth > MAX_LEVEL:
            raise UnsupportedExpression(f"more than {MAX_LEVEL:,} levels of nodes", "atree")
        if depth + 2 > len(self.store.levels):
            levels = extend_array(self.store.levels, 2 * (depth + 2), 0)
            self.store = self.store._replace(levels=levels)

    def _reserve_nodes(self, count: int) -> None:
        if count <= len(self.store.nodes):
            return
        if count > MAX_NODES:
            raise TamisError(f"an A-Tree has at most {MAX_NODES:,} nodes")
        size = min(max(count, _grown_length(self.store.nodes)), MAX_NODES)
        self.store.nodes.resize((size, FIELDS), refcheck=False)
        if size > _MAX_LOAD * len(self.store.slots):
            self._rehash(int(1.15 * size / _MAX_LOAD))

    def _rehash(self, size: int) -> None:
        """Replace the hash table; free the old one first, as the nodes hold all its information.

        No caller may hold a reference to the store, or the old table stays in memory.
        """
        self.store = self.store._replace(slots=np.zeros(0, np.uint32))
        self.store = self.store._replace(slots=np.zeros(size, np.uint32))
        node_store.enter_all(self.store)

    def _reserve_leaves(self, predicate: int) -> None:
        if predicate >= len(self.true_leaf):
            size = max(predicate + 1, 2 * len(self.true_leaf))
            self.true_leaf = extend_array(self.true_leaf, size, -1)
            self.false_leaf = extend_array(self.false_leaf, size, -1)

    # -- introspection ----------------------------------------------------------------------------

    def nodes(self) -> Iterator[int]:
        """Iterate over all nodes by number."""
        kinds = self.store.nodes[: self.store.counters[TOP], KIND]
        functions = kinds & node_store.FUNCTION_MASK
        yield from np.flatnonzero(functions != node_store.FREE).tolist()

    def function_of(self, node: int) -> int:
        """Return the function of a node."""
        return int(self.store.nodes[node, KIND]) & node_store.FUNCTION_MASK

    def function_parts(self, node: int) -> tuple[int, int, int]:
        """Return the function of a node as operator, k and n."""
        function = self.function_of(node)
        if function < FIRST_MADE:
            return function, 0, 0
        operator, k, n = self.store.functions[function].tolist()
        return operator, k, n

    def level(self, node: int) -> int:
        """Return the level of a node (Equation 3.1): 1 for leaves."""
        return int(node_store.level_of(self.store.nodes[node, KIND]))

    def uses(self, node: int) -> int:
        """Return how many subscriptions use a node."""
        return int(self.store.nodes[node, node_store.USES])

    def children(self, node: int) -> list[int]:
        """Return the children of a node: two, one (for example of NOT), or none."""
        return [int(c) for c in walk.children(self.store, node) if c >= 0]

    def parents(self, node: int) -> list[int]:
        """Return the parents of a node; a parent whose operands are both this node occurs twice."""
        entries = node_store.entries(self.store, node, node_store.PARENTS)
        return [entry >> 2 for entry in entries.tolist()]

    def subscriptions(self, node: int) -> list[int]:
        """Return the subscriptions that have a node as their root."""
        codes: list[int] = node_store.entries(self.store, node, node_store.SUBSCRIPTIONS).tolist()
        return codes

    def predicate(self, leaf: int) -> int:
        """Return the predicate of a leaf."""
        return int(self.store.nodes[leaf, LEFT])

    def root(self, subscription: int) -> int:
        """Return the root of a subscription."""
        return int(self.store.subscriptions[subscription, ROOT])

    def subtree(self, node: int) -> list[int]:
        """Return a node and all nodes below it."""
        nodes: list[int] = walk.nodes_of(self.store, node).tolist()
        return nodes


def _grown_length(array: NDArray[np.int32]) -> int:
    """Return the new length of an array: half as long again, or a sixteenth more if it is large."""
    return len(array) + max(len(array) // 16, min(len(array) // 2, 4096))
