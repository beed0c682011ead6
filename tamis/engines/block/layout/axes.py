"""The axes of a segment: each is a term, a family of values, and the constants it is compared with.

All constants of all axes are in flat arrays, so that a million of them open as fast as one, and the
axes of two segments are joined by one sort. A number is stored as the nearest double and the
difference to the exact value, so that 2^53 + 1 is between 2^53 and 2^53 + 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tamis.kernels.block.axis_kinds import KINDS, PRESENCE, TEXT
from tamis.kernels.block.event import AxisConstants
from tamis.kernels.block.merge import gather_texts, merge_texts
from tamis.kernels.block.ranks import Scales
from tamis.kernels.block.words import Bytes, Longs
from tamis.values import INT_MAX, Scalar, Timestamp

# The most constants on one axis: a rank has 24 bits in a word.
MOST_CONSTANTS = (1 << 23) - 2

# A table of ranks, for all integers from the least to the greatest constant, replaces a search by
# one lookup. It may have this many times as many entries as the axis has constants.
_ROOMY = 8
# With fewer constants, a search takes no longer.
_MANY = 8
_EXACT = 1 << 53

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Axes:
    """The axes, by number.

    Attributes:
        slot: The number of the term.
        kind: NUMBER, TEXT …
        begin, count: The range of its constants, among the numbers or among the texts.
        value, residual: The numbers, sorted on every axis: the nearest double, and the rest.
        bounds, texts: The texts, sorted on every axis: text i is texts[bounds[i]:bounds[i + 1]].
    """

    slot: Longs
    kind: Longs
    begin: Longs
    count: Longs
    value: Doubles
    residual: Longs
    bounds: Longs
    texts: Bytes

    def __len__(self) -> int:
        """Return the number of axes."""
        return len(self.slot)

    @cached_property
    def rank_at(self) -> Longs:
        """By axis, its first rank if all ranks are numbered consecutively; one more at the end."""
        ends = np.zeros(len(self) + 1, np.int64)
        np.cumsum(2 * self.count + 2, out=ends[1:])
        return ends

    @cached_property
    def defaults(self) -> NDArray[np.int32]:
        """By axis, the rank of an event without a value."""
        return np.where(self.kind == PRESENCE, 0, -1).astype(np.int32)

    def select(self, kept: Longs) -> Axes:
        """Return some of the axes, in their order."""
        if len(kept) == len(self):
            return self
        begin, count, kind = self.begin[kept], self.count[kept], self.kind[kept]
        text = kind == TEXT
        numbers = _ranges(begin[~text], count[~text])
        bounds, texts = take_texts(self.bounds, self.texts, _ranges(begin[text], count[text]))
        new = np.zeros(len(kept), np.int64)
        for mine in (text, ~text):
            new[mine] = np.cumsum(count[mine]) - count[mine]
        value, residual = self.value[numbers], self.residual[numbers]
        return Axes(self.slot[kept], kind, new, count, value, residual, bounds, texts)

    def lookup(self, slots: int) -> Longs:
        """Return the axis by slot * KINDS + kind; -1 if there is none."""
        axes = np.full(slots * KINDS, -1, np.int64)
        axes[self.slot * KINDS + self.kind] = np.arange(len(self))
        return axes

    @cached_property
    def constants(self) -> AxisConstants:
        """The constants, for the kernel that ranks the values of one event."""
        return AxisConstants(
            self.int_scales, self.double_scales, self.begin, self.count, self.bounds, self.texts
        )

    @cached_property
    def int_scales(self) -> Scales:
        """The constants as seen from 64-bit integers."""
        value, residual = self.value, self.residual
        down, up = np.floor(value), np.ceil(value)
        inside = (value >= -(2.0**63)) & ((value < 2.0**63) | ((value == 2.0**63) & (residual < 0)))
        edge = inside & (value == 2.0**63)
        # The double 2^63 is no 64-bit integer: constants just below it are counted from INT_MAX.
        with np.errstate(invalid="ignore"):
            floors = np.where(inside & ~edge, down, 0).astype(np.int64) + residual
            ceilings = np.where(inside & ~edge, up, 0).astype(np.int64) + residual
        floors[edge] = INT_MAX + (residual[edge] + 1)
        ceilings[edge] = floors[edge]
        below = (value < -(2.0**63)).astype(np.int64)
        return self._scales(floors, ceilings, inside, below)

    @cached_property
    def double_scales(self) -> Scales:
        """The constants as seen from doubles, as integers in the order of the doubles."""
        value, residual = self.value, self.residual
        with np.errstate(over="ignore"):  # infinity follows the last finite double
            floors = np.where(residual < 0, np.nextafter(value, -np.inf), value)
            ceilings = np.where(residual > 0, np.nextafter(value, np.inf), value)
        inside = np.ones(len(value), np.bool_)
        nowhere = np.zeros(len(value), np.int64)
        return self._scales(order_of_doubles(floors), order_of_doubles(ceilings), inside, nowhere)

    def _scales(
        self, floors: Longs, ceilings: Longs, inside: NDArray[np.bool_], below: Longs
    ) -> Scales:
        """Return the scales of the constants in the range of a type; each axis has one range."""
        held = np.where(self.kind == TEXT, 0, self.count)
        kept_before, below_before = _counts_before(inside), _counts_before(below)
        begin = np.where(self.kind == TEXT, 0, self.begin)
        count = kept_before[begin + held] - kept_before[begin]
        under = below_before[begin + held] - below_before[begin]
        floors, ceilings = floors[inside], ceilings[inside]
        begin = kept_before[begin]
        table_at, least, span, table = _tables(floors, ceilings, begin, count, under)
        columns = np.stack([begin, count, under, table_at, least, span], axis=1)
        return Scales(np.ascontiguousarray(columns), floors, ceilings, table)


def no_axes() -> Axes:
    """Return an empty collection of axes."""
    none = np.zeros(0, np.int64)
    return Axes(
        none, none, none, none, np.zeros(0), none, np.zeros(1, np.int64), np.zeros(0, np.uint8)
    )


def order_of_doubles(doubles: Doubles) -> Longs:
    """Return integers in the order of the doubles; -0.0 is 0.0, and every NaN is the greatest."""
    clean = np.where(np.isnan(doubles), np.nan, doubles + 0.0)
    bits = clean.view(np.int64)
    # The bits of negative doubles grow with their magnitude: reverse them.
    return np.where(bits < 0, bits ^ np.int64(INT_MAX), bits)


def axes_of(
    slots: Sequence[int], kinds: Sequence[int], constants: Sequence[list[Scalar]]
) -> tuple[Axes, Longs, Longs]:
    """Build axes from the constants of tests, which may be unsorted and repeated.

    Returns:
        The axes; where the constants of each begin in the third result; and, by constant, its
        number on its axis.
    """
    at = np.zeros(len(slots) + 1, np.int64)
    np.cumsum([len(some) for some in constants], out=at[1:])
    places = np.zeros(at[-1], np.int64)
    kind = np.array(kinds, np.int64)
    begin, count = np.zeros(len(slots), np.int64), np.zeros(len(slots), np.int64)

    numeric = [a for a, k in enumerate(kinds) if k != TEXT]
    flat = [c for a in numeric for c in constants[a]]
    value, residual = _exact_numbers(flat)
    owner = np.repeat(np.array(numeric, np.int64), [len(constants[a]) for a in numeric])
    value, residual, owners, found = _distinct_numbers(owner, value, residual)
    in_numeric = np.concatenate([np.arange(at[a], at[a + 1]) for a in numeric] or [at[:0]])
    places[in_numeric] = found
    count += np.bincount(owners, minlength=len(slots))
    begin[kind != TEXT] = (np.cumsum(count) - count)[kind != TEXT]

    words: list[bytes] = []
    for axis, some in enumerate(constants):
        if kinds[axis] == TEXT:
            distinct = sorted(set(some))
            index = {text: i for i, text in enumerate(distinct)}
            places[at[axis] : at[axis + 1]] = [index[text] for text in some]
            begin[axis], count[axis] = len(words), len(distinct)
            words.extend(text.encode() for text in distinct)  # type: ignore[union-attr]
    bounds, texts = pack_texts(words)
    slot = np.array(slots, np.int64)
    return Axes(slot, kind, begin, count, value, residual, bounds, texts), at, places


def pack_texts(words: Sequence[bytes]) -> tuple[Longs, Bytes]:
    """Return where each text begins, and the texts end to end.

    The arrays are writable: a read-only array is another type to Numba.
    """
    bounds = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=bounds[1:])
    return bounds, np.frombuffer(bytearray().join(words), np.uint8)


def join_axes(left: Axes, right: Axes) -> tuple[Axes, tuple[AxisMapping, AxisMapping]]:
    """Return the axes of both, and the mapping from either to them."""
    slots = int(max(left.slot.max(initial=0), right.slot.max(initial=0))) + 1
    known = left.lookup(slots)
    key = right.slot * KINDS + right.kind
    new = known[key] < 0
    right_axis = np.where(new, len(left) + np.cumsum(new) - 1, known[key])
    slot = np.concatenate([left.slot, right.slot[new]])
    kind = np.concatenate([left.kind, right.kind[new]])
    left_axis = np.arange(len(left))

    left_owner, right_owner = _owners(left, left_axis), _owners(right, right_axis)
    value, residual, owners, places = _distinct_numbers(
        np.concatenate([left_owner, right_owner]),
        np.concatenate([left.value, right.value]),
        np.concatenate([left.residual, right.residual]),
    )
    numbers = np.bincount(owners, minlength=len(slot))
    bounds, texts, text_counts, text_places = _joined_texts(left, right, right_axis, len(slot))
    is_text = kind == TEXT
    count = np.where(is_text, text_counts, numbers)
    begin = np.where(is_text, np.cumsum(text_counts) - text_counts, np.cumsum(numbers) - numbers)
    axes = Axes(slot, kind, begin, count, value, residual, bounds, texts)
    cut, text_cut = len(left.value), len(left.bounds) - 1
    return axes, (
        _mapping(left, left_axis, places[:cut], text_places[:text_cut], count),
        _mapping(right, right_axis, places[cut:], text_places[text_cut:], count),
    )


@dataclass(frozen=True)
class AxisMapping:
    """A mapping from the axes of a segment to others.

    Attributes:
        axis: By axis, its new number.
        constant_at: By axis, where its constants begin in `constant`.
        constant: By constant, its new number on its axis; after the last of each axis, the new
            number of the end.
    """

    axis: Longs
    constant_at: Longs
    constant: Longs


# -- parts ----------------------------------------------------------------------------------------


def _counts_before(flags: NDArray[np.generic]) -> Longs:
    before = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=before[1:])
    return before


def _exact_numbers(constants: Sequence[Scalar]) -> tuple[Doubles, Longs]:
    """Return numbers, instants and truth values as doubles, and the differences to them."""
    try:
        # By far the most common case: only numbers.
        value = np.array(constants, np.float64)
    except TypeError:
        constants = [c.micros if isinstance(c, Timestamp) else c for c in constants]
        value = np.array(constants, np.float64)
    value = value + 0.0  # -0.0 is 0.0
    residual = np.zeros(len(value), np.int64)
    for i in np.flatnonzero(np.abs(value) >= _EXACT).tolist():
        constant = constants[i]
        if isinstance(constant, int):
            residual[i] = constant - int(value[i])
    return value, residual


def _distinct_numbers(
    owner: Longs, value: Doubles, residual: Longs
) -> tuple[Doubles, Longs, Longs, Longs]:
    """Sort the numbers of each owner and remove duplicates.

    Returns:
        The values, residuals and owners of the distinct numbers; and, by number given, its place
        among those of its owner.
    """
    keys = (value, owner) if not residual.any() else (residual, value, owner)
    order = np.lexsort(keys)
    owner, value, residual = owner[order], value[order], residual[order]
    is_new = np.ones(len(order), np.bool_)
    nan = np.isnan(value)
    is_new[1:] = (
        (owner[1:] != owner[:-1])
        | ((value[1:] != value[:-1]) & ~(nan[1:] & nan[:-1]))
        | (residual[1:] != residual[:-1])
    )
    number = np.cumsum(is_new) - 1
    kept = owner[is_new]
    first = np.searchsorted(kept, owner)
    places = np.empty(len(order), np.int64)
    places[order] = number - first
    return value[is_new], residual[is_new], kept, places


def _owners(axes: Axes, new: Longs) -> Longs:
    """Return the new axis of each number; numbers are in the order of the axes' ranges."""
    numeric = np.flatnonzero(axes.kind != TEXT)
    numeric = numeric[np.argsort(axes.begin[numeric], kind="stable")]
    return np.repeat(new[numeric], axes.count[numeric])


def _mapping(axes: Axes, new: Longs, numbers: Longs, texts: Longs, count: Longs) -> AxisMapping:
    at = np.zeros(len(axes) + 1, np.int64)
    np.cumsum(axes.count + 1, out=at[1:])
    constant = np.empty(at[-1], np.int64)
    constant[at[1:] - 1] = count[new]
    within = np.arange(at[-1]) - np.repeat(at[:-1], axes.count + 1)
    inner = np.ones(at[-1], np.bool_)
    inner[at[1:] - 1] = False
    source = (np.repeat(axes.begin, axes.count + 1) + within)[inner]
    text = np.repeat(axes.kind == TEXT, axes.count)
    found = np.empty(len(source), np.int64)
    found[text], found[~text] = texts[source[text]], numbers[source[~text]]
    constant[inner] = found
    return AxisMapping(new, at[:-1], constant)


def _joined_texts(
    left: Axes, right: Axes, right_axis: Longs, axes: int
) -> tuple[Longs, Bytes, Longs, Longs]:
    """Merge the texts of both on every axis.

    Returns:
        The bounds, the texts, their number by axis, and by text given its new place on its axis.
    """
    cut = len(left.bounds) - 1
    bounds = np.concatenate([left.bounds, left.bounds[-1] + right.bounds[1:]])
    data = np.concatenate([left.texts, right.texts])
    # The runs of each axis are adjacent: first the left one, then the right one.
    begin, count = np.zeros((2, axes), np.int64), np.zeros((2, axes), np.int64)
    for side, (some, new) in enumerate(((left, np.arange(len(left))), (right, right_axis))):
        mine = some.kind == TEXT
        begin[side, new[mine]] = some.begin[mine] + side * cut
        count[side, new[mine]] = some.count[mine]
    total = count.sum(axis=0)
    end = np.cumsum(total)
    start = end - total
    laid = np.empty(len(bounds) - 1, np.int64)
    for side in range(2):
        at = start + (count[0] if side else 0)
        which = _ranges(at, count[side])
        laid[which] = _ranges(begin[side], count[side])
    laid_bounds, laid_data = take_texts(bounds, data, laid)
    order, same = np.empty(len(laid), np.int64), np.zeros(len(laid), np.uint8)
    merge_texts(laid_bounds, laid_data, start, start + count[0], end, order, same)
    number = np.cumsum(same == 0) - 1
    first = np.repeat(_counts_before(same == 0)[start], total)
    places = np.empty(len(laid), np.int64)
    places[laid[order]] = number - first
    kept = order[same == 0]
    new_bounds, new_data = take_texts(laid_bounds, laid_data, kept)
    owner = np.repeat(np.arange(axes), total)
    return new_bounds, new_data, np.bincount(owner[same == 0], minlength=axes), places


def _ranges(begin: Longs, count: Longs) -> Longs:
    """Return count[0] numbers from begin[0] on, then count[1] from begin[1] on, and so forth."""
    before = np.cumsum(count) - count
    numbers: Longs = np.arange(count.sum()) + np.repeat(begin - before, count)
    return numbers


def take_texts(bounds: Longs, data: Bytes, chosen: Longs) -> tuple[Longs, Bytes]:
    """Return some texts: where each begins, and the texts end to end."""
    new_bounds = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(bounds[chosen + 1] - bounds[chosen], out=new_bounds[1:])
    out = np.empty(new_bounds[-1], np.uint8)
    gather_texts(bounds, data, chosen, new_bounds, out)
    return new_bounds, out


def _tables(
    floors: Longs, ceilings: Longs, begin: Longs, count: Longs, below: Longs
) -> tuple[Longs, Longs, Longs, NDArray[np.int32]]:
    """Build tables of ranks for the axes whose constants are integers close to each other.

    Returns:
        `TABLE_AT`, `LEAST` and `SPAN` by axis, and the table; see `Scales`.
    """
    axes = len(begin)
    table_at, least, span = (
        np.full(axes, -1, np.int64),
        np.zeros(axes, np.int64),
        np.zeros(axes, np.int64),
    )
    some = np.flatnonzero(count >= _MANY)
    first, last = floors[begin[some]], floors[begin[some] + count[some] - 1]
    uneven = _counts_before(floors != ceilings)
    whole = uneven[begin[some] + count[some]] == uneven[begin[some]]
    # As doubles, because the difference of two integers may overflow.
    wide = last.astype(np.float64) - first.astype(np.float64)
    close = (
        whole
        & (wide <= _ROOMY * count[some] + 64)
        & (np.abs(first) < 2**62)
        & (np.abs(last) < 2**62)
    )
    some, first, last = some[close], first[close], last[close]
    least[some], span[some] = first - 1, last - first + 3
    ends = np.cumsum(span[some])
    table_at[some] = ends - span[some]
    table = np.empty(int(ends[-1]) if len(ends) else 0, np.int32)
    for axis in some.tolist():
        mine = floors[begin[axis] : begin[axis] + count[axis]]
        steps = np.zeros(span[axis] + 1, np.int32)
        steps[mine - least[axis]] += 1
        steps[mine - least[axis] + 1] += 1
        at = table_at[axis]
        table[at : at + span[axis]] = 2 * below[axis] + np.cumsum(steps[:-1])
    return table_at, least, span, table
