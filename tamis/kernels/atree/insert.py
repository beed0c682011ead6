"""Insertion into an A-Tree: chains are rearranged to reuse as many existing nodes as possible.

A chain is an associative function over several operands: `a AND b AND c`. Operands can be paired
freely, so dynamic programming over the spans of the chain finds the arrangement with the most nodes
in the tree already (thesis §3.6.2, Algorithm 6).

A span can only exist if both of its halves do. The thesis looks up every span at every split. Here
most lookups are skipped, as most spans of a new subscription have a part that is new.
"""

from __future__ import annotations

import numpy as np

from tamis.kernels.atree.node_store import (
    AND,
    ARENA_TOP,
    BLOCK,
    KIND,
    LEAF,
    LIVE,
    NAND,
    NOR,
    NOT,
    ROOT,
    SUBSCRIPTIONS,
    USES,
    WANTS_FALSE,
    XOR,
    Ints,
    TreeStore,
    append,
    find,
    function_of,
    new_leaf,
    new_node,
)
from tamis.kernels.atree.walk import children, nodes_of
from tamis.kernels.decorator import kernel

MAX_CHAIN = 32  # the time to arrange a chain grows with the cube of its length
WAYS = 3  # how many existing nodes of a span are tried


@kernel
def join(store: TreeStore, function: int, left: int, right: int) -> int:
    """Return the node of a commutative function over two nodes; create it if it is new."""
    if left > right:
        left, right = right, left
    node = find(store, function, left, right)
    return node if node >= 0 else new_node(store, function, left, right)


@kernel
def _arrange(store: TreeStore, function: int, operands: Ints, count: int) -> int:
    """Insert a chain of at most MAX_CHAIN operands, in ascending order; return its root."""
    costs = np.zeros((MAX_CHAIN, MAX_CHAIN), np.int32)
    splits = np.zeros((MAX_CHAIN, MAX_CHAIN), np.int32)
    # A span may exist in several ways, (ab)c and a(bc), and a longer one may use any of them.
    roots = np.full((MAX_CHAIN, MAX_CHAIN, WAYS), -1, np.int32)
    for i in range(count):
        roots[i, i, 0] = operands[i]
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            # From the right: among equal splits, the one with the longest left part wins, so that
            # chains with a common prefix share all of it.
            best, at = costs[i, j - 1] + 1, j - 1
            for k in range(j - 1, i - 1, -1):
                cost = costs[i, k] + costs[k + 1, j]
                if cost == 0:  # both halves exist
                    _find_ways(store, function, roots[i, k], roots[k + 1, j], roots[i, j])
                if cost + 1 < best:
                    best, at = cost + 1, k
            costs[i, j] = best if roots[i, j, 0] < 0 else 0
            splits[i, j] = at
    return _build(store, function, roots[:, :, 0].copy(), splits, count)


@kernel
def _find_ways(store: TreeStore, function: int, lefts: Ints, rights: Ints, ways: Ints) -> None:
    """Add the existing nodes over any of two halves to the nodes of a span."""
    known = 0
    while known < WAYS and ways[known] >= 0:
        known += 1
    for left in lefts:
        for right in rights:
            if left < 0 or right < 0 or known == WAYS:
                break
            node = find(store, function, min(left, right), max(left, right))
            if node >= 0:
                ways[known] = node
                known += 1


@kernel
def _build(store: TreeStore, function: int, roots: Ints, splits: Ints, count: int) -> int:
    """Create the missing nodes of an arrangement, each after its children; return the root."""
    spans = np.empty((2 * MAX_CHAIN, 2), np.int32)
    spans[0, 0], spans[0, 1] = 0, count - 1
    open_ = 1
    while open_ > 0:
        i, j = spans[open_ - 1, 0], spans[open_ - 1, 1]
        if roots[i, j] >= 0:
            open_ -= 1
            continue
        k = splits[i, j]
        left, right = roots[i, k], roots[k + 1, j]
        if left >= 0 and right >= 0:
            roots[i, j] = join(store, function, left, right)
            open_ -= 1
            continue
        if left < 0:
            spans[open_, 0], spans[open_, 1] = i, k
            open_ += 1
        if right < 0:
            spans[open_, 0], spans[open_, 1] = k + 1, j
            open_ += 1
    return roots[0, count - 1]


@kernel
def insert_chain(store: TreeStore, function: int, operands: Ints) -> int:
    """Insert a chain over one or more operands, in ascending order; return its root.

    A long chain is arranged piece by piece, and then the chain of the pieces.
    """
    current = operands.copy()
    count = len(current)
    while count > 1:
        pieces = 0
        for begin in range(0, count, MAX_CHAIN):
            size = min(MAX_CHAIN, count - begin)
            current[pieces] = _arrange(store, function, current[begin : begin + size], size)
            pieces += 1
        count = pieces
        current[:count].sort()
    return current[0]


# -- subscriptions --------------------------------------------------------------------------------


@kernel
def subscribe(store: TreeStore, root: int, subscription: int) -> None:
    """Add a subscription to its root, and count the use of every node below."""
    for node in nodes_of(store, root):
        store.nodes[node, USES] += 1
    store.subscriptions[subscription, ROOT] = root
    append(store, root, SUBSCRIPTIONS, subscription)


@kernel
def has_room(store: TreeStore, nodes: int, entries: int) -> bool:
    """Return whether this many nodes and list entries can be added without growing."""
    return store.counters[LIVE] + nodes <= len(store.nodes) and store.counters[
        ARENA_TOP
    ] + entries * BLOCK <= len(store.arena)


@kernel
def insert_flat(
    store: TreeStore, function: int, leaf_of: Ints, predicates: Ints, subscription: int
) -> None:
    """Insert an AND or OR of predicates; create the leaves that are missing."""
    leaves = np.empty(len(predicates), np.int32)
    for i in range(len(predicates)):
        if leaf_of[predicates[i]] < 0:
            leaf_of[predicates[i]] = new_leaf(store, predicates[i])
        leaves[i] = leaf_of[predicates[i]]
    subscribe(store, insert_chain(store, function, np.unique(leaves)), subscription)


@kernel
def insert_leaves(store: TreeStore, leaf_of: Ints, count: int) -> None:
    """Create the leaves of the first `count` predicates."""
    for predicate in range(count):
        leaf_of[predicate] = new_leaf(store, predicate)


@kernel
def insert_conjunctions(store: TreeStore, leaves: Ints, first: int, begin: int) -> int:
    """Insert conjunctions of leaves, one per row, as subscriptions `first + row`, from `begin` on.

    Returns:
        The first row that was not inserted; if there is one, the store must grow.
    """
    for row in range(begin, len(leaves)):
        if not has_room(store, leaves.shape[1], 2 * leaves.shape[1]):
            return row
        root = insert_chain(store, AND, np.unique(leaves[row]))
        subscribe(store, root, first + row)
    return len(leaves)


@kernel
def request_false(store: TreeStore, node: int) -> Ints:
    """Request that a node reports where it is certainly false.

    Returns:
        The leaves below it that did not report that before.
    """
    nodes = store.nodes
    leaves, count = np.empty(16, np.int32), 0
    stack, open_ = np.empty(64, np.int32), 1
    stack[0] = node
    while open_ > 0:
        open_ -= 1
        current = stack[open_]
        if nodes[current, KIND] & WANTS_FALSE:
            continue
        nodes[current, KIND] |= WANTS_FALSE
        function = function_of(nodes[current, KIND])
        if function == LEAF:
            if count == len(leaves):
                larger = np.empty(2 * count, np.int32)
                larger[:count] = leaves
                leaves = larger
            leaves[count] = current
            count += 1
        # XOR, NOT, NAND and NOR requested it from their children when they were created.
        elif not (function == XOR or function == NOT or function == NAND or function == NOR):
            left, right = children(store, current)
            if open_ + 2 > len(stack):
                larger = np.empty(2 * len(stack), np.int32)
                larger[:open_] = stack[:open_]
                stack = larger
            if left >= 0:
                stack[open_] = left
                open_ += 1
            if right >= 0:
                stack[open_] = right
                open_ += 1
    return leaves[:count]
