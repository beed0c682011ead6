"""The general filter and the zero suppression filter: level by level, with a queue per level.

Thesis §3.4, Algorithm 1, and §3.5.1. The logic is Kleene's, as in the language, which also fixes an
error of the thesis at no cost: a node that nothing has reached is *unknown*, and no operator yields
a certain result from two unknowns. (The thesis takes such a node as false. Then NOT, NAND and NOR
of it are true, which propagation from below does not find.) The price is that false values must
propagate too: a leaf below XOR, NOT, NAND or NOR is also set where its predicate is certainly
false.

An operand is `trues | falses << 16`: true is 1, false 65536, unknown 0. So adding counts the true
and the false operands of a k-of-n.
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
    """The results of phase 1, by event.

    Attributes:
        true_leaf: By predicate, the leaf that is true where it holds, or -1.
        false_leaf: By predicate, the leaf that is false where it holds, or -1.
        offsets: By event, where its predicates begin in `satisfied`.
        satisfied: The predicates that are true for each event.
        compared_offsets: By event, where its comparisons begin in `compared`.
        compared: Comparisons of values that are certain: node << 1 | (it is false).
    """

    true_leaf: Ints
    false_leaf: Ints
    offsets: NDArray[np.int64]
    satisfied: Ints
    compared_offsets: NDArray[np.int64]
    compared: Ints


# The columns of `notes`: the state of a node for the current event, in 16 bytes.
STAMP = 0  # the event that touched the node last
LINK = 1  # the next node in its queue, or -1
FIRST = 2  # its operands
SECOND = 3
NOTES = 4
LAST_STAMP = 2**31 - 1


@kernel
def result_of(functions: Ints, function: int, first: int, second: int) -> int:
    """Evaluate a function of two operands, given and returned as true and false counts."""
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
    """Set an operand of a node; the first time, add the node to the queue of its level."""
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
    """Find the subscriptions that each event satisfies.

    Args:
        store: The tree.
        results: The results of phase 1.
        notes: By node, its state for the current event.
        clock: The stamp of the event before the first.
        highest: The highest level of the tree.
        suppress: Zero suppression: propagate only certain results, and false ones only where they
            are requested. Without it, every node that was reached propagates its result.

    Returns:
        The subscriptions, by event where its subscriptions end, and the clock.
    """
    # White-hot. The arrays have names of their own: passing a tuple of arrays to a function that is
    # not inlined takes longer than visiting a node.
    nodes, arena, functions = store.nodes, store.arena, store.functions
    offsets, satisfied = results.offsets, results.satisfied
    compared_offsets, compared = results.compared_offsets, results.compared
    true_leaf, false_leaf = results.true_leaf, results.false_leaf
    out, size = np.empty(4096, np.int32), 0
    ends = np.empty(len(offsets) - 1, np.int64)
    # By level, the first node of its queue. Linked queues were measured to be faster than arrays,
    # by half: the notes that hold the links are in the cache anyway.
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
