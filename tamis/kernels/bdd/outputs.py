"""Find the subscriptions that events match, one event at a time.

Under the strict semantics, the diagram is valid only for events that have all attributes of a
query. A reduced diagram drops variables, so the attributes are stored beside it. Queries with the
same attributes are adjacent, in a run, and are skipped together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.bdd.eval import (
    Bytes,
    Ints,
    Longs,
    Needs,
    NodeArrays,
    eval_bdd,
    has_all,
    mv_eval_bdd,
    undefine,
)
from tamis.kernels.decorator import kernel
from tamis.kernels.growth import grow_array


class Outputs(NamedTuple):
    """The roots of subscriptions.

    Attributes:
        edge: By output, the edge to its root; -1 if it was removed.
        code: By output, the number of its subscription.
        run_needs: By run, the key of the attributes that its subscriptions need.
        run_begin: By run, its first output; one more at the end.
        needs: The attributes, by key.
    """

    edge: Ints
    code: Ints
    run_needs: Ints
    run_begin: Ints
    needs: Needs


@kernel
def match_events(
    nodes: NodeArrays,
    outputs: Outputs,
    needs: Needs,
    offsets: Longs,
    ids: Ints,
    alpha: Bytes,
    value: Bytes,
) -> tuple[Ints, Longs]:
    """Find the subscriptions that events match.

    Args:
        nodes: The diagram.
        outputs: The roots.
        needs: By predicate, the attributes that it needs to be defined; without keys if all
            predicates count as defined.
        offsets: Event e satisfies the predicates ids[offsets[e]] up to ids[offsets[e + 1]].
        ids: The predicates.
        alpha: Room for the truth of every predicate.
        value: Room for the value of every node.

    Returns:
        The subscriptions, and by event where its subscriptions end.
    """
    codes = np.empty(max(1024, len(outputs.code)), np.int32)
    ends = np.empty(len(offsets) - 1, np.int64)
    count = 0
    for event in range(len(offsets) - 1):
        alpha[:] = 0
        for i in range(offsets[event], offsets[event + 1]):
            alpha[ids[i]] = 1
        if len(needs.offsets) > 1:
            undefine(needs, alpha)
            mv_eval_bdd(nodes, alpha, value)
        else:
            eval_bdd(nodes, alpha, value)
        while count + len(outputs.code) > len(codes):
            codes = grow_array(codes)
        count += _match_outputs(outputs, alpha, value, codes[count:])
        ends[event] = count
    return codes[:count], ends


@kernel
def _match_outputs(outputs: Outputs, alpha: Bytes, value: Bytes, codes: Ints) -> int:
    """Write the subscriptions that one event matches; return how many. `codes` has room for all."""
    count = 0
    for run in range(len(outputs.run_needs)):
        if not has_all(outputs.needs, outputs.run_needs[run], alpha):
            continue
        for i in range(outputs.run_begin[run], outputs.run_begin[run + 1]):
            edge = outputs.edge[i]
            if edge >= 0 and value[edge >> 1] == np.uint8(1 - (edge & 1)):
                codes[count] = outputs.code[i]
                count += 1
    return count
