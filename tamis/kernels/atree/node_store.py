"""An A-Tree in flat arrays: nodes, their lists, and a hash table of nodes.

A node is one record of 32 bytes, half a cache line, because a visit needs most of it. A list (the
parents of a node, its subscriptions) of one entry is in the record itself. Longer lists are in
blocks of an arena, contiguous where possible, so that visiting a thousand parents means reading an
array and not following a thousand pointers.

A node is found by operator and children in an open-addressing table. The thesis intersects sorted
parent lists instead, to save memory (§3.8). The table costs 7 bytes per node, and a lookup reads
one or two cache lines however many parents there are.

The caller grows the arrays: before a call, `nodes` must have room for every node that may be
created, and `arena` for one largest block per list entry.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

# The fields of a node.
LEFT = 0  # a child; in a leaf, the number of its predicate; in a free record, the next free one
RIGHT = 1  # the other child, -1 if there is none; in a leaf, the number of the negated predicate
KIND = 2  # function, level and flags: see below
USES = 3  # how many subscriptions use the node (use_count)
PARENTS = 4  # a list of entries: parent << 2 | side << 1 | (its function is not AND)
SUBSCRIPTIONS = 5  # a list of the subscriptions that the node is the root of
LEFT_PLACE = 6  # where in the arena the left child's list has this node
RIGHT_PLACE = 7  # where in the arena the right child's list has this node
FIELDS = 8

# KIND: the function in 14 bits, the level in 15, two flags.
FUNCTION_BITS = 14
FUNCTION_MASK = (1 << FUNCTION_BITS) - 1
LEVEL_MASK = (1 << 15) - 1
SEEN = 1 << 29  # set during a walk
WANTS_FALSE = 1 << 30  # a node above needs to know where this one is certainly false

# Functions. From FIRST_MADE on they are created as needed, and described in `functions`.
FREE = 0
LEAF = 1
AND = 2
OR = 3
XOR = 4
NOT = 5
NAND = 6
NOR = 7
COUNT = 8  # how many operands of a k-of-n are true, and how many false
AT_LEAST = 9  # in `functions`: described by (AT_LEAST, k, n)
VALUE = 10  # a value: computed for whole columns, outside of the kernels
COMPARE = 11  # a comparison of values: computed likewise, but its result enters the tree
FIRST_MADE = 16

# The fields of `counters`.
TOP = 0  # nodes ever in use
FREE_NODE = 1  # the first of the free records, or -1
LIVE = 2  # nodes in use
ARENA_TOP = 3
FREE_BLOCK = 4  # … to 8: by class, the first free block, or 0
COUNTERS = 9

# Blocks: [count << 3 | class, next block, entries …], of 4 << class numbers.
LARGEST = 4
BLOCK = 4 << LARGEST

SLOT_BITS = 27  # of a slot for the node; the rest is a tag, which avoids most reads of wrong nodes
MAX_NODES = (1 << SLOT_BITS) - 2

# The fields of a subscription.
ROOT = 0
PLACE = 1

Ints = NDArray[np.int32]


class TreeStore(NamedTuple):
    """The arrays of an A-Tree.

    Attributes:
        nodes: One record per node.
        slots: The hash table of nodes by function and children: 0, or node + 1 and a tag.
        arena: The blocks of the lists.
        counters: How much of each array is used.
        levels: By level, how many nodes there are.
        functions: By function, what it is: (operator, k, n).
        subscriptions: By subscription, its root and its place in the root's list.
    """

    nodes: Ints
    slots: NDArray[np.uint32]
    arena: Ints
    counters: NDArray[np.int64]
    levels: NDArray[np.int64]
    functions: Ints
    subscriptions: Ints


# -- lists ----------------------------------------------------------------------------------------


@kernel
def _set_place(store: TreeStore, field: int, entry: int, place: int) -> None:
    if field == PARENTS:
        store.nodes[entry >> 2, LEFT_PLACE + ((entry >> 1) & 1)] = place
    else:
        store.subscriptions[entry, PLACE] = place


@kernel
def _new_block(store: TreeStore, kind: int) -> int:
    block = store.counters[FREE_BLOCK + kind]
    if block != 0:
        store.counters[FREE_BLOCK + kind] = store.arena[block + 1]
        return block
    block = store.counters[ARENA_TOP]
    store.counters[ARENA_TOP] = block + (4 << kind)
    return block


@kernel
def _free_block(store: TreeStore, block: int) -> None:
    kind = store.arena[block] & 7
    store.arena[block + 1] = store.counters[FREE_BLOCK + kind]
    store.counters[FREE_BLOCK + kind] = block


@kernel
def append(store: TreeStore, owner: int, field: int, entry: int) -> None:
    """Add an entry to a list of a node.

    The head is 0 for an empty list, ~entry for one entry, else the block with the latest entries.
    Blocks double up to the largest and are then chained, so that one more entry never needs much
    room.
    """
    arena = store.arena
    head = store.nodes[owner, field]
    if head == 0:
        store.nodes[owner, field] = ~entry
        return
    if head < 0:
        block = _new_block(store, 0)
        arena[block] = 2 << 3
        arena[block + 1] = 0
        arena[block + 2] = ~head
        arena[block + 3] = entry
        _set_place(store, field, ~head, block + 2)
        _set_place(store, field, entry, block + 3)
        store.nodes[owner, field] = block
        return
    count, kind = arena[head] >> 3, arena[head] & 7
    if count == (4 << kind) - 2:
        if kind == LARGEST:
            block = _new_block(store, LARGEST)
            arena[block + 1] = head
            count = 0
        else:
            kind += 1
            block = _new_block(store, kind)
            arena[block + 1] = 0
            for i in range(2, 2 + count):
                arena[block + i] = arena[head + i]
                _set_place(store, field, arena[head + i], block + i)
            _free_block(store, head)
        store.nodes[owner, field] = block
        head = block
    arena[head] = (count + 1) << 3 | kind
    arena[head + 2 + count] = entry
    _set_place(store, field, entry, head + 2 + count)


@kernel
def drop(store: TreeStore, owner: int, field: int, place: int) -> None:
    """Remove the entry at a place from a list; the last entry moves there."""
    arena = store.arena
    head = store.nodes[owner, field]
    if head < 0:
        store.nodes[owner, field] = 0
        return
    count = arena[head] >> 3
    last = head + 1 + count
    if last != place:
        arena[place] = arena[last]
        _set_place(store, field, arena[place], place)
    arena[head] -= 1 << 3
    if count == 1:
        store.nodes[owner, field] = arena[head + 1]
        _free_block(store, head)


@kernel
def _free_list(store: TreeStore, owner: int, field: int) -> None:
    block = store.nodes[owner, field]
    while block > 0:
        following = store.arena[block + 1]
        _free_block(store, block)
        block = following


@kernel
def entries(store: TreeStore, owner: int, field: int) -> Ints:
    """Return a list as an array; not for hot paths."""
    head = store.nodes[owner, field]
    if head < 0:
        return np.full(1, ~head, np.int32)
    size, block = 0, head
    while block > 0:
        size += store.arena[block] >> 3
        block = store.arena[block + 1]
    out, size, block = np.empty(size, np.int32), 0, head
    while block > 0:
        count = store.arena[block] >> 3
        for i in range(count):
            out[size + i] = store.arena[block + 2 + i]
        size += count
        block = store.arena[block + 1]
    return out


# -- nodes ----------------------------------------------------------------------------------------


@kernel
def function_of(kind: int) -> int:
    """Return the function in a KIND."""
    return kind & FUNCTION_MASK


@kernel
def level_of(kind: int) -> int:
    """Return the level in a KIND."""
    return (kind >> FUNCTION_BITS) & LEVEL_MASK


@kernel
def _hash(function: int, left: int, right: int) -> np.uint64:
    mixed = np.uint64(left) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed += np.uint64(right + 1) << np.uint64(20)
    mixed ^= np.uint64(function)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return mixed * np.uint64(0x94D049BB133111EB)


@kernel
def _home(mixed: np.uint64, slots: int) -> int:
    """Return the first slot of a hash in a table of any size: its upper half, scaled."""
    scaled = (mixed >> np.uint64(32)) * np.uint64(slots) >> np.uint64(32)
    return np.int64(scaled)  # type: ignore[return-value]


@kernel
def _tag(mixed: np.uint64) -> np.uint32:
    return np.uint32(mixed & np.uint64(0xF8000000))


@kernel
def find(store: TreeStore, function: int, left: int, right: int) -> int:
    """Return the node of a function over two children, or -1."""
    slots, nodes = store.slots, store.nodes
    mixed = _hash(function, left, right)
    tag, at = _tag(mixed), _home(mixed, len(slots))
    while slots[at] != 0:
        if slots[at] & np.uint32(0xF8000000) == tag:
            node = np.int64(slots[at] & np.uint32((1 << SLOT_BITS) - 1)) - 1
            if (
                nodes[node, LEFT] == left
                and nodes[node, RIGHT] == right
                and function_of(nodes[node, KIND]) == function
            ):
                return node  # type: ignore[return-value]
        at += 1
        if at == len(slots):
            at = 0
    return -1


@kernel
def _home_of(store: TreeStore, slot: np.uint32) -> int:
    node = np.int64(slot & np.uint32((1 << SLOT_BITS) - 1)) - 1
    left, right = store.nodes[node, LEFT], store.nodes[node, RIGHT]
    return _home(_hash(function_of(store.nodes[node, KIND]), left, right), len(store.slots))


@kernel
def _enter(store: TreeStore, node: int) -> None:
    slots = store.slots
    left, right = store.nodes[node, LEFT], store.nodes[node, RIGHT]
    mixed = _hash(function_of(store.nodes[node, KIND]), left, right)
    at = _home(mixed, len(slots))
    while slots[at] != 0:
        at += 1
        if at == len(slots):
            at = 0
    slots[at] = np.uint32(node + 1) | _tag(mixed)


@kernel
def _leave(store: TreeStore, node: int) -> None:
    """Remove a node from the table, and close the gap so that no search ends early."""
    slots = store.slots
    left, right = store.nodes[node, LEFT], store.nodes[node, RIGHT]
    mixed = _hash(function_of(store.nodes[node, KIND]), left, right)
    entry = np.uint32(node + 1) | _tag(mixed)
    gap = _home(mixed, len(slots))
    while slots[gap] != entry:
        gap += 1
        if gap == len(slots):
            gap = 0
    at = gap
    while True:
        at += 1
        if at == len(slots):
            at = 0
        if slots[at] == 0:
            break
        home = _home_of(store, slots[at])
        # An entry may fill the gap unless its home lies behind the gap, cyclically.
        stays = gap < home <= at if gap <= at else home > gap or home <= at
        if not stays:
            slots[gap] = slots[at]
            gap = at
    slots[gap] = 0


@kernel
def enter_all(store: TreeStore) -> None:
    """Fill a new, empty table."""
    for node in range(store.counters[TOP]):
        function = function_of(store.nodes[node, KIND])
        if function != FREE and function != LEAF:
            _enter(store, node)


@kernel
def _new_record(store: TreeStore, function: int, left: int, right: int, level: int) -> int:
    nodes, counters = store.nodes, store.counters
    node = counters[FREE_NODE]
    if node >= 0:
        counters[FREE_NODE] = nodes[node, LEFT]
    else:
        node = counters[TOP]
        counters[TOP] = node + 1
    counters[LIVE] += 1
    store.levels[level] += 1
    nodes[node, LEFT] = left
    nodes[node, RIGHT] = right
    nodes[node, KIND] = function | level << FUNCTION_BITS
    for field in range(USES, FIELDS):
        nodes[node, field] = 0
    return node


@kernel
def new_leaf(store: TreeStore, predicate: int) -> int:
    """Create a leaf of a predicate; the caller keeps track of it."""
    return _new_record(store, LEAF, predicate, -1, 1)


@kernel
def new_node(store: TreeStore, function: int, left: int, right: int) -> int:
    """Create a node that does not exist yet, with two children, one and -1, or none (a value)."""
    nodes = store.nodes
    level = 0
    if (left >= 0 and function != VALUE) or right >= 0:
        level = level_of(nodes[left, KIND])
    if right >= 0:
        level = max(level, level_of(nodes[right, KIND]))
    node = _new_record(store, function, left, right, level + 1)
    mark = 0 if function == AND else 1
    if level > 0:
        append(store, left, PARENTS, node << 2 | mark)
    if right >= 0:
        append(store, right, PARENTS, node << 2 | 2 | mark)
    _enter(store, node)
    return node


@kernel
def free_node(store: TreeStore, node: int) -> None:
    """Free the record of a node; the caller updates the lists of its children."""
    nodes, counters = store.nodes, store.counters
    kind = nodes[node, KIND]
    if function_of(kind) != LEAF:
        _leave(store, node)
    store.levels[level_of(kind)] -= 1
    _free_list(store, node, PARENTS)
    _free_list(store, node, SUBSCRIPTIONS)
    nodes[node, KIND] = FREE
    nodes[node, LEFT] = counters[FREE_NODE]
    counters[FREE_NODE] = node
    counters[LIVE] -= 1
