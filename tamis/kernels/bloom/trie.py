"""The trie behind the bftree and the sbstree: children in sorted arrays, in one pool.

A node has a key, and its children are a block of the pool, ascending by key. A full block is
replaced by one of twice the size, and free blocks are in lists by size. A node of a bftree also has
a block with the bits of its part. Every node has a list of addresses.

An insertion changes nothing unless there is room for all of it; else the caller makes room and
retries (`has_room`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Ints = NDArray[np.int32]

# The fields of a node; -1 is "none".
KEY, PARENT, START, SIZE, CLASS, ENTRY, BITS, LENGTH, BITS_CLASS = range(9)
FIELDS = 9

# The fields of an entry.
ADDRESS, NEXT, BEFORE = range(3)
ENTRY_FIELDS = 3

# The fields of the header: how much of each array is used, what is free in it, the largest block.
NODES, FREE_NODE, POOL, ENTRIES, FREE_ENTRY, LARGEST, LIVE, FREE_BLOCKS = range(8)
HEADER = FREE_BLOCKS + 32

ROOT = 0


class Trie(NamedTuple):
    """A trie in flat arrays.

    Attributes:
        header: The fields from NODES to FREE_BLOCKS.
        nodes: One row per node.
        keys: The pool: keys of children, or bits.
        links: The pool: a child, at the same place as its key.
        entries: One row per address at a node.
    """

    header: NDArray[np.int64]
    nodes: Ints
    keys: Ints
    links: Ints
    entries: Ints


@kernel
def begin(trie: Trie) -> None:
    """Initialise an empty trie: a root."""
    header = trie.header
    header[:] = 0
    header[FREE_NODE] = -1
    header[FREE_ENTRY] = -1
    for size in range(32):
        header[FREE_BLOCKS + size] = -1
    make_node(trie, -1, -1)


@kernel
def has_room(trie: Trie, nodes: int, ints: int) -> bool:
    """Return whether there is room for a path of new nodes with this many ints in blocks."""
    header = trie.header
    return (
        header[NODES] + nodes <= len(trie.nodes)
        and header[ENTRIES] + 1 <= len(trie.entries)
        # One existing node of the path may get another child, and its block be doubled.
        and header[POOL] + (2 << header[LARGEST]) + ints <= len(trie.keys)
    )


@kernel
def make_node(trie: Trie, parent: int, key: Any) -> int:
    """Create a node without children; it is not added to its parent."""
    header, nodes = trie.header, trie.nodes
    node = header[FREE_NODE]
    if node >= 0:
        header[FREE_NODE] = nodes[node, PARENT]
    else:
        node = header[NODES]
        header[NODES] += 1
    header[LIVE] += 1
    nodes[node, KEY] = key
    nodes[node, PARENT] = parent
    nodes[node, START] = -1
    nodes[node, SIZE] = 0
    nodes[node, CLASS] = -1
    nodes[node, ENTRY] = -1
    nodes[node, BITS] = -1
    nodes[node, LENGTH] = 0
    nodes[node, BITS_CLASS] = -1
    return node


@kernel
def take_block(trie: Trie, size_class: int) -> int:
    """Allocate a block of 2 ** size_class ints."""
    header = trie.header
    start = header[FREE_BLOCKS + size_class]
    if start >= 0:
        header[FREE_BLOCKS + size_class] = trie.keys[start]
        return start
    start = header[POOL]
    header[POOL] += 1 << size_class
    header[LARGEST] = max(header[LARGEST], size_class)
    return start


@kernel
def free_block(trie: Trie, start: int, size_class: int) -> None:
    """Free a block."""
    trie.keys[start] = trie.header[FREE_BLOCKS + size_class]
    trie.header[FREE_BLOCKS + size_class] = start


@kernel
def class_of(size: int) -> int:
    """Return the class of the smallest blocks that have room for `size` ints."""
    size_class = 0
    while 1 << size_class < size:
        size_class += 1
    return size_class


@kernel
def lower_bound(keys: Ints, low: int, high: int, key: Any) -> int:
    """Return the first place from `low` up to `high` whose key is not below `key`, or `high`."""
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def add_child(trie: Trie, parent: int, place: int, child: int) -> None:
    """Add a child; `place` is where its key belongs in the pool (`lower_bound`)."""
    nodes, keys, links = trie.nodes, trie.keys, trie.links
    start, size, size_class = nodes[parent, START], nodes[parent, SIZE], nodes[parent, CLASS]
    offset = place - start if size else 0
    if size_class < 0 or size == 1 << size_class:
        larger = take_block(trie, size_class + 1)
        for i in range(size):
            keys[larger + i] = keys[start + i]
            links[larger + i] = links[start + i]
        if size_class >= 0:
            free_block(trie, start, size_class)
        nodes[parent, START] = start = larger
        nodes[parent, CLASS] = size_class + 1
    for i in range(start + size, start + offset, -1):
        keys[i] = keys[i - 1]
        links[i] = links[i - 1]
    keys[start + offset] = nodes[child, KEY]
    links[start + offset] = child
    nodes[parent, SIZE] = size + 1


@kernel
def add_entry(trie: Trie, node: int, address: int) -> int:
    """Add an address to a node that does not have it; return its entry."""
    header, nodes, entries = trie.header, trie.nodes, trie.entries
    entry = header[FREE_ENTRY]
    if entry >= 0:
        header[FREE_ENTRY] = entries[entry, NEXT]
    else:
        entry = header[ENTRIES]
        header[ENTRIES] += 1
    after = nodes[node, ENTRY]
    entries[entry, ADDRESS] = address
    entries[entry, NEXT] = after
    entries[entry, BEFORE] = -1
    if after >= 0:
        entries[after, BEFORE] = entry
    nodes[node, ENTRY] = entry
    return entry


@kernel
def drop_entry(trie: Trie, node: int, entry: int) -> None:
    """Remove an entry from its node; remove nodes that are empty then."""
    header, nodes, entries = trie.header, trie.nodes, trie.entries
    before, after = entries[entry, BEFORE], entries[entry, NEXT]
    if before < 0:
        nodes[node, ENTRY] = after
    else:
        entries[before, NEXT] = after
    if after >= 0:
        entries[after, BEFORE] = before
    entries[entry, NEXT] = header[FREE_ENTRY]
    header[FREE_ENTRY] = entry
    prune(trie, node)


@kernel
def prune(trie: Trie, node: int) -> None:
    """Remove a node without children and addresses, and then its parent if that has none."""
    header, nodes, keys, links = trie.header, trie.nodes, trie.keys, trie.links
    while node != ROOT and nodes[node, SIZE] == 0 and nodes[node, ENTRY] < 0:
        parent = nodes[node, PARENT]
        start, size = nodes[parent, START], nodes[parent, SIZE]
        place = lower_bound(keys, start, start + size, nodes[node, KEY])
        while links[place] != node:  # in a bftree, several children may have the same key
            place += 1
        for i in range(place, start + size - 1):
            keys[i] = keys[i + 1]
            links[i] = links[i + 1]
        nodes[parent, SIZE] = size - 1
        if size == 1:
            free_block(trie, start, nodes[parent, CLASS])
            nodes[parent, START] = -1
            nodes[parent, CLASS] = -1
        if nodes[node, BITS] >= 0:
            free_block(trie, nodes[node, BITS], nodes[node, BITS_CLASS])
        nodes[node, PARENT] = header[FREE_NODE]
        header[FREE_NODE] = node
        header[LIVE] -= 1
        node = parent
