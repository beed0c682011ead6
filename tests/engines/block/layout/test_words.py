"""Words, plans and covers against an evaluation of the words in Python."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.engines.block.draft.draft import Draft
from tamis.engines.block.layout.plan import lay_out, words_of
from tamis.engines.block.layout.rules import Rules, join, prune_rules
from tamis.engines.block.segment.segment import _guessed_shares
from tamis.engines.block.terms import Terms
from tamis.engines.subscription import Subscription
from tamis.kernels.block.covers import cheapest_cover, leaf_cost, level_of, weigh
from tamis.kernels.block.words import (
    AND,
    AT_LEAST,
    AXES,
    CONSTANT,
    NOWHERE,
    OR,
    PREDICATE,
    SET,
    XOR,
    axis_of,
    contains,
    high_of,
    low_of,
    word_of,
)
from tests.engines.block.random_cases import FUNCTIONS, drawn_selectors
from tests.engines.block.ways import WAYS, forced

Facts = tuple[list[int], set[object]]  # ranks by axis, and the predicates that hold


@given(low=st.integers(0, 9), high=st.integers(0, 9), rank=st.integers(-1, 9))
def test_an_interval_may_wrap_around(low, high, rank) -> None:
    if low == high:
        return
    inside = low <= rank < high if low < high else rank >= low or 0 <= rank < high
    assert contains(np.uint64(word_of(3, low, high)), rank) == (inside and rank != NOWHERE)


@given(low=st.integers(0, 2**24 - 2), size=st.integers(1, 2**23))
def test_an_interval_is_in_two_pieces_at_most(low, size) -> None:
    high = min(low + size, 2**24 - 1)
    shift = level_of(low, high)
    assert ((high - 1) >> shift) - (low >> shift) <= 1 and shift < 25
    assert shift == 0 or ((high - 1) >> (shift - 1)) - (low >> (shift - 1)) > 1


# -- selectors ------------------------------------------------------------------------------------


def rules_of(selectors: list[str], terms: Terms) -> Rules:
    draft = Draft(terms)
    for text in selectors:
        draft.add(Subscription.of(1, text, functions=FUNCTIONS))
    return draft.rules()


def parts(code: np.ndarray, at: int) -> tuple[list[int], int]:
    """Return where the operands of an operator begin, and where it ends."""
    stop, operand, found = at + int(high_of(code[at])), at + 1, []
    while operand < stop:
        found.append(operand)
        axis = axis_of(code[operand])
        operand += int(high_of(code[operand])) if AXES <= axis < CONSTANT else 1
    return found, stop


def leaf(rules: Rules, word: np.uint64, facts: Facts) -> bool:
    ranks, held = facts
    axis, low, high = axis_of(word), low_of(word), high_of(word)
    if axis < AXES:
        return contains(word, ranks[axis])
    if axis == CONSTANT:
        return low == 1
    if axis == PREDICATE:
        return (rules.predicates[low] in held) != (high == 1)
    assert axis == SET
    members = rules.sets.ranks[rules.sets.offsets[low] : rules.sets.offsets[low + 1]]
    rank = ranks[rules.sets.axis[low]]
    return rank != NOWHERE and (rank in members) != (high == 1)


def truth(rules: Rules, code: np.ndarray, at: int, facts: Facts) -> bool:
    axis = axis_of(code[at])
    if not AXES <= axis < CONSTANT:
        return leaf(rules, code[at], facts)
    values = [truth(rules, code, operand, facts) for operand in parts(code, at)[0]]
    if axis == AND:
        return all(values)
    if axis == OR:
        return any(values)
    if axis == AT_LEAST:
        return sum(values) >= low_of(code[at])
    true, false = values[::2], values[1::2]
    known = all(t or f for t, f in zip(true, false, strict=True))
    return known and sum(true) % 2 == (axis == XOR)


def some_facts(draw: random.Random, rules: Rules) -> Facts:
    ranks = [draw.randrange(2 * int(n) + 1) for n in rules.axes.count]
    for axis in range(len(ranks)):
        if draw.random() < 0.2:
            ranks[axis] = 0 if rules.axes.kind[axis] == 4 else NOWHERE
        elif rules.axes.kind[axis] == 4:
            ranks[axis] = draw.randrange(2)
    return ranks, {p for p in rules.predicates if draw.random() < 0.4}


def mine(rules: Rules, s: int) -> np.ndarray:
    return rules.code[rules.offsets[s] : rules.offsets[s + 1]]


@pytest.mark.parametrize("seed", range(3))
def test_a_leaf_of_the_cover_holds_where_the_selector_does(seed: int) -> None:
    draw = random.Random(seed)
    rules = rules_of(drawn_selectors(draw, 150), Terms())
    guessed = _guessed_shares(rules)
    held = 0
    for _ in range(12):
        weights = np.array([draw.random() ** 9 for _ in guessed.below])
        shares = guessed._replace(below=np.cumsum(weights) / weights.sum())
        facts = some_facts(draw, rules)
        for s in range(len(rules.offsets) - 1):
            code = mine(rules, s)
            cost, cover = np.empty(len(code)), np.empty(len(code), np.int64)
            weigh(code, cost, 0, len(code), shares)
            if cost[0] > 1.5 or not truth(rules, code, 0, facts):
                continue
            held += 1
            chosen = cover[: cheapest_cover(code, cost, cover, np.empty(len(code) + 1, np.int64))]
            assert all(leaf_cost(code[at], shares) < 2 for at in chosen)
            assert any(leaf(rules, code[at], facts) for at in chosen)
    assert held > 20


@pytest.mark.parametrize("way", WAYS)
def test_words_can_be_extracted_from_a_plan(way: str) -> None:
    draw = random.Random(way)
    rules = rules_of(drawn_selectors(draw, 200), Terms())
    alive = np.array([draw.random() < 0.8 for _ in range(200)], np.uint8)
    with forced(way):
        plan = lay_out(rules, _guessed_shares(rules))
    code, offsets, record = words_of(plan, alive)
    assert record.tolist() == np.flatnonzero(alive).tolist()
    again = replace(rules, code=code, offsets=offsets, record=record)
    for place, s in enumerate(record.tolist()):
        assert sorted(mine(again, place).tolist()) == sorted(mine(rules, s).tolist())
    assert_same(draw, again, rules, record.tolist())


def assert_same(draw: random.Random, some: Rules, others: Rules, which: list[int]) -> None:
    """Check that `some` are the selectors `which` of `others`, on some of their axes."""
    there = {key: axis for axis, key in enumerate(axis_keys(others))}
    for _ in range(5):
        ranks, predicates = some_facts(draw, others)
        here = [ranks[there[key]] for key in axis_keys(some)]
        for place, s in enumerate(which):
            assert truth(some, mine(some, place), 0, (here, predicates)) == truth(
                others, mine(others, s), 0, (ranks, predicates)
            )


def axis_keys(rules: Rules) -> list[tuple[int, int]]:
    return list(zip(rules.axes.slot.tolist(), rules.axes.kind.tolist(), strict=True))


def test_joined_rules_equal_rules_drafted_together() -> None:
    draw = random.Random(5)
    selectors, terms = drawn_selectors(draw, 160), Terms()
    together = rules_of(selectors, terms)
    left, right = rules_of(selectors[:70], terms), rules_of(selectors[70:], terms)
    both = join(left, replace(right, record=right.record + 70))
    assert both.record.tolist() == list(range(160))
    # The axes of both are in the same order here: the left's first, then what the right adds.
    assert both.axes.slot.tolist() == together.axes.slot.tolist()
    assert both.axes.count.tolist() == together.axes.count.tolist()
    assert set(both.predicates) == set(together.predicates)
    assert_same(draw, both, together, list(range(160)))


def test_pruning_removes_what_no_selector_refers_to() -> None:
    draw = random.Random(6)
    rules = rules_of(drawn_selectors(draw, 160), Terms())
    chosen = list(range(0, 160, 9))
    lengths = [len(mine(rules, s)) for s in chosen]
    some = replace(
        rules,
        code=np.concatenate([mine(rules, s) for s in chosen]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        record=rules.record[chosen],
    )
    left = prune_rules(some)
    assert len(left.predicates) < len(rules.predicates)
    assert len(left.sets.axis) < len(rules.sets.axis)
    assert len(left.axes) < len(rules.axes)
    assert prune_rules(left) is left
    assert_same(draw, left, rules, chosen)
