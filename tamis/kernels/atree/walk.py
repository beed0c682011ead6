"""Walk down an A-Tree: used by insertion, deletion, priorities and statistics."""

from __future__ import annotations

import numpy as np

from tamis.kernels.atree.node_store import (
    KIND,
    LEAF,
    LEFT,
    RIGHT,
    SEEN,
    VALUE,
    Ints,
    TreeStore,
    function_of,
)
from tamis.kernels.decorator import kernel


@kernel
def children(store: TreeStore, node: int) -> tuple[int, int]:
    """Return the children of a node, -1 where there is none."""
    function = function_of(store.nodes[node, KIND])
    if function == LEAF or function == VALUE:
        return -1, -1
    return store.nodes[node, LEFT], store.nodes[node, RIGHT]


@kernel
def nodes_of(store: TreeStore, root: int) -> Ints:
    """Return the nodes at and below a root, each once, in breadth-first order."""
    nodes = store.nodes
    found, seen, done = np.empty(64, np.int32), 1, 0
    found[0] = root
    nodes[root, KIND] |= SEEN
    while done < seen:
        left, right = children(store, found[done])
        done += 1
        if seen + 2 > len(found):
            larger = np.empty(2 * len(found), np.int32)
            larger[:seen] = found[:seen]
            found = larger
        if left >= 0 and nodes[left, KIND] & SEEN == 0:
            nodes[left, KIND] |= SEEN
            found[seen] = left
            seen += 1
        if right >= 0 and nodes[right, KIND] & SEEN == 0:
            nodes[right, KIND] |= SEEN
            found[seen] = right
            seen += 1
    for i in range(seen):
        nodes[found[i], KIND] &= ~SEEN
    return found[:seen]
