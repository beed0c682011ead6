"""Evaluate a shared diagram for one event at a time (ICSE 2001, Figures 3 and 5).

Nodes are ordered with children first, so the loop that the paper runs from n down to 1 goes upwards
here. The nodes of one variable are adjacent, in a *run*, so that the variable is read once for all
of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

UNDEFINED = 2  # the paper's star


class NodeArrays(NamedTuple):
    """A diagram in flat arrays. Node 0 is the terminal 1.

    Attributes:
        low: By node, the edge to follow where its variable is false: twice a node, plus one if its
            value is negated.
        high: By node, the edge to follow where its variable is true; never negated.
        run_label: By run, the variable, as the number of its predicate.
        run_begin: By run, its first node; one more at the end. The first run begins at node 1.
    """

    low: Ints
    high: Ints
    run_label: Ints
    run_begin: Ints


class Needs(NamedTuple):
    """Required attributes: key i needs the predicates ids[offsets[i]] up to ids[offsets[i + 1]].

    The keys are predicates or sets of attributes. The needed predicates test that an attribute is
    present.
    """

    offsets: Longs
    ids: Ints


@kernel
def eval_bdd(nodes: NodeArrays, alpha: Bytes, value: Bytes) -> None:
    """Run EvalBDD (Figure 3): compute the value of every node, given that of every variable."""
    value[0] = 1
    for run in range(len(nodes.run_label)):
        begin, end = nodes.run_begin[run], nodes.run_begin[run + 1]
        if alpha[nodes.run_label[run]]:
            for v in range(begin, end):
                value[v] = value[nodes.high[v] >> 1]
        else:
            for v in range(begin, end):
                edge = nodes.low[v]
                value[v] = value[edge >> 1] ^ np.uint8(edge & 1)


@kernel
def mv_eval_bdd(nodes: NodeArrays, alpha: Bytes, value: Bytes) -> None:
    """Run MVEvalBDD (Figure 5): as EvalBDD, but variables may be undefined.

    A node is undefined if its variable or one of its two successors is.
    """
    value[0] = 1
    for run in range(len(nodes.run_label)):
        begin, end = nodes.run_begin[run], nodes.run_begin[run + 1]
        truth = alpha[nodes.run_label[run]]
        if truth == UNDEFINED:
            value[begin:end] = UNDEFINED
            continue
        for v in range(begin, end):
            edge = nodes.low[v]
            low, high = value[edge >> 1], value[nodes.high[v] >> 1]
            if low == UNDEFINED or high == UNDEFINED:
                value[v] = UNDEFINED
            else:
                value[v] = high if truth else low ^ np.uint8(edge & 1)


@kernel
def undefine(needs: Needs, alpha: Bytes) -> None:
    """Mark the variables of missing attributes as undefined."""
    # A presence test that is already marked undefined here counts as not satisfied, like false.
    for key in range(len(needs.offsets) - 1):
        for i in range(needs.offsets[key], needs.offsets[key + 1]):
            if alpha[needs.ids[i]] != 1:
                alpha[key] = UNDEFINED
                break


@kernel
def has_all(needs: Needs, key: int, alpha: Bytes) -> bool:
    """Return whether all attributes that a key needs are present."""
    for i in range(needs.offsets[key], needs.offsets[key + 1]):
        if alpha[needs.ids[i]] != 1:
            return False
    return True
