"""Selectors as words on axes: a draft produces them, a plan lays them out, a merge joins them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tamis.engines.block.layout.axes import Axes, AxisMapping, join_axes
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.merge import mark_used, move_ranks, remap
from tamis.kernels.block.words import Bytes, Ints, Longs, Words
from tamis.language.expr import Not, Predicate

Leaf = Predicate | Not


@dataclass(frozen=True)
class Rules:
    """Selectors.

    Attributes:
        axes: The axes of their leaves.
        sets: The sets of ranks that leaves refer to.
        predicates: The predicates that phase 1 decides, by the number that leaves refer to.
        code: The selectors, one after the other, in prefix order.
        offsets: Where each begins; one more at the end.
        record: The record of each.
    """

    axes: Axes
    sets: Sets
    predicates: Sequence[Leaf]
    code: Words
    offsets: Longs
    record: Ints


def no_sets() -> Sets:
    """Return an empty collection of sets."""
    return Sets(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))


def join(left: Rules, right: Rules) -> Rules:
    """Return the selectors of both, on common axes; records keep their numbers."""
    axes, (left_map, right_map) = join_axes(left.axes, right.axes)
    left_sets, right_sets = _move_sets(left.sets, left_map), _move_sets(right.sets, right_map)
    known = {predicate: i for i, predicate in enumerate(left.predicates)}
    for predicate in right.predicates:
        known.setdefault(predicate, len(known))
    right_predicates = np.array([known[p] for p in right.predicates], np.int64)
    codes = []
    for rules, mapping, shift, numbers in (
        (left, left_map, 0, np.arange(len(left.predicates))),
        (right, right_map, len(left.sets.axis), right_predicates),
    ):
        code = rules.code.copy()
        shifted = np.arange(len(rules.sets.axis)) + shift
        remap(code, mapping.axis, mapping.constant_at, mapping.constant, shifted, numbers)
        codes.append(code)
    return Rules(
        axes,
        Sets(
            np.concatenate([left_sets.axis, right_sets.axis]),
            np.concatenate([left_sets.offsets, left_sets.offsets[-1] + right_sets.offsets[1:]]),
            np.concatenate([left_sets.ranks, right_sets.ranks]),
        ),
        tuple(known),
        np.concatenate(codes),
        np.concatenate([left.offsets, left.offsets[-1] + right.offsets[1:]]),
        np.concatenate([left.record, right.record]),
    )


def _move_sets(sets: Sets, mapping: AxisMapping) -> Sets:
    ranks = sets.ranks.copy()
    move_ranks(ranks, sets.axis, sets.offsets, mapping.constant_at, mapping.constant)
    return Sets(mapping.axis[sets.axis].astype(np.int32), sets.offsets, ranks)


def prune_rules(rules: Rules) -> Rules:
    """Remove the axes, sets and predicates that no selector refers to any more.

    Constants stay: an unused one does no harm.
    """
    axes, sets, predicates = rules.axes, rules.sets, rules.predicates
    axis_used, set_used = np.zeros(len(axes), np.uint8), np.zeros(len(sets.axis), np.uint8)
    used = np.zeros(len(predicates), np.uint8)
    mark_used(rules.code, axis_used, set_used, used)
    axis_used[sets.axis[set_used == 1]] = 1
    if axis_used.all() and set_used.all() and used.all():
        return rules
    code = rules.code.copy()
    at = np.zeros(len(axes) + 1, np.int64)
    np.cumsum(axes.count + 1, out=at[1:])
    same = np.arange(at[-1]) - np.repeat(at[:-1], axes.count + 1)
    remap(code, _places(axis_used), at[:-1], same, _places(set_used), _places(used))
    kept = np.flatnonzero(set_used)
    lengths = np.diff(sets.offsets)[kept]
    offsets = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    where = np.arange(offsets[-1]) + np.repeat(sets.offsets[kept] - offsets[:-1], lengths)
    return Rules(
        axes.select(np.flatnonzero(axis_used)),
        Sets(_places(axis_used)[sets.axis[kept]].astype(np.int32), offsets, sets.ranks[where]),
        tuple(p for p, is_used in zip(predicates, used, strict=True) if is_used),
        code,
        rules.offsets,
        rules.record,
    )


def _places(used: Bytes) -> Longs:
    """Return, by number, the new number among those that are used."""
    return np.cumsum(used, dtype=np.int64) - 1
