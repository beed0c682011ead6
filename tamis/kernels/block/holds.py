"""Evaluate a leaf or a selector on one event, given its row of ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.kernels.block.words import (
    AND,
    AT_LEAST,
    AXES,
    AXIS_SHIFT,
    CONSTANT,
    OR,
    PREDICATE,
    XOR,
    Ints,
    Longs,
    Words,
    axis_of,
    contains,
    high_of,
    is_in_set,
    low_of,
)
from tamis.kernels.decorator import kernel

# Words from here on are not intervals on an axis.
OTHER = AXES << AXIS_SHIFT


class Sets(NamedTuple):
    """Sets of ranks, for `IN (…)` with many values.

    Attributes:
        axis: By set, its axis.
        offsets: By set, where its ranks begin in `ranks`; one more at the end.
        ranks: The ranks, sorted within each set.
    """

    axis: Ints
    offsets: Longs
    ranks: Ints


@kernel
def leaf_holds(
    word: np.uint64, row: Ints, true: Longs, clock: int, set_axis: Ints, set_at: Longs, ranks: Ints
) -> bool:
    """Return whether an event satisfies a leaf."""
    axis = axis_of(word)
    if axis < AXES:
        return contains(word, row[axis])
    low = low_of(word)
    if axis == CONSTANT:
        return low == 1
    if axis == PREDICATE:
        return (true[low] == clock) != (high_of(word) == 1)
    rank = row[set_axis[low]]
    if rank < 0:
        return False
    return is_in_set(ranks, set_at[low], set_at[low + 1], rank) != (high_of(word) == 1)


@kernel
def propagate(frames: Longs, depth: int, at: int, value: bool) -> tuple[int, int, bool]:
    """Pass the value of an operand to its operator, and upwards while that decides the operator.

    Args:
        frames: The stack of operators whose operands are being evaluated; a row is (operator - AND,
            end, need, parity, held).
        depth: The size of the stack.
        at: The place of the next operand.
        value: The value of the last operand.

    Returns:
        The new size of the stack, the place to continue at, and, if the stack is empty, the value
        of the selector.
    """
    while depth > 0:
        operator, stop = frames[depth - 1, 0], frames[depth - 1, 1]
        if operator == 0:  # AND
            if value and at < stop:
                break
        elif operator == OR - AND:
            if not value and at < stop:
                break
        elif operator == AT_LEAST - AND:
            frames[depth - 1, 2] -= 1 if value else 0
            value = frames[depth - 1, 2] <= 0
            if not value and at < stop:
                break
        else:
            held = frames[depth - 1, 4]
            if held < 0:
                frames[depth - 1, 4] = 1 if value else 0
                break
            if held == 0 and not value:  # neither true nor false: unknown, and so is the whole
                value = False
            else:
                frames[depth - 1, 3] ^= held
                frames[depth - 1, 4] = -1
                if at < stop:
                    break
                value = frames[depth - 1, 3] == (1 if operator == XOR - AND else 0)
        at = stop
        depth -= 1
    return depth, at, value


@kernel
def holds(
    code: Words, at: int, row: Ints, true: Longs, clock: int, sets: Sets, frames: Longs
) -> bool:
    """Return whether an event satisfies the selector at a place of `code`.

    Operands that cannot change the result are skipped.
    """
    set_axis, set_offsets, set_ranks = sets.axis, sets.offsets, sets.ranks
    depth = 0
    while True:
        word = code[at]
        axis = axis_of(word)
        if axis >= AND and axis < CONSTANT:
            frames[depth, 0] = axis - AND
            frames[depth, 1] = at + high_of(word)
            frames[depth, 2] = low_of(word)
            frames[depth, 3] = 0
            frames[depth, 4] = -1
            depth += 1
            at += 1
            continue
        value = leaf_holds(word, row, true, clock, set_axis, set_offsets, set_ranks)
        at += 1
        depth, at, value = propagate(frames, depth, at, value)
        if depth == 0:
            return value
