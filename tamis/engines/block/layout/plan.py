"""How selectors are laid out: which are indexed under a cover, and which are matched in blocks.

The plan depends only on the words of the selectors and the shares of their leaves. It is not final:
when other events arrive, the words are extracted and laid out again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.layout.rules import Rules
from tamis.kernels.block.covers import NO_COVER, Shares
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.layout import (
    CoverEntries,
    lay_general,
    lay_narrow,
    lay_trees,
    sort_into_buckets,
)
from tamis.kernels.block.masks import WideSelectors
from tamis.kernels.block.match import Buckets, GeneralSelectors, NarrowSelectors
from tamis.kernels.block.merge import (
    flat_lengths,
    general_lengths,
    narrow_lengths,
    take_flat,
    take_general,
    take_narrow,
    take_trees,
    tree_lengths,
)
from tamis.kernels.block.plan import (
    GENERAL,
    NARROW,
    NEVER,
    WIDE_FLAT,
    WIDE_TREE,
    Choice,
    CostLimits,
    choose,
)
from tamis.kernels.block.rows import Leaves
from tamis.kernels.block.trees import COUNTER
from tamis.kernels.block.words import (
    AXES,
    AXIS_SHIFT,
    CONSTANT,
    FALSE,
    FIELD,
    LOW_SHIFT,
    PREDICATE,
    SET,
    Bytes,
    Ints,
    Longs,
    Words,
)

# The shares of events at which checking a selector under its cover costs as much as its part of a
# block, per event: 10 and 100 ns per check against 0.02 to 0.15 ns, on the workloads of
# `tamis bench block`.
NARROW_BELOW = 0.005
GENERAL_BELOW = 0.002

# In nanoseconds: the fixed cost of a block per event and axis, and the cost of checking a selector
# under its cover. Where few selectors are wide, it is cheaper to do without blocks.
_BLOCK_COST = 4.0
_GENERAL_COST = 80.0

LEVELS = 25


@dataclass(frozen=True)
class Plan:
    """Selectors laid out for matching.

    Attributes:
        buckets, narrow, general: The selectors that are indexed under a cover.
        wide: The selectors that are matched in blocks.
        never: The records of selectors that no event satisfies.
        leaves: By bucket of a value or a predicate, its leaf.
        defaults: By axis, the rank of an event without a value.
        narrow_cost, general_cost: Estimates of how many of them an event checks.
    """

    buckets: Buckets
    narrow: NarrowSelectors
    general: GeneralSelectors
    wide: WideSelectors
    never: Ints
    leaves: Words
    defaults: Ints
    narrow_cost: float
    general_cost: float


def lay_out(rules: Rules, shares: Shares) -> Plan:
    """Lay out selectors, given the shares of their leaves."""
    axes, code, offsets = rules.axes, rules.code.copy(), rules.offsets
    count = len(offsets) - 1
    point_at = np.cumsum(axes.count) - axes.count
    predicate_at = int(axes.count.sum())
    points = predicate_at + len(rules.predicates)
    choice = Choice(
        np.zeros(count, np.uint8),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count, np.int64),
    )
    levels = np.zeros(len(axes), np.int64)
    chosen_by = (code, offsets, shares, point_at, predicate_at)
    choose(*chosen_by, CostLimits(NARROW_BELOW, GENERAL_BELOW), choice, levels)
    is_wide = (choice.kind == WIDE_FLAT) | (choice.kind == WIDE_TREE)
    if choice.cost[is_wide].sum() * _GENERAL_COST < len(axes) * _BLOCK_COST:
        choose(*chosen_by, CostLimits(NARROW_BELOW, NO_COVER - 0.5), choice, levels)
    level_offsets, level_shift, level_at, level_bucket, total = _levels(axes, levels, points)
    buckets = Buckets(point_at, level_offsets, level_shift, level_at, predicate_at)
    chosen = [np.flatnonzero(choice.kind == kind) for kind in range(NEVER + 1)]
    wide = _wide_selectors(rules, code, chosen[WIDE_FLAT], chosen[WIDE_TREE], len(rules.predicates))
    return Plan(
        buckets,
        _narrow_selectors(rules, code, choice, chosen[NARROW], points),
        _general_selectors(
            rules, code, choice, chosen[GENERAL], shares, buckets, level_bucket, total
        ),
        wide,
        rules.record[chosen[NEVER]],
        _leaves(axes, len(rules.predicates)),
        axes.defaults,
        float(choice.cost[chosen[NARROW]].sum()),
        float(choice.cost[chosen[GENERAL]].sum()),
    )


def _levels(axes: Axes, used: Longs, first: int) -> tuple[Longs, Longs, Longs, Longs, int]:
    """Assign buckets, from `first` on, to every level in use.

    Returns:
        `level_offsets`, `level_shift` and `level_at` of `Buckets`; by axis and level, its first
        bucket, or -1; and the number of all buckets.
    """
    shifts = np.arange(LEVELS)
    is_used = (used[:, None] >> shifts) & 1 == 1
    axis, shift = np.nonzero(is_used)
    pieces = (2 * axes.count[axis] >> shift) + 1
    at = first + np.cumsum(pieces) - pieces
    offsets = np.zeros(len(axes) + 1, np.int64)
    np.cumsum(is_used.sum(axis=1), out=offsets[1:])
    bucket = np.full(len(axes) * LEVELS, -1, np.int64)
    bucket[axis * LEVELS + shift] = at
    return offsets, shift.astype(np.int64), at, bucket, first + int(pieces.sum())


def _leaves(axes: Axes, predicates: int) -> Words:
    """Return the leaf of each bucket of a value or a predicate."""
    axis = np.repeat(np.arange(len(axes)), axes.count)
    place = np.arange(len(axis)) - np.repeat(np.cumsum(axes.count) - axes.count, axes.count)
    points = axis << AXIS_SHIFT | (2 * place + 1) << LOW_SHIFT | (2 * place + 2)
    others = np.uint64(PREDICATE) << np.uint64(AXIS_SHIFT) | (
        np.arange(predicates, dtype=np.uint64) << np.uint64(LOW_SHIFT)
    )
    return np.concatenate([points.astype(np.uint64), others])


def _narrow_selectors(
    rules: Rules, code: Words, choice: Choice, chosen: Longs, buckets: int
) -> NarrowSelectors:
    offsets = np.zeros(buckets + 1, np.int32)
    order = np.empty(len(chosen), np.int64)
    sort_into_buckets(choice.bucket[chosen], offsets, order)
    chosen = chosen[order]
    lengths = np.diff(rules.offsets)[chosen]
    rest_count = int(np.maximum(lengths - 3, 0).sum())  # the AND, the value, the second
    second, rest = np.empty(len(chosen), np.uint64), np.empty(rest_count, np.uint64)
    rest_offsets = np.zeros(len(chosen) + 1, np.int64)
    lay_narrow(code, rules.offsets, chosen, choice.place, second, rest_offsets, rest)
    return NarrowSelectors(
        offsets, second, rest_offsets.astype(np.int32), rest, rules.record[chosen]
    )


def _general_selectors(
    rules: Rules,
    code: Words,
    choice: Choice,
    chosen: Longs,
    shares: Shares,
    buckets: Buckets,
    level_bucket: Longs,
    bucket_count: int,
) -> GeneralSelectors:
    count = int(choice.entries[chosen].sum())
    entries = CoverEntries(
        np.empty(count, np.int64), np.empty(count, np.int32), np.empty(count, np.uint64)
    )
    lay_general(code, rules.offsets, chosen, shares, buckets, level_bucket, entries)
    offsets, order = np.zeros(bucket_count + 1, np.int32), np.empty(count, np.int64)
    sort_into_buckets(entries.bucket, offsets, order)
    code_offsets, kept = _gather_words(code, rules.offsets, chosen)
    return GeneralSelectors(
        offsets,
        entries.program[order],
        entries.gate[order],
        code_offsets,
        kept,
        rules.record[chosen],
    )


def _gather_words(code: Words, offsets: Longs, chosen: Longs) -> tuple[Longs, Words]:
    """Return where each of some selectors begins, and their words end to end."""
    lengths = offsets[chosen + 1] - offsets[chosen]
    kept = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=kept[1:])
    where = np.arange(kept[-1]) + np.repeat(offsets[chosen] - kept[:-1], lengths)
    return kept, code[where]


# -- blocks ---------------------------------------------------------------------------------------


def _wide_selectors(
    rules: Rules, code: Words, flat: Longs, trees: Longs, predicates: int
) -> WideSelectors:
    flat_offsets, flat_code = _gather_words(code, rules.offsets, flat)
    tree_offsets, tree_code = _gather_words(code, rules.offsets, trees)
    words = np.concatenate([flat_code, tree_code])
    is_leaf = ~_is_operator(words)
    leaves, owner, number = _distinct_leaves(words[is_leaf], rules.sets)
    row_of = np.full(len(words), -1, np.int32)
    row_of[is_leaf] = number
    cut = len(flat_code)

    # Conjunctions are stored without their ANDs.
    in_flat = is_leaf[:cut]
    before = np.zeros(cut + 1, np.int64)
    np.cumsum(in_flat, out=before[1:])

    selectors = np.arange(len(trees))
    laid_offsets = np.zeros(len(trees) + 1, np.int64)
    depth, largest = lay_trees(
        tree_code, row_of[cut:], tree_offsets, selectors, laid_offsets, np.zeros(0, np.int32)
    )
    tree = np.empty(laid_offsets[-1], np.int32)
    lay_trees(tree_code, row_of[cut:], tree_offsets, selectors, laid_offsets, tree)

    on_axis = int(np.searchsorted(owner, AXES))
    axes, first = np.unique(owner[:on_axis], return_index=True)
    grade_at, grades, ends = _grades(rules, leaves[:on_axis], owner[:on_axis], axes)
    predicate_row, other_row = np.full((2, predicates), -1, np.int32)
    is_predicate = (leaves >> np.uint64(AXIS_SHIFT)) == PREDICATE
    for flag, rows in enumerate((predicate_row, other_row)):
        mine = is_predicate & ((leaves & np.uint64(FIELD)) == flag)
        numbers = (leaves[mine] >> np.uint64(LOW_SHIFT)) & np.uint64(FIELD)
        rows[numbers.astype(np.int64)] = np.flatnonzero(mine)
    return WideSelectors(
        Leaves(
            leaves,
            axes.astype(np.int32),
            np.append(first, on_axis).astype(np.int64),
            grade_at,
            grades,
            ends,
            predicate_row,
            other_row,
        ),
        before[flat_offsets],
        row_of[:cut][in_flat],
        rules.record[flat],
        laid_offsets,
        tree,
        rules.record[trees],
        # One plane for the other rail of a parity, or one per bit of the counter.
        COUNTER + max(int(largest).bit_length(), 1),
        int(depth),
    )


def _is_operator(words: Words) -> np.ndarray:
    axis = words >> np.uint64(AXIS_SHIFT)
    return (axis >= AXES) & (axis < CONSTANT)


def _distinct_leaves(words: Words, sets: Sets) -> tuple[Words, Longs, Ints]:
    """Return the leaves sorted by axis, the axis of each, and the number of each word's leaf."""
    distinct, inverse = np.unique(words, return_inverse=True)
    owner = (distinct >> np.uint64(AXIS_SHIFT)).astype(np.int64)
    number = ((distinct >> np.uint64(LOW_SHIFT)) & np.uint64(FIELD)).astype(np.int64)
    is_set = owner == SET
    owner[is_set] = sets.axis[number[is_set]]
    order = np.argsort(owner, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return distinct[order], owner[order], place[inverse]


def _grades(rules: Rules, leaves: Words, owner: Longs, axes: Longs) -> tuple[Longs, Ints, Longs]:
    """Return `grade_at`, `grades` and `ends` of `Leaves`."""
    low = ((leaves >> np.uint64(LOW_SHIFT)) & np.uint64(FIELD)).astype(np.int64)
    high = (leaves & np.uint64(FIELD)).astype(np.int64)
    is_set = (leaves >> np.uint64(AXIS_SHIFT)) == SET
    set_offsets, set_ranks = rules.sets.offsets, rules.sets.ranks.astype(np.int64)
    points = [set_ranks[set_offsets[n] : set_offsets[n + 1]] for n in low[is_set].tolist()]
    members = np.concatenate([*points, np.zeros(0, np.int64)])
    set_owner = np.repeat(owner[is_set], [len(some) for some in points])
    end = np.concatenate([low[~is_set], high[~is_set], members, members + 1])
    end_owner = np.concatenate([owner[~is_set], owner[~is_set], set_owner, set_owner])
    ranks = 2 * rules.axes.count[axes] + 1
    grade_at = np.cumsum(ranks) - ranks
    # No event is below an end at rank 0, or above one after the last rank.
    at = grade_at[np.searchsorted(axes, end_owner)] + end
    inner = end < ranks[np.searchsorted(axes, end_owner)]
    steps = np.zeros(int(ranks.sum()) + 1, np.int32)
    steps[np.unique(at[inner])] = 1
    grades = np.cumsum(steps[:-1], dtype=np.int32)
    before = np.where(grade_at > 0, grades[grade_at - 1], 0) if len(axes) else grade_at
    grades -= np.repeat(before, ranks).astype(np.int32)
    ends = grades[grade_at + ranks - 1].astype(np.int64) if len(axes) else grade_at
    return grade_at, grades, ends


# -- extraction -----------------------------------------------------------------------------------


def words_of(plan: Plan, alive: Bytes) -> tuple[Words, Longs, Ints]:
    """Return the selectors of a plan that are alive, as they were before they were laid out.

    Returns:
        The words, where each selector begins, and its record; in the order of the records.
    """
    narrow, general, wide = plan.narrow, plan.general, plan.wide
    parts = [
        _take_words(
            narrow.record,
            lambda lengths: narrow_lengths(narrow, alive, lengths),
            lambda lengths, words: take_narrow(narrow, plan.leaves, lengths, words),
        ),
        _take_words(
            general.record,
            lambda lengths: general_lengths(general, alive, lengths),
            lambda lengths, words: take_general(general, lengths, words),
        ),
        _take_words(
            wide.flat_record,
            lambda lengths: flat_lengths(wide, alive, lengths),
            lambda lengths, words: take_flat(wide, lengths, words),
        ),
        _take_words(
            wide.tree_record,
            lambda lengths: tree_lengths(wide, alive, lengths),
            lambda lengths, words: take_trees(wide, lengths, words),
        ),
    ]
    dead = plan.never[alive[plan.never] == 1]
    parts.append((np.full(len(dead), FALSE, np.uint64), np.ones(len(dead), np.int64), dead))
    words, lengths, record = (np.concatenate(some) for some in zip(*parts, strict=True))
    ends = np.cumsum(lengths)
    by_record = np.argsort(record, kind="stable")
    begins = (ends - lengths)[by_record]
    lengths = lengths[by_record]
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    where = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)
    return words[where], offsets, record[by_record]


def _take_words(
    record: Ints, measure: Callable[[Longs], None], take: Callable[[Longs, Words], None]
) -> tuple[Words, Longs, Ints]:
    """Return the words of the selectors of one kind, their lengths, and their records."""
    lengths = np.zeros(len(record), np.int64)
    measure(lengths)
    words = np.empty(int(lengths.sum()), np.uint64)
    take(lengths, words)
    return words, lengths[lengths > 0], record[lengths > 0]
