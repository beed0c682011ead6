"""Axes, ranks and joins against the exact definition of a rank: #{c < v} + #{c <= v}."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.engines.block.layout.axes import (
    axes_of,
    join_axes,
    no_axes,
    order_of_doubles,
    pack_texts,
)
from tamis.engines.block.layout.rules import no_sets
from tamis.kernels.block.axis_kinds import INSTANT, KINDS, NUMBER, TEXT, TRUTH
from tamis.kernels.block.ranks import ordered_double, rank_of, rank_texts
from tamis.values import Timestamp

EDGES = [0, 2**53, 2**62, 2**63 - 1, -(2**53), -(2**62), -(2**63)]
integers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-20, 20),
    st.builds(
        lambda edge, step: min(max(edge + step, -(2**63)), 2**63 - 1),
        st.sampled_from(EDGES),
        st.integers(-9, 9),
    ),
)
doubles = st.one_of(st.floats(), st.integers(-40, 40).map(lambda n: n / 2), integers.map(float))
numbers = st.one_of(integers, doubles)
texts = st.text(st.sampled_from("aé\uffff😀\U0010ffff\x00"), max_size=3)


def key(value: float) -> tuple[bool, object]:
    """Return a sort key in the order of the language: exact, NaN the greatest, -0.0 as 0.0."""
    if math.isnan(value):
        return True, 0
    return False, Fraction(value) if math.isfinite(value) else value


def rank(constants: list[object], value: object) -> int:
    """Return the rank by definition; `constants` are sorted, distinct keys."""
    return bisect_left(constants, value) + bisect_right(constants, value)


@given(constants=st.lists(numbers, max_size=20), values=st.lists(numbers, max_size=20))
@example(constants=[-(2**63) + i for i in range(9)], values=[-(2**63), 2**63 - 1, -(2.0**63)])
@example(constants=[2**63 - 1 - i for i in range(9)], values=[2**63 - 1, 2.0**63, 0])
@example(constants=[2**53 + i for i in range(9)], values=[2**53 + 1, 2.0**53, 2.0**53 + 2])
@example(constants=list(range(20)), values=[-1, 0, 5, 19, 20, 2**63 - 1, -(2**63), 5.5, math.nan])
@example(constants=[5e-324 * i for i in range(9)], values=[0.0, -0.0, 5e-324, 1, -5e-324])
@example(constants=[1.7976931348623157e308, -1.7976931348623157e308], values=[1.0, math.inf])
def test_ranks_of_numbers_follow_the_definition(constants, values) -> None:
    axes, at, places = axes_of([3, 4], [NUMBER, NUMBER], [[7], constants])
    distinct = sorted({key(c) for c in constants})
    assert axes.count.tolist() == [1, len(distinct)]
    assert [distinct[p] for p in places[at[1] :]] == [key(c) for c in constants]
    for value in values:
        wanted = rank(distinct, key(value))
        if isinstance(value, int):
            assert rank_of(axes.int_scales, 1, value) == wanted
        else:
            bits = int(np.float64(value).view(np.int64))
            assert rank_of(axes.double_scales, 1, ordered_double(bits)) == wanted


@given(st.lists(doubles, min_size=1))
def test_doubles_are_ordered_alike_by_kernel_and_numpy(values) -> None:
    array = np.array(values)
    one_by_one = [ordered_double(int(bits)) for bits in array.view(np.int64)]
    assert order_of_doubles(array).tolist() == one_by_one
    by_kernel = sorted(zip(one_by_one, map(key, values), strict=True))
    assert [value for _, value in by_kernel] == sorted(map(key, values))
    assert len(set(one_by_one)) == len(set(map(key, values)))


@given(constants=st.lists(texts, max_size=9), values=st.lists(texts, max_size=9))
def test_ranks_of_texts_follow_the_definition(constants, values) -> None:
    """The order of UTF-8 is that of code points, as for Python's strings."""
    axes, at, places = axes_of([0, 1], [TEXT, TEXT], [["z"], constants])
    distinct = sorted(set(constants))
    assert [distinct[p] for p in places[at[1] :]] == constants
    bounds, data = pack_texts([value.encode() for value in values])
    found = np.empty(len(values), np.int32)
    rank_texts(bounds, data, axes.begin[1], axes.count[1], axes.bounds, axes.texts, found)
    assert found.tolist() == [rank(distinct, value) for value in values]


KIND_VALUES = {
    NUMBER: numbers.filter(lambda v: v == v),
    TEXT: texts,
    INSTANT: integers.map(Timestamp),
    TRUTH: st.booleans(),
}


@st.composite
def some_axes(draw: st.DrawFn) -> dict[tuple[int, int], list[object]]:
    """Draw constants by slot and kind; some axes have none."""
    keys = draw(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(list(KIND_VALUES))),
                         unique=True, max_size=6))  # fmt: skip
    return {key: draw(st.lists(KIND_VALUES[key[1]], max_size=5)) for key in keys}


def axes_with(held: dict[tuple[int, int], list[object]]) -> object:
    if not held:
        return no_axes()
    return axes_of([s for s, _ in held], [k for _, k in held], list(held.values()))[0]


@given(left=some_axes(), right=some_axes())
def test_joined_axes_equal_axes_of_all_constants(left, right) -> None:
    axes, mappings = join_axes(axes_with(left), axes_with(right))
    both = {key: left.get(key, []) + right.get(key, []) for key in {**left, **right}}
    expected = axes_with(both)
    assert len(axes) == len(both)
    for name in ("slot", "kind", "count", "value", "residual", "bounds", "texts"):
        assert np.array_equal(getattr(axes, name), getattr(expected, name)), name
    assert axes.lookup(4).tolist() == expected.lookup(4).tolist() and KINDS == 5
    for held, mapping in zip((left, right), mappings, strict=True):
        mine = axes_with(held)
        for axis, slot_kind in enumerate(held):
            new = mapping.axis[axis]
            assert (axes.slot[new], axes.kind[new]) == slot_kind
            at = mapping.constant_at[axis]
            there = mapping.constant[at : at + mine.count[axis] + 1].tolist()
            assert there[-1] == axes.count[new]
            for place in range(mine.count[axis]):
                old, moved = mine.begin[axis] + place, axes.begin[new] + there[place]
                if slot_kind[1] == TEXT:
                    assert _word(mine, old) == _word(axes, moved)
                else:
                    assert mine.value[old] == axes.value[moved]
                    assert mine.residual[old] == axes.residual[moved]


def _word(axes, place: int) -> bytes:
    return axes.texts[axes.bounds[place] : axes.bounds[place + 1]].tobytes()


def test_joining_no_axes_gives_none() -> None:
    axes, _ = join_axes(no_axes(), no_axes())
    assert len(axes) == 0 and len(no_sets().axis) == 0
