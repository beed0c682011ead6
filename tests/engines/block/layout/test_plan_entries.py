"""`choose` counts exactly the entries that `lay_general` writes into the room made for them."""

from __future__ import annotations

import random

import numpy as np

from tamis.kernels.block.covers import NO_COVER, Shares, cheapest_cover, entries_of, weigh
from tamis.kernels.block.plan import GENERAL, Choice, CostLimits, choose
from tamis.kernels.block.words import AND, OR, PREDICATE, TRUE, Words, operator_word


def leaves(*numbers: int) -> list[int]:
    return [operator_word(PREDICATE, number, 0) for number in numbers]


# p0 AND (p1 OR (TRUE AND (p2 OR p3 OR p4)))
CODE = np.array(
    [
        operator_word(AND, 0, 10),
        *leaves(0),
        operator_word(OR, 0, 8),
        *leaves(1),
        operator_word(AND, 0, 6),
        TRUE,
        operator_word(OR, 0, 4),
        *leaves(2, 3, 4),
    ],
    np.uint64,
)


def shares_of(predicates: list[float]) -> Shares:
    none, small = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Shares(
        none,
        np.zeros(1),
        np.zeros(0, np.uint8),
        np.array(predicates),
        small,
        np.zeros(1, np.int64),
        small,
    )


def chosen(code: Words, shares: Shares) -> int:
    """Return how many entries `choose` counts, with a cover wherever there is one."""
    offsets, none = np.array([0, len(code)]), np.zeros(0, np.int64)
    byte, double, longs = np.zeros(1, np.uint8), np.zeros(1), [np.zeros(1, np.int64) for _ in "123"]
    choice = Choice(byte, longs[0], longs[1], double, longs[2])
    choose(code, offsets, shares, none, 0, CostLimits(-1.0, NO_COVER - 0.5), choice, none)
    assert choice.kind[0] == GENERAL
    return int(choice.entries[0])


def laid(code: Words, shares: Shares) -> int:
    """Return how many entries `lay_general` writes."""
    cost, cover = np.empty(len(code)), np.empty(len(code), np.int64)
    weigh(code, cost, 0, len(code), shares)
    count = cheapest_cover(code, cost, cover, np.empty(len(code) + 1, np.int64))
    return sum(entries_of(code[at], shares) for at in cover[:count])


def test_entries_are_those_of_the_cover() -> None:
    """A sum in another order differs in the last bit, and then a tie is broken differently."""
    draw = random.Random(3)
    for _ in range(300):
        first, *others = sorted(draw.random() / 9 for _ in range(4))
        draw.shuffle(others)
        # As dear as the other operand, before that is put into order.
        whole = first + (others[0] + others[1] + others[2])
        code, shares = CODE.copy(), shares_of([whole, first, *others])
        assert chosen(code, shares) == laid(code, shares)
