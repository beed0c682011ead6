"""Gryphon's parallel search tree: a test per node, an edge per value, and a don't-care edge.

The nodes on a path from the root test attributes of increasing number. A node tests the first
attribute that any subscription below it tests, so no node has only a don't-care edge. A
subscription is at the node that the edge of its last value leads to. The edges by value are in one
open-addressing hash table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array

Ints = NDArray[np.int32]
Places = NDArray[np.int64]

NO = -1  # no node, no attribute, no subscription
_STAR = -1  # the don't-care edge, in place of the number of a value
ROOT, FREE, HIGHEST, NODES, EDGES = range(5)  # in `SearchTree.numbers`
_MIX = np.uint64(0x9E3779B97F4A7C15)


class SearchTree(NamedTuple):
    """A search tree.

    Attributes:
        attributes: By node, the attribute that it tests; NO for a leaf.
        stars: By node, the target of its don't-care edge. No subscription is at that target; it is
            at the node above.
        heads: By node, the first of its subscriptions.
        degrees: By node, how many values it has edges for.
        keys: By slot, a node and a value; NO if it is free.
        targets: By slot, the node that the edge leads to.
        links: By subscription, the next and the previous one at its node.
        numbers: The root, the first free node, one more than the highest node, and the numbers of
            nodes and edges.
    """

    attributes: Ints
    stars: Ints
    heads: Ints
    degrees: Ints
    keys: Places
    targets: Ints
    links: Ints
    numbers: Places


@kernel
def _home(tree: SearchTree, key: int) -> int:
    mixed = np.uint64(key) * _MIX
    return np.int64((mixed >> np.uint64(20)) & np.uint64(len(tree.keys) - 1))  # type: ignore[return-value]


@kernel
def _slot(tree: SearchTree, node: int, value: int) -> int:
    """Return the slot of an edge, or the one where it would go."""
    key = (node << 32) | value
    at = _home(tree, key)
    while tree.keys[at] != NO and tree.keys[at] != key:
        at = (at + 1) & (len(tree.keys) - 1)
    return at


@kernel
def _put_edge(tree: SearchTree, node: int, value: int, target: int) -> None:
    at = _slot(tree, node, value)
    tree.keys[at] = (node << 32) | value
    tree.targets[at] = target


@kernel
def _drop_edge(tree: SearchTree, node: int, value: int) -> None:
    """Free a slot, and close the gap so that no search ends early."""
    mask = len(tree.keys) - 1
    hole = _slot(tree, node, value)
    at = hole
    while True:
        at = (at + 1) & mask
        if tree.keys[at] == NO:
            break
        if ((at - _home(tree, tree.keys[at])) & mask) >= ((at - hole) & mask):
            tree.keys[hole] = tree.keys[at]
            tree.targets[hole] = tree.targets[at]
            hole = at
    tree.keys[hole] = NO


@kernel
def rehash(old: SearchTree, new: SearchTree) -> None:
    """Insert the edges of a tree into the table of another."""
    for slot in range(len(old.keys)):
        if old.keys[slot] != NO:
            key = old.keys[slot]
            _put_edge(new, key >> 32, key & 0xFFFFFFFF, old.targets[slot])


@kernel
def _new_node(tree: SearchTree) -> int:
    node = tree.numbers[FREE]
    if node == NO:
        node = tree.numbers[HIGHEST]
        tree.numbers[HIGHEST] = node + 1
    else:
        tree.numbers[FREE] = tree.stars[node]
    tree.attributes[node] = tree.stars[node] = tree.heads[node] = NO
    tree.degrees[node] = 0
    tree.numbers[NODES] += 1
    return node


@kernel
def _free_node(tree: SearchTree, node: int) -> None:
    tree.attributes[node] = NO
    tree.stars[node] = tree.numbers[FREE]
    tree.numbers[FREE] = node
    tree.numbers[NODES] -= 1


@kernel
def _redirect_edge(tree: SearchTree, above: int, value: int, target: int) -> None:
    """Change the target of an edge; with no node above, change the root."""
    if above == NO:
        tree.numbers[ROOT] = target
    elif value == _STAR:
        tree.stars[above] = target
    else:
        _put_edge(tree, above, value, target)


@kernel
def insert(tree: SearchTree, attributes: Ints, values: Ints, code: int) -> None:
    """Insert a subscription: attributes in increasing order, and the value that each must have.

    The tree must have room for two nodes and an edge per attribute.
    """
    at, above, via = tree.numbers[ROOT], NO, _STAR
    i = 0
    while i < len(attributes):
        tested = tree.attributes[at]
        if tested == NO:
            tree.attributes[at] = tested = attributes[i]
        if tested == attributes[i]:
            slot = _slot(tree, at, values[i])
            if tree.keys[slot] == NO:
                _put_edge(tree, at, values[i], _new_node(tree))
                tree.degrees[at] += 1
                tree.numbers[EDGES] += 1
            above, via, at = at, values[i], tree.targets[slot]
            i += 1
        elif tested < attributes[i]:
            if tree.stars[at] == NO:
                tree.stars[at] = _new_node(tree)
            above, via, at = at, _STAR, tree.stars[at]
        else:
            fresh = _new_node(tree)
            tree.attributes[fresh] = attributes[i]
            tree.stars[fresh] = at
            tree.heads[fresh] = tree.heads[at]
            tree.heads[at] = NO
            _redirect_edge(tree, above, via, fresh)
            at = fresh
    head = tree.heads[at]
    tree.links[code, 0], tree.links[code, 1] = head, NO
    if head != NO:
        tree.links[head, 1] = code
    tree.heads[at] = code


@kernel
def remove(tree: SearchTree, attributes: Ints, values: Ints, code: int, deepest: int) -> None:
    """Remove a subscription that was inserted with these arguments, and the nodes it leaves unused.

    No path from the root is longer than `deepest`.
    """
    nodes, ways = np.empty(deepest + 1, np.int32), np.empty(deepest + 1, np.int32)
    depth = 0
    nodes[0], ways[0] = tree.numbers[ROOT], _STAR
    i = 0
    while i < len(attributes):
        at = nodes[depth]
        depth += 1
        if tree.attributes[at] == attributes[i]:
            ways[depth] = values[i]
            nodes[depth] = tree.targets[_slot(tree, at, values[i])]
            i += 1
        else:
            ways[depth] = _STAR
            nodes[depth] = tree.stars[at]
    after, before = tree.links[code, 0], tree.links[code, 1]
    if before == NO:
        tree.heads[nodes[depth]] = after
    else:
        tree.links[before, 0] = after
    if after != NO:
        tree.links[after, 1] = before
    while True:
        at, above = nodes[depth], nodes[depth - 1] if depth > 0 else NO
        if tree.degrees[at] > 0:
            return
        star = tree.stars[at]
        if star != NO:  # no subscription below tests its attribute
            tree.heads[star] = tree.heads[at]
            _redirect_edge(tree, above, ways[depth], star)
            _free_node(tree, at)
            return
        tree.attributes[at] = NO
        if tree.heads[at] != NO or above == NO:
            return
        if ways[depth] == _STAR:
            tree.stars[above] = NO
        else:
            _drop_edge(tree, above, ways[depth])
            tree.degrees[above] -= 1
            tree.numbers[EDGES] -= 1
        _free_node(tree, at)
        depth -= 1


@kernel
def search(
    tree: SearchTree,
    attribute_of: Ints,
    deepest: int,
    offsets: Places,
    satisfied: Ints,
) -> tuple[Ints, Places]:
    """Find the subscriptions that each event satisfies, given its values.

    White-hot. At each node, both the edge of the event's value and the don't-care edge are
    followed.

    Returns:
        The subscriptions, and by event where its subscriptions end.
    """
    ends = np.empty(len(offsets) - 1, np.int64)
    out = np.empty(1024, np.int32)
    size = 0
    value_of = np.full(deepest + 1, NO, np.int32)
    pending = np.empty(deepest + 2, np.int32)
    for event in range(len(offsets) - 1):
        values = satisfied[offsets[event] : offsets[event + 1]]
        for value in values:
            value_of[attribute_of[value]] = value
        pending[0] = tree.numbers[ROOT]
        count = 1
        while count > 0:
            count -= 1
            at = pending[count]
            code = tree.heads[at]
            while code != NO:
                if size == len(out):
                    out = grow_array(out)
                out[size] = code
                size += 1
                code = tree.links[code, 0]
            tested = tree.attributes[at]
            if tested == NO:
                continue
            if tree.stars[at] != NO:
                pending[count] = tree.stars[at]
                count += 1
            if value_of[tested] != NO:
                slot = _slot(tree, at, value_of[tested])
                if tree.keys[slot] != NO:
                    pending[count] = tree.targets[slot]
                    count += 1
        for value in values:
            value_of[attribute_of[value]] = NO
        ends[event] = size
    return out[:size], ends
