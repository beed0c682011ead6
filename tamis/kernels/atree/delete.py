"""Deletion from an A-Tree (thesis §3.6.1, Algorithms 4 and 5).

A subscription counts once at every node that it uses, however many paths lead there. Insertion and
deletion both walk with `nodes_of`, so that their counts agree.
"""

from __future__ import annotations

import numpy as np

from tamis.kernels.atree.node_store import (
    FIRST_MADE,
    KIND,
    LEAF,
    LEFT,
    LEFT_PLACE,
    PARENTS,
    PLACE,
    RIGHT,
    RIGHT_PLACE,
    ROOT,
    SUBSCRIPTIONS,
    USES,
    VALUE,
    Ints,
    TreeStore,
    drop,
    free_node,
    function_of,
)
from tamis.kernels.atree.walk import children, nodes_of
from tamis.kernels.decorator import kernel


@kernel
def delete(store: TreeStore, subscription: int) -> Ints:
    """Delete a subscription and every node that only it used.

    Returns:
        The deleted nodes that the caller keeps track of (leaves, values, and functions made as
        needed), four numbers each: node, function, LEFT and RIGHT.
    """
    nodes = store.nodes
    root = store.subscriptions[subscription, ROOT]
    drop(store, root, SUBSCRIPTIONS, store.subscriptions[subscription, PLACE])
    used = nodes_of(store, root)
    gone = 0
    for node in used:
        nodes[node, USES] -= 1
        if nodes[node, USES] == 0:
            function = function_of(nodes[node, KIND])
            if function == LEAF or function == VALUE or function >= FIRST_MADE:
                gone += 1
    noted, gone = np.empty((gone, 4), np.int32), 0
    for node in used:
        if nodes[node, USES] > 0:
            continue
        function = function_of(nodes[node, KIND])
        if function == LEAF or function == VALUE or function >= FIRST_MADE:
            noted[gone, 0] = node
            noted[gone, 1] = function
            noted[gone, 2] = nodes[node, LEFT]
            noted[gone, 3] = nodes[node, RIGHT]
            gone += 1
        left, right = children(store, node)
        # A child that is deleted too loses its whole list.
        if left >= 0 and nodes[left, USES] > 0:
            drop(store, left, PARENTS, nodes[node, LEFT_PLACE])
        if right >= 0 and nodes[right, USES] > 0:
            drop(store, right, PARENTS, nodes[node, RIGHT_PLACE])
    for node in used:
        if nodes[node, USES] == 0:
            free_node(store, node)
    return noted


@kernel
def delete_many(store: TreeStore, subscriptions: Ints) -> Ints:
    """Delete many subscriptions; return the deleted nodes, as `delete` does."""
    noted, gone = np.empty((64, 4), np.int32), 0
    for subscription in subscriptions:
        deleted = delete(store, subscription)
        while gone + len(deleted) > len(noted):
            larger = np.empty((2 * len(noted), 4), np.int32)
            larger[:gone] = noted[:gone]
            noted = larger
        noted[gone : gone + len(deleted)] = deleted
        gone += len(deleted)
    return noted[:gone]
