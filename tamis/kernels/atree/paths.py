"""The true value path filter: from each satisfied predicate upwards, as long as nodes are true.

Thesis §3.5.2, Algorithms 2 and 3. It supports AND, OR and, beyond the thesis, k-of-n: a COUNT
passes each operand that becomes true to the node above, which counts them. No node is evaluated and
there are no queues. State left by an event is outdated by the number of the next
(current_event_id).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.atree.node_store import (
    COUNT,
    FUNCTION_MASK,
    KIND,
    OR,
    PARENTS,
    SUBSCRIPTIONS,
    Ints,
    TreeStore,
)
from tamis.kernels.decorator import kernel

Stamps = NDArray[np.uint16]
LAST_STAMP = 65535


@kernel
def emit(arena: Ints, head: int, out: Ints, size: int) -> tuple[Ints, int]:
    """Append a list of subscriptions to the output."""
    if head < 0:
        if size == len(out):
            larger = np.empty(2 * size, np.int32)
            larger[:size] = out
            out = larger
        out[size] = ~head
        return out, size + 1
    block = head
    while block > 0:
        count = arena[block] >> 3
        if size + count > len(out):
            larger = np.empty(2 * (size + count), np.int32)
            larger[:size] = out[:size]
            out = larger
        source, target = arena[block + 2 : block + 2 + count], out[size : size + count]
        for i in range(count):
            target[i] = source[i]
        size += count
        block = arena[block + 1]
    return out, size


@kernel
def follow_paths(
    store: TreeStore,
    leaf_of: Ints,
    offsets: NDArray[np.int64],
    satisfied: Ints,
    stamps: Stamps,
    counts: Ints,
    clock: int,
) -> tuple[Ints, NDArray[np.int64], int]:
    """Find the subscriptions that each event satisfies.

    Args:
        store: The tree, with only AND, OR, COUNT and AT_LEAST.
        leaf_of: By predicate, its leaf, or -1.
        offsets: By event, where its predicates begin in `satisfied`.
        satisfied: The predicates that are true for each event.
        stamps: By node, the event that touched it last.
        counts: By node, how many operands of an AT_LEAST are true; empty if there is none.
        clock: The stamp of the event before the first.

    Returns:
        The subscriptions, by event where its subscriptions end, and the clock.
    """
    nodes, arena, functions = store.nodes, store.arena, store.functions
    out, size = np.empty(4096, np.int32), 0
    ends = np.empty(len(offsets) - 1, np.int64)
    stack = np.empty(1024, np.int32)
    for event in range(len(offsets) - 1):
        if clock == LAST_STAMP:
            stamps[:] = 0
            clock = 0
        clock += 1
        stamp = np.uint16(clock)
        for i in range(offsets[event], offsets[event + 1]):
            leaf = leaf_of[satisfied[i]]
            if leaf < 0:
                continue
            stack[0] = leaf
            open_ = 1
            while open_ > 0:
                open_ -= 1
                node = stack[open_]
                if nodes[node, SUBSCRIPTIONS] != 0:
                    out, size = emit(arena, nodes[node, SUBSCRIPTIONS], out, size)
                block = nodes[node, PARENTS]
                single = block < 0
                while block != 0:
                    begin, count = 0, 1
                    if not single:
                        begin, count = block + 2, arena[block] >> 3
                    if open_ + count > len(stack):
                        larger = np.empty(2 * (open_ + count), np.int32)
                        larger[:open_] = stack[:open_]
                        stack = larger
                    for at in range(begin, begin + count):
                        entry = ~block if single else arena[at]
                        parent = entry >> 2
                        if entry & 1 == 0:  # AND: true at the second touch
                            if stamps[parent] == stamp:
                                stack[open_] = parent
                                open_ += 1
                            else:
                                stamps[parent] = stamp
                            continue
                        function = nodes[parent, KIND] & FUNCTION_MASK
                        if function == OR:
                            if stamps[parent] != stamp:
                                stamps[parent] = stamp
                                stack[open_] = parent
                                open_ += 1
                        elif function == COUNT:
                            stack[open_] = parent
                            open_ += 1
                        else:
                            if stamps[parent] != stamp:
                                stamps[parent] = stamp
                                counts[parent] = 0
                            counts[parent] += 1
                            if counts[parent] == functions[function, 1]:
                                stack[open_] = parent
                                open_ += 1
                    block = 0 if single else arena[block + 1]
        ends[event] = size
    return out[:size], ends, clock
