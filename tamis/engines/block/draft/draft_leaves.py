"""The leaves of a draft, on axes whose constants are not sorted yet.

The word of such a leaf is its number. All other words are as they will be in a segment.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tamis.engines.block.draft.conjunctions import KIND_OF
from tamis.engines.block.layout.axes import Axes, axes_of
from tamis.engines.block.layout.rules import Leaf
from tamis.engines.block.terms import Terms
from tamis.kernels.block.axis_kinds import INSTANT, NUMBER, PRESENCE, TEXT, TRUTH
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.merge import draft_words
from tamis.kernels.block.words import (
    AXES,
    AXIS_SHIFT,
    FIELD,
    LOW_SHIFT,
    PREDICATE,
    SET,
    Words,
    operator_word,
)
from tamis.language.expr import Between, Comparison, ValueExpr
from tamis.predicates.shapes import Except, Family, Interval, Null, Test, Within
from tamis.values import Scalar

# Flags of a leaf; see kernels/block/merge.py.
_OPEN_LOW, _CLOSED_HIGH, _OUTSIDE = 1, 2, 4
_BOUNDS = {
    "=": (True, True, _CLOSED_HIGH),
    "<>": (True, True, _CLOSED_HIGH | _OUTSIDE),
    "<": (False, True, 0),
    "<=": (False, True, _CLOSED_HIGH),
    ">": (True, False, _OPEN_LOW),
    ">=": (True, False, 0),
}
_FAMILIES = {
    Family.NUMBER: NUMBER,
    Family.TEXT: TEXT,
    Family.INSTANT: INSTANT,
    Family.TRUTH: TRUTH,
}


class LeafWords(NamedTuple):
    """Leaves as words of a segment.

    Attributes:
        axes: Their axes.
        sets: The sets that words refer to.
        words: By number of a leaf, its word.
    """

    axes: Axes
    sets: Sets
    words: Words


class DraftLeaves:
    """Axes, leaves, sets and predicates, in insertion order.

    Attributes:
        points: The number of constants in sets.
        predicates: The predicates that phase 1 decides, with their numbers.
    """

    def __init__(self, terms: Terms) -> None:
        """Create an empty collection."""
        self._terms = terms
        self._axes: tuple[dict[int, int], ...] = ({}, {}, {}, {}, {})
        self._slots: list[int] = []
        self._kinds: list[int] = []
        self._constants: list[list[Scalar]] = []
        self._leaf_axis: list[int] = []
        self._leaf_low: list[int] = []
        self._leaf_high: list[int] = []
        self._leaf_flags: list[int] = []
        self._sets: list[tuple[int, int, int]] = []
        self.points = 0
        self.predicates: dict[Leaf, int] = {}

    @property
    def axes(self) -> int:
        """The number of axes."""
        return len(self._slots)

    @property
    def constants(self) -> int:
        """An upper bound for the number of constants: a leaf has at most two."""
        return 2 * len(self._leaf_axis) + self.points

    def axis(self, slot: int, kind: int) -> int:
        """Return the axis of a term and a kind of values; create it if it is new."""
        axes = self._axes[kind]
        axis = axes.get(slot)
        if axis is None:
            axis = axes[slot] = len(self._slots)
            self._slots.append(slot)
            self._kinds.append(kind)
            self._constants.append([False] if kind == PRESENCE else [])
        return axis

    def plain_test(self, test: Comparison | Between) -> int:
        """Add a test that `plain_tests` returned; return its word."""
        if type(test) is Comparison:
            value: Scalar = test.right.value  # type: ignore[union-attr, assignment]
            slot = self._terms.by_path.get(test.left.path)  # type: ignore[union-attr]
            if slot is None:
                slot = self._terms.slot_of_path(test.left.path)  # type: ignore[union-attr]
            kind = KIND_OF[type(value)]
            axis = self._axes[kind].get(slot)
            if axis is None:
                axis = self.axis(slot, kind)
            constants = self._constants[axis]
            at = len(constants)
            constants.append(value)
            has_low, has_high, flags = _BOUNDS[test.op]
            self._leaf_axis.append(axis)
            self._leaf_low.append(at if has_low else -1)
            self._leaf_high.append(at if has_high else -1)
            self._leaf_flags.append(flags)
            return len(self._leaf_axis) - 1
        low, high = test.low.value, test.high.value  # type: ignore[union-attr]
        slot = self._terms.slot_of_path(test.operand.path)  # type: ignore[union-attr]
        return self.leaf(self.axis(slot, KIND_OF[type(low)]), low, high, _CLOSED_HIGH)

    def leaf(
        self, axis: int, low: Scalar | None = None, high: Scalar | None = None, flags: int = 0
    ) -> int:
        """Add a leaf for the values between two constants, or any value; return its word."""
        constants = self._constants[axis]
        self._leaf_axis.append(axis)
        self._leaf_flags.append(flags)
        for ends, constant in ((self._leaf_low, low), (self._leaf_high, high)):
            ends.append(-1 if constant is None else len(constants))
            if constant is not None:
                constants.append(constant)
        return len(self._leaf_axis) - 1

    def _interval(self, axis: int, interval: Interval) -> int:
        low, low_closed, high, high_closed = interval
        flags = (0 if low_closed or low is None else _OPEN_LOW) | (
            _CLOSED_HIGH if high_closed and high is not None else 0
        )
        return self.leaf(axis, low, high, flags)

    def _set(self, axis: int, points: Iterable[Scalar], unwanted: int) -> int:
        constants = self._constants[axis]
        first = len(constants)
        constants.extend(points)
        self._sets.append((axis, first, len(constants) - first))
        self.points += len(constants) - first
        return operator_word(SET, len(self._sets) - 1, unwanted)

    def tests(self, term: ValueExpr, test: Test, leaf: Leaf) -> list[int]:
        """Add a test; return the words of the leaves of which one must hold."""
        slot = self._terms.slot(term)
        if isinstance(test, Null):
            axis = self.axis(slot, PRESENCE)
            return [self._presence(axis, test.wanted)]
        if isinstance(test, Within):
            axis = self.axis(slot, _FAMILIES[test.family])
            points = [i.low for i in test.intervals if i.low is i.high and i.low is not None]
            if len(points) > 1 and len(points) == len(test.intervals):
                return [self._set(axis, points, 0)]
            return [self._interval(axis, interval) for interval in test.intervals]
        if isinstance(test, Except):
            axis = self.axis(slot, _FAMILIES[test.family])
            if len(test.points) == 1:
                (point,) = test.points
                return [self.leaf(axis, point, point, _CLOSED_HIGH | _OUTSIDE)]
            return [self._set(axis, test.points, 1)]
        return [self.predicate(leaf)]

    def _presence(self, axis: int, null: bool) -> int:
        """Add a test for a value (rank 1) or for none (rank 0).

        A PRESENCE axis has its one constant from the beginning.
        """
        self._leaf_axis.append(axis)
        self._leaf_low.append(-1 if null else 0)
        self._leaf_high.append(0)
        self._leaf_flags.append(0 if null else _CLOSED_HIGH)
        return len(self._leaf_axis) - 1

    def predicate(self, leaf: Leaf) -> int:
        """What phase 1 must decide."""
        number = self.predicates.setdefault(leaf, len(self.predicates))
        return operator_word(PREDICATE, number, 0)

    def any_text(self, term: ValueExpr) -> int:
        """Add a leaf that holds if a term is a text; return its word."""
        return self.leaf(self.axis(self._terms.slot(term), TEXT))

    def copy_word(self, other: DraftLeaves, predicates: list[Leaf], word: int) -> int:
        """Copy a word of other leaves, whose predicates are `predicates`; return the new word."""
        kind, number = word >> AXIS_SHIFT, (word >> LOW_SHIFT) & FIELD
        if kind < AXES:
            return self._copy_leaf(other, word)
        if kind == PREDICATE:
            return self.predicate(predicates[number]) | (word & FIELD)
        if kind == SET:
            axis, first, count = other._sets[number]
            points = other._constants[axis][first : first + count]
            return self._set(self._copy_axis(other, axis), points, word & FIELD)
        return word

    def _copy_leaf(self, other: DraftLeaves, leaf: int) -> int:
        axis = self._copy_axis(other, other._leaf_axis[leaf])
        low, high = other._leaf_low[leaf], other._leaf_high[leaf]
        if self._kinds[axis] == PRESENCE:
            return self._presence(axis, low < 0)
        constants = other._constants[other._leaf_axis[leaf]]
        ends = [None if end < 0 else constants[end] for end in (low, high)]
        return self.leaf(axis, ends[0], ends[1], other._leaf_flags[leaf])

    def _copy_axis(self, other: DraftLeaves, axis: int) -> int:
        return self.axis(other._slots[axis], other._kinds[axis])

    def words(self) -> LeafWords:
        """Return the leaves as words, with the constants sorted."""
        axes, at, places = axes_of(self._slots, self._kinds, self._constants)
        axis = np.array(self._leaf_axis, np.int64)
        low, high = np.array(self._leaf_low, np.int64), np.array(self._leaf_high, np.int64)
        begin = at[axis]
        words = np.empty(len(axis), np.uint64)
        draft_words(
            axis,
            np.where(low >= 0, low + begin, -1),
            np.where(high >= 0, high + begin, -1),
            np.array(self._leaf_flags, np.int64),
            axes.count,
            places,
            words,
        )
        return LeafWords(axes, self._build_sets(at, places), words)

    def _build_sets(self, at: np.ndarray, places: np.ndarray) -> Sets:
        ranks = [
            np.unique(2 * places[at[axis] + first : at[axis] + first + count] + 1)
            for axis, first, count in self._sets
        ]
        offsets = np.zeros(len(ranks) + 1, np.int64)
        np.cumsum([len(some) for some in ranks], out=offsets[1:])
        return Sets(
            np.array([axis for axis, _, _ in self._sets], np.int32),
            offsets,
            np.concatenate([*ranks, np.zeros(0, np.int64)]).astype(np.int32),
        )
