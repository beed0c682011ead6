"""Selectors as words of 64 bits in prefix order: an operator, then its operands.

A *leaf* is one word: an axis (a term and a family of values) and an interval of ranks on it. A test
of any type is thus three adjacent integers, and evaluating it means comparing one rank.

    bits 48 … 63   axis, or what else the word is
    bits 24 … 47   low: the first rank of the interval
    bits  0 … 23   high: the first rank after it

An interval that wraps around (low > high) contains the ranks below `high` and those from `low` on:
`a <> 5`, `a NOT BETWEEN 1 AND 2`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.decorator import kernel

Words = NDArray[np.uint64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]

AXIS_SHIFT = 48
LOW_SHIFT = 24
FIELD = (1 << 24) - 1

# Values of the axis field from here on are not axes, but other kinds of words.
AXES = 0xFFF0
AND = 0xFFF0  # high: the length in words, including the operands; low: unused
OR = 0xFFF1
AT_LEAST = 0xFFF2  # low: k
XOR = 0xFFF3  # certainly true. Operands in pairs: certainly true, certainly false
XNOR = 0xFFF4  # the same, but certainly false
CONSTANT = 0xFFFD  # low: 0 or 1
PREDICATE = 0xFFFE  # low: the number of a predicate that phase 1 decides; high: 1 if negated
SET = 0xFFFF  # low: the number of a set of ranks; high: 1 if the rank must not be in it

# The rank of an event on an axis where it has no value.
NOWHERE = -1


@kernel
def axis_of(word: np.uint64) -> int:
    """Return the axis of a leaf, or the kind of another word."""
    return np.int64(word >> np.uint64(48))  # type: ignore[return-value]


@kernel
def low_of(word: np.uint64) -> int:
    """Return the first rank of a leaf."""
    return np.int64((word >> np.uint64(24)) & np.uint64(0xFFFFFF))  # type: ignore[return-value]


@kernel
def high_of(word: np.uint64) -> int:
    """Return the first rank after a leaf, or the length of an operator."""
    return np.int64(word & np.uint64(0xFFFFFF))  # type: ignore[return-value]


@kernel
def word_of(axis: int, low: int, high: int) -> np.uint64:
    """Return the word of these fields."""
    return (np.uint64(axis) << np.uint64(48)) | (np.uint64(low) << np.uint64(24)) | np.uint64(high)


@kernel
def contains(word: np.uint64, rank: int) -> bool:
    """Return whether the interval of a leaf contains a rank."""
    low, high = low_of(word), high_of(word)
    if low < high:
        return rank >= low and rank < high
    return rank >= low or (rank < high and rank >= 0)


@kernel
def is_in_set(ranks: Ints, begin: int, end: int, rank: int) -> bool:
    """Return whether a rank is among sorted ranks."""
    while begin < end:
        middle = (begin + end) >> 1
        if ranks[middle] < rank:
            begin = middle + 1
        elif ranks[middle] > rank:
            end = middle
        else:
            return True
    return False


def operator_word(operator: int, low: int, length: int) -> int:
    """Return the word of an operator as a Python integer."""
    return operator << AXIS_SHIFT | low << LOW_SHIFT | length


FALSE = operator_word(CONSTANT, 0, 0)
TRUE = operator_word(CONSTANT, 1, 0)
