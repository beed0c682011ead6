"""Binary trees of every shape; a shape has a rank, so a random rank is a random shape.

The thesis (§5.2.3) selects a tree "over all possible forms" and then fills in the operators. There
are Catalan(n - 1) shapes of n leaves; they are ranked by the number of leaves on the left, then by
the rank of the left part, then by that of the right.

Operators are given in preorder: the root's, those of the left part, those of the right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb
from typing import TypeVar

from tamis.language.expr import And, BoolExpr, Or, Xor

JUNCTIONS = (And, Or, Xor)
_XOR = JUNCTIONS.index(Xor)
T = TypeVar("T")


def shapes(leaves: int) -> int:
    """Return the number of shapes with so many leaves.

    >>> [shapes(leaves) for leaves in range(1, 7)]
    [1, 1, 2, 5, 14, 42]
    """
    return comb(2 * leaves - 2, leaves - 1) // leaves


def build_tree(leaves: Sequence[BoolExpr], shape: int, operators: Sequence[int]) -> BoolExpr:
    """Build the tree of a shape, with these leaves from left to right.

    >>> from tamis.language.expr import Attribute
    >>> leaves = [Attribute((name,)) for name in "abc"]
    >>> [str(build_tree(leaves, shape, [0, 1])) for shape in range(shapes(3))]
    ['a AND (b OR c)', '(a OR b) AND c']
    """
    return fold_tree(leaves, shape, operators, join_trees)


def join_trees(operator: int, left: BoolExpr, right: BoolExpr) -> BoolExpr:
    """Join two trees by an operator, which is a place in `JUNCTIONS`."""
    return JUNCTIONS[operator]((left, right))


def fold_tree(
    leaves: Sequence[T], shape: int, operators: Sequence[int], join: Callable[[int, T, T], T]
) -> T:
    """Fold a tree of a shape; like `build_tree`, for anything that an operator can join.

    >>> fold_tree([3, 4, 5], 0, [0, 1], lambda operator, left, right: left * right + operator)
    63
    """
    if len(leaves) == 1:
        return leaves[0]
    left, left_shape, right_shape = _split(len(leaves), shape)
    return join(
        operators[0],
        fold_tree(leaves[:left], left_shape, operators[1:left], join),
        fold_tree(leaves[left:], right_shape, operators[left:], join),
    )


def satisfying_values(leaves: int, shape: int, operators: Sequence[int]) -> list[bool]:
    """Return for each leaf whether to make it true, such that the tree is true.

    Without NOT, false leaves make any tree false: so one side of an XOR is left false.

    >>> satisfying_values(3, 1, [2, 0])
    [True, True, False]
    """
    if leaves == 1:
        return [True]
    left, left_shape, right_shape = _split(leaves, shape)
    found = satisfying_values(left, left_shape, operators[1:left])
    if operators[0] == _XOR:
        return found + [False] * (leaves - left)
    return found + satisfying_values(leaves - left, right_shape, operators[left:])


@lru_cache(1 << 16)  # subscriptions that share expressions repeat the same calls
def _split(leaves: int, shape: int) -> tuple[int, int, int]:
    """Return the number of leaves on the left, and the shapes of both parts."""
    for left in range(1, leaves):
        right_shapes = shapes(leaves - left)
        here = shapes(left) * right_shapes
        if shape < here:
            return left, *divmod(shape, right_shapes)
        shape -= here
    raise IndexError(f"shape {shape} is out of range for {leaves} leaves")
