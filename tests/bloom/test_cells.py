"""Cells of ranges: bits computed once hold for the whole cell."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom import number_cells
from tamis.bloom.bfposet import BFPoset
from tamis.bloom.hashing import Shape
from tamis.language import evaluate, parse

SHAPE = Shape(1 << 14, 4)
numbers = st.sampled_from(
    [0, 1, 2, 3, -1, 1.5, 2.0, 2.5, -0.0, 2**53, 2**53 + 1, 2.0**53, 1e308, math.inf, -math.inf]
)
ranges = st.one_of(
    st.builds(
        lambda low, wide: f"x BETWEEN {low} AND {low + wide}", st.integers(-1, 3), st.integers(1, 4)
    ),
    st.builds("x BETWEEN {} AND {}".format, st.integers(-1, 3), st.just("2.5")),
    st.builds("x BETWEEN {} AND {}".format, st.just(2**53 - 1), st.integers(2**53 - 1, 2**53 + 1)),
    st.just("x IS NOT NULL"),
    st.just("x BETWEEN 'a' AND 'c'"),
    st.just("x BETWEEN 1 AND double('NaN')"),
)
values = st.one_of(numbers, st.sampled_from([math.nan, True, "b", None, [1]]))


def readable(text: str) -> bool:
    try:
        parse(text)
    except Exception:
        return False
    return True


@given(
    kept=st.lists(ranges.filter(readable), min_size=1, max_size=6),
    gone=st.integers(0, 5),
    asked=st.permutations([0, 1, 1.5, 2, 3, 4, 2**53, 2**53 + 1, -0.0]).flatmap(
        lambda usual: st.lists(values, max_size=4).map(lambda odd: [*usual, *odd])
    ),
    room=st.sampled_from([1, 2, 1024]),
)
def test_a_number_has_the_bits_of_all_ranges_it_satisfies(kept, gone, asked, room) -> None:
    poset = BFPoset(SHAPE)
    predicates = [parse(text) for text in kept]
    for predicate in predicates:
        poset.subscribe([predicate], "a")
    before, number_cells._MAX_CACHED = number_cells._MAX_CACHED, room
    try:
        for _ in range(2):  # again, when cells are known and after a change
            for value in asked:
                event = {"x": value}
                found = [each for each in predicates if evaluate(each, event) is True]
                expected = {
                    bit for each in found for bit in poset.filter_of([each]).places.tolist()
                }
                assert set(poset.match(event).places.tolist()) == expected
            if gone < len(predicates) > 1:
                poset.unsubscribe([predicates.pop(gone)], "a")
    finally:
        number_cells._MAX_CACHED = before
