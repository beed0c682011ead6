"""A plan: an expression over predicates, ready for insertion, and bounds on its size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tamis.kernels.atree.insert import MAX_CHAIN
from tamis.kernels.atree.node_store import AT_LEAST


class FunctionSpec(NamedTuple):
    """A function with more than an operator to describe it; numbered while it is in use."""

    operator: int
    k: int
    n: int = 0


class Plan(NamedTuple):
    """An expression over predicates, ready for insertion.

    Attributes:
        function: AND, OR, XOR, NOT, NAND, NOR or AT_LEAST; VALUE, for the term in the label; or a
            `FunctionSpec` over one or two operands, whose order matters.
        operands: Predicates by number, and plans.
        k: The k of AT_LEAST.
        label: What the node represents, if the tree must remember it.
    """

    function: int | FunctionSpec
    operands: tuple[Operand, ...]
    k: int = 0
    label: object = None


Operand = int | Plan


def is_flat(plan: Plan) -> bool:
    """Return whether all operands of a plan are predicates."""
    return all([type(operand) is int for operand in plan.operands])


def at_least_spec(plan: Plan) -> FunctionSpec:
    """Return the function of the top node of a k-of-n."""
    return FunctionSpec(AT_LEAST, plan.k, len(plan.operands))


def function_specs(plan: Operand) -> Iterator[FunctionSpec]:
    """Iterate over the functions that a plan needs; some may occur twice."""
    pending, seen = [plan], set()
    while pending:
        current = pending.pop()
        if isinstance(current, int) or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current.function, FunctionSpec):
            yield current.function
        elif current.function == AT_LEAST:
            yield at_least_spec(current)
        pending += current.operands


def most_levels(plan: Operand) -> int:
    """Return an upper bound of the number of levels of a plan."""
    return _levels(plan, {})


def _levels(plan: Operand, cache: dict[int, int]) -> int:
    if isinstance(plan, int):
        return 1
    levels = cache.get(id(plan))
    if levels is None:
        below = max((_levels(operand, cache) for operand in plan.operands), default=0)
        levels = cache[id(plan)] = below + most_chain_levels(len(plan.operands))
    return levels


def most_chain_levels(operands: int) -> int:
    """Return an upper bound of the levels of a chain (`insert_chain`) and the node above it."""
    levels, pieces = 1, operands
    while pieces > 1:
        levels += min(pieces, MAX_CHAIN)
        pieces = -(-pieces // MAX_CHAIN)
    return levels


def most_nodes(plan: Operand) -> int:
    """Return an upper bound of the nodes: n - 1 for a chain of n, one for NOT and a term."""
    return _nodes(plan, set())


def _nodes(plan: Operand, counted: set[int]) -> int:
    if isinstance(plan, int):
        return 1
    if id(plan) in counted:
        return 0
    counted.add(id(plan))
    return max(1, len(plan.operands)) + sum(_nodes(operand, counted) for operand in plan.operands)
