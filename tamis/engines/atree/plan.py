"""A plan: an expression over predicates, as the tree takes it, and how much room it will need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tamis.kernels.atree.insert import MAX_CHAIN
from tamis.kernels.atree.node_store import AT_LEAST


class FunctionSpec(NamedTuple):
    """A function that is described by more than its operator; it has a number while it is used."""

    operator: int
    k: int
    n: int = 0


class Plan(NamedTuple):
    """An expression over predicates, ready to be inserted.

    Attributes:
        function: AND, OR, XOR, NOT, NAND, NOR, AT_LEAST; VALUE, of the term in the label; or one
            that is Made, over one or two operands in their order.
        operands: Predicates by number, and plans.
        k: Of AT_LEAST.
        label: What the node stands for, if the tree is to remember it.
    """

    function: int | FunctionSpec
    operands: tuple[Operand, ...]
    k: int = 0
    label: object = None


Operand = int | Plan


def is_flat(plan: Plan) -> bool:
    """Whether a plan has predicates only."""
    return all([type(operand) is int for operand in plan.operands])


def at_least_spec(plan: Plan) -> FunctionSpec:
    """The function on top of a k-of-n."""
    return FunctionSpec(AT_LEAST, plan.k, len(plan.operands))


def function_specs(plan: Operand) -> Iterator[FunctionSpec]:
    """The functions that have to be made for a plan, some perhaps twice."""
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
    """No fewer levels than a plan has."""
    return _levels(plan, {})


def _levels(plan: Operand, known: dict[int, int]) -> int:
    if isinstance(plan, int):
        return 1
    found = known.get(id(plan))
    if found is None:
        below = max((_levels(operand, known) for operand in plan.operands), default=0)
        found = known[id(plan)] = below + most_chain_levels(len(plan.operands))
    return found


def most_chain_levels(operands: int) -> int:
    """No fewer levels than a chain has, as `insert_chain` makes it, and one for what tops it."""
    levels, pieces = 1, operands
    while pieces > 1:
        levels += min(pieces, MAX_CHAIN)
        pieces = -(-pieces // MAX_CHAIN)
    return levels


def most_nodes(plan: Operand) -> int:
    """No fewer nodes than a plan needs: a chain of n has n - 1, NOT and a term have one."""
    return _nodes(plan, set())


def _nodes(plan: Operand, counted: set[int]) -> int:
    if isinstance(plan, int):
        return 1
    if id(plan) in counted:
        return 0
    counted.add(id(plan))
    return max(1, len(plan.operands)) + sum(_nodes(operand, counted) for operand in plan.operands)
