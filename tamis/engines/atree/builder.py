"""From a plan to nodes: existing nodes are reused, missing ones are created (thesis §3.6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tamis.engines.atree.nodes import Nodes
from tamis.engines.atree.plan import FunctionSpec, Operand, Plan, at_least_spec
from tamis.engines.number_pool import NumberPool
from tamis.kernels.atree import insert, node_store
from tamis.kernels.atree.node_store import AND, AT_LEAST, COUNT, NAND, NOR, NOT, OR, VALUE, XOR

_NEEDS_FALSE = (XOR, NOT, NAND, NOR)  # functions that need to know where their operands are false
T = TypeVar("T")


class Builder:
    """Creates the nodes of one plan; a part that occurs twice gets one node.

    The caller has reserved room for all nodes and described the functions.

    Attributes:
        requested_leaves: The leaves that must report from now on where they are false.
    """

    def __init__(
        self, nodes: Nodes, functions: NumberPool[FunctionSpec], terms: NumberPool[object]
    ) -> None:
        """Create a builder for one plan.

        Args:
            nodes: The nodes that are searched and extended.
            functions: The numbers of functions.
            terms: The numbers of values without operands.
        """
        self._nodes = nodes
        self._functions = functions
        self._terms = terms
        self._roots: dict[int, int] = {}
        self.requested_leaves: list[int] = []

    def root(self, plan: Operand) -> int:
        """Return the top node of a plan."""
        if isinstance(plan, int):
            return self._nodes.leaf(plan)
        node = self._roots.get(id(plan))
        if node is None:
            node = self._roots[id(plan)] = self._build_node(plan)
            if plan.label is not None:
                self._nodes.labels[node] = plan.label
        return node

    def _build_node(self, plan: Plan) -> int:
        function = plan.function
        if function == VALUE:
            term = self._terms.number(plan.label)
            return self._add_counted_node(self._terms, plan.label, VALUE, term)
        nodes = [self.root(operand) for operand in plan.operands]
        if isinstance(function, FunctionSpec):
            return self._function_node(function, *nodes)
        if function == NOT:
            return self._node(NOT, nodes[0])
        if function in (XOR, AT_LEAST):
            nodes.sort()
        else:
            nodes = sorted(set(nodes))
        if function == AT_LEAST:
            return self._function_node(at_least_spec(plan), *self._halves(COUNT, nodes))
        if function in (NAND, NOR):
            if len(nodes) == 1:
                return self._node(NOT, nodes[0])
            return self._node(function, *self._halves(AND if function == NAND else OR, nodes))
        return self._chain(function, nodes)

    def _function_node(self, spec: FunctionSpec, left: int, right: int = -1) -> int:
        return self._add_counted_node(
            self._functions, spec, self._functions.number(spec), left, right
        )

    def _add_counted_node(
        self, numbers: NumberPool[T], thing: T, function: int, left: int, right: int = -1
    ) -> int:
        """Return a node; if it is new, count one more use of the object."""
        before = len(self._nodes)
        node = self._node(function, left, right)
        if len(self._nodes) > before:
            numbers.add_use(thing)
        return node

    def _halves(self, function: int, nodes: Sequence[int]) -> list[int]:
        """Return the two operands of the node above a chain: all but the last, and the last."""
        return sorted((self._chain(function, nodes[:-1]), nodes[-1]))

    def _chain(self, function: int, nodes: Sequence[int]) -> int:
        if len(nodes) == 1:
            return nodes[0]
        before = len(self._nodes)
        root = insert.insert_chain(self._nodes.store, function, np.array(nodes, np.int32))
        if function == XOR and len(self._nodes) > before:
            self._request_false(int(root))
        return int(root)

    def _node(self, function: int, left: int, right: int = -1) -> int:
        store = self._nodes.store
        node = int(node_store.find(store, function, left, right))
        if node < 0:
            node = int(node_store.new_node(store, function, left, right))
            if function in _NEEDS_FALSE:
                self._request_false(node)
        return node

    def _request_false(self, root: int) -> None:
        """Make the operands of a new XOR, NOT, NAND or NOR report where they are false."""
        nodes = self._nodes
        pending = [root]
        while pending:
            node = pending.pop()
            for child in nodes.children(node):
                self.requested_leaves += insert.request_false(nodes.store, child).tolist()
                if nodes.function_of(node) == XOR == nodes.function_of(child):
                    pending.append(child)
