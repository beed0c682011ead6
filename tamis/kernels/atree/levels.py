"""The general filter and the zero suppression filter: level by level, a queue each.

Thesis §3.4, Algorithm 1, and §3.5.1. Truth is Kleene's, after the language, and that mends a slip
of the thesis for nothing: what nothing has reached is *unknown*, and no operator makes something
certain of two unknowns. (The thesis takes it as false, and then NOT, NAND and NOR of it are true,
which no propagation from below finds out.) The price is that falsehood is news too: a leaf below
one of XOR, NOT, NAND and NOR is also told where its predicate is certainly false.

An operand is `trues | falses << 16`: true is 1, false 65536, unknown 0. So the operands of a k-of-n
are counted, both ways, by adding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.atree.node_store import (
    AND,
    AT_LEAST,
    COUNT,
    FUNCTION_MASK,
    KIND,
    LEAF,
    NAND,
    NOR,
    NOT,
    OR,
    PARENTS,
    SUBSCRIPTIONS,
    WANTS_FALSE,
    XOR,
    Ints,
    TreeStore,
    level_of,
)
from tamis.kernels.atree.paths import emit
from tamis.kernels.decorator import kernel

TRUE = 1
FALSE = 1 << 16


class Phase1Results(NamedTuple):
    """What phase 1 says of each event.

    Attributes:
        true_leaf: By predicate, the leaf that is true where it holds, or -1.
        false_leaf: By predicate, the leaf that is false where it holds, or -1.
        offsets: Where each event's predicates begin in `satisfied`.
        satisfied: The predicates that are true of each event.
        compared_offsets: Where each event's comparisons begin in `compared`.
        compared: Comparisons of values that are certain: node << 1 | (it is false).
    """

    true_leaf: Ints
    false_leaf: Ints
    offsets: NDArray[np.int64]
    satisfied: Ints
    compared_offsets: NDArray[np.int64]
    compared: Ints


# What a filter notes down per node, for the event at hand: one record of 16 bytes.
STAMP = 0  # the event that touched the node last
LINK = 1  # the next node in its queue, or -1
FIRST = 2  # its operands
SECOND = 3
NOTES = 4
LAST_STAMP = 2**31 - 1


@kernel
def result_of(functions: Ints, function: int, first: int, second: int) -> int:
    """A function of two operands, as true and false counts."""
    if function == AND:
        if first == TRUE and second == TRUE:
            return TRUE
        return FALSE if first == FALSE or second == FALSE else 0
    if function == OR:
        if first == TRUE or second == TRUE:
            return TRUE
        return FALSE if first == FALSE and second == FALSE else 0
    if function == XOR:
        if first == 0 or second == 0:
            return 0
        return TRUE if first != second else FALSE
    if function == LEAF:
        return first
    if function == NOT:
        return 0 if first == 0 else TRUE + FALSE - first
    if function == NAND:
        if first == FALSE or second == FALSE:
            return TRUE
        return FALSE if first == TRUE and second == TRUE else 0
    if function == NOR:
        if first == FALSE and second == FALSE:
            return TRUE
        return FALSE if first == TRUE or second == TRUE else 0
    total = first + second
    if function == COUNT:
        return total
    if functions[function, 0] == AT_LEAST:
        k, n = functions[function, 1], functions[function, 2]
        if total & (FALSE - 1) >= k:
            return TRUE
        return FALSE if (total >> 16) & (FALSE - 1) > n - k else 0
    return first  # a comparison of values


@kernel
def _touch(
    nodes: Ints,
    notes: Ints,
    heads: Ints,
    stamp: int,
    node: int,
    side: int,
    value: int,
) -> None:
    """Set an operand; the first time, put the node into the queue of its level."""
    if notes[node, STAMP] != stamp:
        notes[node, STAMP] = stamp
        notes[node, FIRST + 1 - side] = 0
        level = level_of(nodes[node, KIND])
        notes[node, LINK] = heads[level]
        heads[level] = node
    notes[node, FIRST + side] = value


@kernel
def climb_levels(
    store: TreeStore, results: Phase1Results, notes: Ints, clock: int, highest: int, suppress: bool
) -> tuple[Ints, NDArray[np.int64], int]:
    """The subscriptions that each event satisfies.

    Args:
        store: The tree.
        results: What phase 1 says.
        notes: What is noted per node.
        clock: The stamp of the event before the first.
        highest: The highest level of the tree.
        suppress: Zero suppression: hand on only what is certain, and falsehood only where it is
            wanted. Without it a node that was reached hands on whatever came out.

    Returns:
        The subscriptions, where each event's end, and the clock.
    """
    # White-hot. Arrays in names of their own: to hand a tuple of arrays to a function that is not
    # inlined takes longer than to visit a node.
    nodes, arena, functions = store.nodes, store.arena, store.functions
    offsets, satisfied = results.offsets, results.satisfied
    compared_offsets, compared = results.compared_offsets, results.compared
    true_leaf, false_leaf = results.true_leaf, results.false_leaf
    out, size = np.empty(4096, np.int32), 0
    ends = np.empty(len(offsets) - 1, np.int64)
    # By level, the first node of its queue. Chains of nodes were measured faster than arrays, by
    # half: the notes that hold the link are in the cache anyway.
    heads = np.full(highest + 1, -1, np.int32)
    for event in range(len(ends)):
        if clock == LAST_STAMP:
            notes[:, STAMP] = 0
            clock = 0
        clock += 1
        for i in range(offsets[event], offsets[event + 1]):
            leaf = true_leaf[satisfied[i]]
            if leaf >= 0:
                _touch(nodes, notes, heads, clock, leaf, 0, TRUE)
            leaf = false_leaf[satisfied[i]]
            if leaf >= 0:
                _touch(nodes, notes, heads, clock, leaf, 0, FALSE)
        for i in range(compared_offsets[event], compared_offsets[event + 1]):
            value = FALSE if compared[i] & 1 else TRUE
            _touch(nodes, notes, heads, clock, compared[i] >> 1, 0, value)
        for level in range(1, highest + 1):
            while heads[level] >= 0:
                node = heads[level]
                heads[level] = notes[node, LINK]
                kind = nodes[node, KIND]
                result = result_of(
                    functions, kind & FUNCTION_MASK, notes[node, FIRST], notes[node, SECOND]
                )
                if result == TRUE and nodes[node, SUBSCRIPTIONS] != 0:
                    out, size = emit(arena, nodes[node, SUBSCRIPTIONS], out, size)
                if suppress and (result == 0 or (result == FALSE and kind & WANTS_FALSE == 0)):
                    continue
                block = nodes[node, PARENTS]
                if block < 0:
                    parent, side = ~block >> 2, (~block >> 1) & 1
                    _touch(nodes, notes, heads, clock, parent, side, result)
                while block > 0:
                    for at in range(block + 2, block + 2 + (arena[block] >> 3)):
                        parent, side = arena[at] >> 2, (arena[at] >> 1) & 1
                        _touch(nodes, notes, heads, clock, parent, side, result)
                    block = arena[block + 1]
        ends[event] = size
    return out[:size], ends, clock
