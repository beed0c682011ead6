"""The A-Tree: a forest of shared binary nodes that grows and shrinks with the subscriptions.

It uses numbers only: predicates and subscriptions are numbers, expressions are plans. The engine
knows what they represent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tamis.engines.atree.builder import Builder
from tamis.engines.atree.nodes import Nodes
from tamis.engines.atree.plan import (
    FunctionSpec,
    Operand,
    Plan,
    function_specs,
    is_flat,
    most_chain_levels,
    most_levels,
    most_nodes,
)
from tamis.engines.number_pool import NumberPool
from tamis.errors import TamisError
from tamis.kernels.atree import delete, insert, sharing_stats
from tamis.kernels.atree.node_store import (
    AND,
    AT_LEAST,
    FIRST_MADE,
    FUNCTION_MASK,
    LEAF,
    OR,
    VALUE,
    Ints,
)

MAX_FUNCTION = FUNCTION_MASK  # the highest number of a function


class Tree(Nodes):
    """An A-Tree.

    >>> tree = Tree()
    >>> tree.insert(0, Plan(AND, (7, 8, 9))), tree.insert(1, Plan(OR, (Plan(AND, (7, 8)), 5)))
    ([], [])
    >>> len(tree), tree.highest  # 4 leaves, 7 AND 8, that AND 9, that OR 5
    (7, 3)
    >>> tree.delete(0), tree.delete(1)
    ([9], [5, 7, 8])
    >>> len(tree), tree.highest
    (0, 0)

    Attributes:
        functions: The numbers of the functions that need a `FunctionSpec`.
        terms: The numbers of values without operands.
    """

    def __init__(self) -> None:
        """Create an empty tree."""
        super().__init__()
        self.functions: NumberPool[FunctionSpec] = NumberPool(FIRST_MADE)
        self.terms: NumberPool[object] = NumberPool()

    @property
    def has_at_least(self) -> bool:
        """Whether the tree has a k-of-n."""
        return any(spec.operator == AT_LEAST for spec in self.functions.entries)

    # -- insertion --------------------------------------------------------------------------------

    def insert(self, subscription: int, plan: Operand) -> list[int]:
        """Insert a subscription and return the leaves that must now report where they are false.

        The caller chooses the number: small, and not in use.

        Raises:
            UnsupportedExpression: The plan has too many levels. The tree is unchanged.
            TamisError: The tree is full. The tree is unchanged.
        """
        if isinstance(plan, Plan) and plan.function in (AND, OR) and is_flat(plan):
            # Most plans are flat: one kernel call instead of one per part.
            predicates = np.array(plan.operands, np.int32)
            size = 2 * len(predicates)
            self._reserve(size, size, subscription + 1, 1 + most_chain_levels(len(predicates)))
            self._reserve_leaves(predicates.max())
            insert.insert_flat(
                self.store,
                plan.function,
                self.true_leaf,
                predicates,
                subscription,
            )
            return []
        size = most_nodes(plan)
        self._reserve(size, 2 * size + 1, subscription + 1, most_levels(plan))
        self._number_functions(plan)
        builder = Builder(self, self.functions, self.terms)
        root = builder.root(plan)
        insert.subscribe(self.store, root, subscription)
        return builder.requested_leaves

    def _number_functions(self, plan: Operand) -> None:
        """Assign numbers to the functions of a plan before any node is created."""
        needed = dict.fromkeys(function_specs(plan))
        try:
            for spec in needed:
                self._number_function(spec)
        except BaseException:
            for spec in needed.keys() & self.functions.entries.keys():
                self.functions.give_back(spec)
            raise

    def _number_function(self, spec: FunctionSpec) -> None:
        if spec in self.functions.entries:
            return
        if self.functions.next > MAX_FUNCTION:
            most = MAX_FUNCTION + 1 - FIRST_MADE
            raise TamisError(f"an A-Tree has at most {most:,} different functions")
        self.describe(self.functions.next, spec)
        self.functions.number(spec)

    def insert_leaves(self, count: int) -> None:
        """Insert the leaves of predicates 0 to `count - 1`, numbered alike, into an empty tree."""
        self.reserve_leaves(count)
        self._reserve_leaves(count)
        insert.insert_leaves(self.store, self.true_leaf, count)

    def insert_conjunctions(self, leaves: Ints, first: int) -> None:
        """Insert conjunctions of leaves (see `leaf`), one per row, numbered from `first`."""
        rows, width = leaves.shape
        done = 0
        while done < rows:
            self._reserve(width, 2 * width, first + rows, width)
            done = insert.insert_conjunctions(self.store, leaves, first, done)

    # -- deletion ---------------------------------------------------------------------------------

    def delete(self, subscription: int) -> list[int]:
        """Delete a subscription and return the predicates that are no longer used."""
        return self._forget_nodes(delete.delete(self.store, subscription))

    def delete_many(self, subscriptions: Ints) -> list[int]:
        """Delete many subscriptions and return the predicates that are no longer used."""
        return self._forget_nodes(delete.delete_many(self.store, subscriptions))

    def _forget_nodes(self, nodes: Ints) -> list[int]:
        unused: list[int] = []
        for node, function, left, right in nodes.tolist():
            label = self.labels.pop(node, None)
            if function == VALUE:
                self.terms.drop_use(label)
            elif function == LEAF:
                self.true_leaf[left] = -1
                unused.append(left)
                if right >= 0:
                    self.false_leaf[right] = -1
                    unused.append(right)
            else:
                self.functions.drop_use(FunctionSpec(*self.store.functions[function].tolist()))
        return unused

    # -- introspection ----------------------------------------------------------------------------

    def sharing(self, subscriptions: Sequence[int]) -> tuple[float, float]:
        """Return the average fractions of a subscription's nodes, and inner nodes, others use."""
        shared, internal = sharing_stats.sharing(self.store, np.array(subscriptions, np.int32))
        return float(shared), float(internal)
