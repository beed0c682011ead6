"""Matching by priority: queues per priority and level, the highest priority first (thesis §4.1).

A node has the highest priority of the subscriptions that use it, so a node depends only on nodes of
the same or a higher priority. When all queues of a priority are empty, all its matches are known.
With a limit, the rest of the tree is never visited.

The thesis cannot guarantee the order where a subscription is part of one of higher priority: its
node is evaluated early. Here such a match waits until its own priority is processed.

Priorities are grouped, as in the thesis, because every group has a queue per level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.atree.levels import (
    FALSE,
    FIRST,
    LAST_STAMP,
    LINK,
    SECOND,
    STAMP,
    TRUE,
    Phase1Results,
    result_of,
)
from tamis.kernels.atree.node_store import (
    FUNCTION_MASK,
    KIND,
    PARENTS,
    SUBSCRIPTIONS,
    TOP,
    USES,
    WANTS_FALSE,
    Ints,
    TreeStore,
    entries,
    level_of,
)
from tamis.kernels.atree.paths import emit
from tamis.kernels.atree.walk import nodes_of
from tamis.kernels.decorator import kernel

Priorities = NDArray[np.int64]
NO_PRIORITY = -(2**63)
MOST = 2**63 - 1


# -- the priorities of nodes ----------------------------------------------------------------------


@kernel
def raise_priorities(store: TreeStore, of_nodes: Priorities, root: int, priority: int) -> None:
    """Raise the nodes of a new subscription to at least its priority."""
    for node in nodes_of(store, root):
        # The record of a node that only this subscription uses may have a stale priority.
        if store.nodes[node, USES] == 1:
            of_nodes[node] = priority
        else:
            of_nodes[node] = max(of_nodes[node], priority)


@kernel
def _own_priority(
    store: TreeStore, of_nodes: Priorities, of_subscriptions: Priorities, node: int, enough: int
) -> int:
    """Return the highest priority at a node and its parents; stop at one that is `enough`."""
    best: int = NO_PRIORITY
    for subscription in entries(store, node, SUBSCRIPTIONS):
        best = max(best, of_subscriptions[subscription])
    if best >= enough:
        return best
    block = store.nodes[node, PARENTS]
    if block < 0:
        return max(best, of_nodes[~block >> 2])
    while block > 0:
        for at in range(block + 2, block + 2 + (store.arena[block] >> 3)):
            best = max(best, of_nodes[store.arena[at] >> 2])
        if best >= enough:
            return best
        block = store.arena[block + 1]
    return best


@kernel
def lower_priorities(
    store: TreeStore,
    of_nodes: Priorities,
    of_subscriptions: Priorities,
    used: Ints,
    priority: int,
) -> None:
    """Readjust the priorities of the nodes that a deleted subscription used, from the top.

    Args:
        store: The tree, without the subscription.
        of_nodes: By node, its priority.
        of_subscriptions: By subscription, its priority.
        used: The nodes that it used, highest level first; deleted nodes have no uses.
        priority: The priority of the deleted subscription.
    """
    for node in used:
        if store.nodes[node, USES] > 0 and of_nodes[node] == priority:
            of_nodes[node] = _own_priority(store, of_nodes, of_subscriptions, node, priority)


@kernel
def fill_priorities(store: TreeStore, of_nodes: Priorities, of_subscriptions: Priorities) -> None:
    """Compute the priorities of all nodes, from the top."""
    count = store.counters[TOP]
    levels = np.empty(count, np.int64)
    for node in range(count):
        levels[node] = -level_of(store.nodes[node, KIND])
    for node in np.argsort(levels):
        if store.nodes[node, USES] > 0:
            of_nodes[node] = _own_priority(store, of_nodes, of_subscriptions, node, MOST)


@kernel
def nodes_by_level(store: TreeStore, root: int) -> Ints:
    """Return the nodes at and below a root, highest level first."""
    used = nodes_of(store, root)
    levels = np.empty(len(used), np.int64)
    for i in range(len(used)):
        levels[i] = -level_of(store.nodes[used[i], KIND])
    return used[np.argsort(levels)]


# -- the filter -----------------------------------------------------------------------------------


@kernel
def _group(bounds: Priorities, priority: int) -> int:
    """Return the group of a priority: 0 has the highest. bounds[g] is the least one of group g."""
    low, high = 0, len(bounds) - 1
    while low < high:
        middle = (low + high) // 2
        if priority >= bounds[middle]:
            high = middle
        else:
            low = middle + 1
    return low


class TreePriorities(NamedTuple):
    """The priorities of a tree.

    Attributes:
        of_nodes: By node, its priority.
        of_subscriptions: By subscription, its priority.
        bounds: The least priority of each group, descending.
    """

    of_nodes: Priorities
    of_subscriptions: Priorities
    bounds: Priorities


class GroupQueues(NamedTuple):
    """A queue of nodes per group and level.

    Attributes:
        of_nodes: By node, its priority.
        bounds: The least priority of each group, descending.
        heads: By group and level, the first node of the queue, or -1.
    """

    of_nodes: Priorities
    bounds: Priorities
    heads: Ints


@kernel
def _touch(
    nodes: Ints,
    notes: Ints,
    queues: GroupQueues,
    stamp: int,
    node: int,
    side: int,
    value: int,
) -> None:
    """Set an operand of a node; as `_touch` of `levels.py`, with a queue per group and level.

    The duplication is deliberate: with this one and a single group, `climb_levels` took 1.4 times
    as long (30,000 subscriptions of four predicates, 200 events).
    """
    if notes[node, STAMP] != stamp:
        notes[node, STAMP] = stamp
        notes[node, FIRST + 1 - side] = 0
        group = _group(queues.bounds, queues.of_nodes[node])
        level = level_of(nodes[node, KIND])
        notes[node, LINK] = queues.heads[group, level]
        queues.heads[group, level] = node
    notes[node, FIRST + side] = value


@kernel
def climb_by_priority(
    store: TreeStore,
    results: Phase1Results,
    notes: Ints,
    priorities: TreePriorities,
    clock: int,
    highest: int,
    suppress: bool,
    limit: int,
) -> tuple[Ints, NDArray[np.int64], int]:
    """Find the subscriptions of each event by groups of priority, until there are enough.

    Args:
        store: The tree.
        results: The results of phase 1.
        notes: By node, its state for the current event.
        priorities: The priorities of nodes, of subscriptions and of groups.
        clock: The stamp of the event before the first.
        highest: The highest level of the tree.
        suppress: Zero suppression, as in `climb_levels`.
        limit: How many subscriptions are enough; the group that reaches it is completed.

    Returns:
        The subscriptions, by event where its subscriptions end, and the clock.
    """
    nodes, arena, functions = store.nodes, store.arena, store.functions
    of_subscriptions, bounds = priorities.of_subscriptions, priorities.bounds
    offsets, satisfied = results.offsets, results.satisfied
    compared_offsets, compared = results.compared_offsets, results.compared
    true_leaf, false_leaf = results.true_leaf, results.false_leaf
    out, size = np.empty(4096, np.int32), 0
    ends = np.empty(len(offsets) - 1, np.int64)
    heads = np.full((len(bounds), highest + 1), -1, np.int32)
    queues = GroupQueues(priorities.of_nodes, bounds, heads)
    mixed = np.empty(64, np.int32)
    # Matches that wait until their group is processed.
    waiting, next_waiting, held = np.empty(64, np.int32), np.empty(64, np.int32), 0
    first_waiting = np.full(len(bounds), -1, np.int32)
    for event in range(len(ends)):
        if clock == LAST_STAMP:
            notes[:, STAMP] = 0
            clock = 0
        clock += 1
        begun = size
        for i in range(offsets[event], offsets[event + 1]):
            leaf = true_leaf[satisfied[i]]
            if leaf >= 0:
                _touch(nodes, notes, queues, clock, leaf, 0, TRUE)
            leaf = false_leaf[satisfied[i]]
            if leaf >= 0:
                _touch(nodes, notes, queues, clock, leaf, 0, FALSE)
        for i in range(compared_offsets[event], compared_offsets[event + 1]):
            value = FALSE if compared[i] & 1 else TRUE
            _touch(nodes, notes, queues, clock, compared[i] >> 1, 0, value)
        for group in range(len(bounds)):
            place = first_waiting[group]
            while place >= 0:
                out, size = _put(out, size, waiting[place])
                place = next_waiting[place]
            for level in range(1, highest + 1):
                while heads[group, level] >= 0:
                    node = heads[group, level]
                    heads[group, level] = notes[node, LINK]
                    kind = nodes[node, KIND]
                    result = result_of(
                        functions, kind & FUNCTION_MASK, notes[node, FIRST], notes[node, SECOND]
                    )
                    if result == TRUE and nodes[node, SUBSCRIPTIONS] != 0:
                        mixed, count = emit(arena, nodes[node, SUBSCRIPTIONS], mixed, 0)
                        for i in range(count):
                            own = _group(bounds, of_subscriptions[mixed[i]])
                            if own == group:
                                out, size = _put(out, size, mixed[i])
                            else:
                                waiting, _ = _put(waiting, held, mixed[i])
                                next_waiting, held = _put(next_waiting, held, first_waiting[own])
                                first_waiting[own] = held - 1
                    if suppress and (result == 0 or (result == FALSE and kind & WANTS_FALSE == 0)):
                        continue
                    block = nodes[node, PARENTS]
                    if block < 0:
                        parent, side = ~block >> 2, (~block >> 1) & 1
                        _touch(nodes, notes, queues, clock, parent, side, result)
                    while block > 0:
                        for at in range(block + 2, block + 2 + (arena[block] >> 3)):
                            parent, side = arena[at] >> 2, (arena[at] >> 1) & 1
                            _touch(nodes, notes, queues, clock, parent, side, result)
                        block = arena[block + 1]
            if size - begun >= limit:
                heads[group + 1 :] = -1
                break
        first_waiting[:] = -1
        held = 0
        ends[event] = size
    return out[:size], ends, clock


@kernel
def _put(out: Ints, size: int, number: int) -> tuple[Ints, int]:
    if size == len(out):
        larger = np.empty(2 * size, np.int32)
        larger[:size] = out
        out = larger
    out[size] = number
    return out, size + 1
