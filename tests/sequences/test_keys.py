"""Keys are equal if and only if values are equal under `=`."""

import math

import pytest
from hypothesis import given

from tamis.language.evaluate import compare
from tamis.sequences.key_values import key_of, micros_of
from tamis.values import OPAQUE, Timestamp, to_value
from tests.strategies import values


@given(values().map(to_value), values().map(to_value))
def test_keys_are_equal_if_values_are(left: object, right: object) -> None:
    for one, other in ((left, right), (left, left)):
        keys = key_of(one), key_of(other)
        same = None not in keys and keys[0] == keys[1]
        assert same is (compare(one, other) == 0)
        if same:
            assert hash(keys[0]) == hash(keys[1])


def test_keys_follow_the_equality_of_the_language() -> None:
    assert key_of(math.nan) == key_of(-math.nan)
    assert key_of(5) == key_of(5.0) and key_of(-0.0) == key_of(0)
    assert key_of(2**53 + 1) != key_of(2.0**53)
    assert len({key_of(v) for v in (True, 1, "1", Timestamp(1))}) == 4
    assert [key_of(v) for v in (None, [1], (1,), OPAQUE)] == [None] * 4


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        (Timestamp(7), 7),
        (3, 3_000_000),
        (1.5, 1_500_000),
        (0.0000004, 0),
        (True, None),
        ("3", None),
        (None, None),
        (OPAQUE, None),
        (math.nan, None),
        (math.inf, None),
        (-1e300, None),
        (2**62, None),
    ],
)
def test_times_are_converted_to_microseconds(value: object, micros: int | None) -> None:
    assert micros_of(value) == micros
