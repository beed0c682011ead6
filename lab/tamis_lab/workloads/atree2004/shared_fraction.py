"""Measure SNPS, the average fraction of its internal nodes that a subscription shares.

This is the definition of Table 5.1. An A-Tree of all subscriptions gives it exactly, but takes
long. A sample gives the same if sharing by chance is as frequent in it as in the whole. What is
shared by chance is mostly an expression of pool A with one more predicate, in proportion to N /
values: so the sample has fewer values in the same ratio as it has fewer subscriptions. Any two
predicates coincide in proportion to N / values**2, which would then be too often: the sample is
large enough to make that rare.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tamis.engines.atree.plan import Operand, Plan
from tamis.engines.atree.tree import Tree
from tamis.kernels.atree.node_store import AND, OR, XOR
from tamis_lab.workloads.atree2004.trees import fold_tree
from tamis_lab.workloads.atree2004.workload import Workload

# Trees are inserted into an A-Tree one by one, conjunctions all at once.
CONJUNCTIONS, TREES = 1 << 14, 1 << 11
_FUNCTIONS = (AND, OR, XOR)
# An expression of pool A is used so often that hardly any occurs only once.
_USES = 50
# How often two predicates may coincide by chance, per attribute of each.
_PAIRS = 0.2


def sample_of(workload: Workload) -> Workload:
    """Return a smaller workload with the same SNPS, or the same workload if it is small."""
    conjunctive = workload.operators == "conjunctive"
    size = max(
        CONJUNCTIONS if conjunctive else TREES,
        _USES * workload.pool,
        math.ceil((workload.subscriptions / workload.values) ** 2 / _PAIRS),
    )
    if workload.subscriptions <= size:
        return workload
    values = math.ceil(workload.values * size / workload.subscriptions)
    return replace(workload, subscriptions=size, values=max(2, values))


def shared_fraction(workload: Workload) -> float:
    """Return SNPS over internal nodes, from an A-Tree of exactly these subscriptions."""
    subscriptions = range(workload.subscriptions)
    if workload.operators == "conjunctive":
        return tree_of_conjunctions(workload).sharing(subscriptions)[1]
    return tree_of_expressions(workload).sharing(subscriptions)[1]


def tree_of_expressions(workload: Workload) -> Tree:
    """Build an A-Tree of trees; XOR is a node of its own, as with the filter `general`."""
    tree = Tree()
    cut = workload.shared_predicates
    known: dict[int, int] = {}
    for subscription, (numbers, left, right, root) in enumerate(workload.rows()):
        leaves: list[Operand] = [known.setdefault(number, len(known)) for number in numbers]
        parts = (
            fold_tree(leaves[:cut], *left, _join_plans),
            fold_tree(leaves[cut:], *right, _join_plans),
        )
        tree.insert(subscription, _join_plans(root, *parts))
    return tree


def _join_plans(operator: int, left: Operand, right: Operand) -> Plan:
    """Join two plans by an operator; a chain of one operator is one plan, as in the engine."""
    function = _FUNCTIONS[operator]
    operands = [
        operand
        for part in (left, right)
        for operand in (
            part.operands if isinstance(part, Plan) and part.function == function else (part,)
        )
    ]
    return Plan(function, tuple(operands))


def tree_of_conjunctions(workload: Workload) -> Tree:
    """Build an A-Tree of conjunctions, with leaves numbered by attribute and value."""
    numbers = workload.conjunctions()
    used, leaves = np.unique(numbers, return_inverse=True)
    tree = Tree()
    tree.insert_leaves(len(used))
    tree.insert_conjunctions(leaves.reshape(numbers.shape).astype(np.int32), 0)
    return tree
