"""SNPS, measured: the average fraction of its internal nodes that a subscription shares.

Table 5.1 has it so. An A-Tree of all subscriptions would tell, but takes its time. A sample tells
as much, if what is shared by chance is as frequent in it as in the whole. What meets again by
chance is most of all an expression of pool A with one predicate more, in proportion to N / values:
so the sample has as many fewer values as it has subscriptions. Any two predicates meet in
proportion to N / values**2, which would be too often then: the sample is as large as makes that
rare.
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

# Trees go into an A-Tree one by one, conjunctions all at once.
CONJUNCTIONS, TREES = 1 << 14, 1 << 11
_FUNCTIONS = (AND, OR, XOR)
# An expression of pool A is used so often that hardly any is met only once.
_USES = 50
# How often two predicates may meet by chance, per attribute of each.
_PAIRS = 0.2


def sample_of(workload: Workload) -> Workload:
    """A smaller workload of the same SNPS, or the same if it is small."""
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
    """SNPS over internal nodes, as an A-Tree of these very subscriptions has it."""
    subscriptions = range(workload.subscriptions)
    if workload.operators == "conjunctive":
        return tree_of_conjunctions(workload).sharing(subscriptions)[1]
    return tree_of_expressions(workload).sharing(subscriptions)[1]


def tree_of_expressions(workload: Workload) -> Tree:
    """An A-Tree of trees; XOR is a node of its own, as the filter `general` has it."""
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
    """Two plans under an operator; a chain of one operator is one plan, as the engine has it."""
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
    """An A-Tree of conjunctions, whose leaves are numbered as they are by attribute and value."""
    numbers = workload.conjunctions()
    used, leaves = np.unique(numbers, return_inverse=True)
    tree = Tree()
    tree.insert_leaves(len(used))
    tree.insert_conjunctions(leaves.reshape(numbers.shape).astype(np.int32), 0)
    return tree
