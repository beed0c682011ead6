"""Filters, their bits, counts and sizes."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom.bit_sets import DenseBits, SparseBits, bits_of, subset, union
from tamis.bloom.counting_filter import CountingBloom
from tamis.bloom.filter import Bloom
from tamis.bloom.filter_size import best_hashes, false_positive_rate, optimal_shape
from tamis.bloom.hashing import Shape, key_of
from tamis.errors import InputError
from tests.soak import count, record

shapes = st.builds(
    Shape,
    st.sampled_from([1, 2, 7, 63, 64, 65, 1000, 1 << 14, 1 << 16, 100_000]),
    st.integers(1, 9),
)
keys = st.integers(0, 2**64 - 1)


@given(shape=shapes, mine=st.sets(keys, max_size=20), other=st.sets(keys, max_size=20))
def test_a_filter_has_no_false_negatives(shape, mine, other) -> None:
    one, two = Bloom.of(shape, mine), Bloom.of(shape, other)
    assert all(key in one for key in mine)
    both = one | two
    assert both == Bloom.of(shape, mine | other) and hash(both) == hash(two | one)
    assert one <= both and two <= both
    if mine <= other:
        assert one <= two
    assert set(both.places.tolist()) == set(one.places.tolist()) | set(two.places.tolist())
    assert both.fill == len(both) / shape.m <= 1
    array = np.array(sorted(mine), np.uint64)
    assert Bloom.of(shape, array) == one and one.may_have(array).all()
    asked = np.array(sorted(other), np.uint64)
    assert two.may_have(asked).all()
    assert one.may_have(asked).tolist() == [key in one for key in sorted(other)]


@given(shape=shapes, data=st.data())
def test_dense_and_sparse_sets_are_equivalent(shape, data) -> None:
    places = st.lists(st.integers(0, shape.m - 1), max_size=40)
    mine, other = data.draw(places), data.draw(places)
    forms = []
    for some in (mine, other):
        sparse = SparseBits(shape, np.unique(np.array(some, np.int64)).astype(shape.dtype))
        dense = DenseBits(shape, sparse.words)
        assert sparse.places.tolist() == dense.places.tolist() == sorted(set(some))
        assert len(sparse) == len(dense) == len(set(some))
        for bit in range(0, shape.m, max(1, shape.m // 50)):
            assert (bit in sparse) == (bit in dense) == (bit in some)
        chosen = bits_of(shape, some)
        assert chosen.nbytes == min(sparse.nbytes, dense.nbytes)
        forms.append((sparse, dense))
    for one in forms[0]:
        for two in forms[1]:
            assert union(one, two).places.tolist() == sorted({*mine, *other})
            assert subset(one, two) == (set(mine) <= set(other))


def test_places_use_the_shortest_integers() -> None:
    assert bits_of(Shape(1 << 16, 1), [65_535]).places.dtype == np.uint16
    assert bits_of(Shape((1 << 16) + 1, 1), [65_536]).places.dtype == np.uint32
    # Bit b is bit b & 63 of word b >> 6; the paper has b >> 64.
    words = DenseBits(Shape(256, 1), bits_of(Shape(256, 1), [0, 64, 130]).words).words
    assert words.tolist() == [1, 1, 4, 0]


def test_places_are_the_same_everywhere() -> None:
    """Golden values: brokers of different versions must agree on them."""
    key = key_of("x", "x > 5")
    assert key == 0x8A21D4BB215C0CC4
    assert Shape(1 << 14, 4).places(key) == [3268, 8575, 13882, 2805]
    assert Shape(1000, 3).places(key) == [708, 663, 618]
    script = (
        "from tamis.bloom.hashing import key_of; print(key_of('user.city', \"user.city = 'é'\"))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == key_of("user.city", "user.city = 'é'")


@pytest.mark.parametrize("m", [0, -1, 2.0, True, (1 << 31) + 1, "64"])
def test_invalid_shapes_are_rejected(m) -> None:
    with pytest.raises(InputError, match="m must be an integer from 1 to"):
        Shape(m, 1)
    with pytest.raises(InputError, match="k must be an integer"):
        Shape(64, 65)


def test_filters_of_different_shapes_do_not_mix() -> None:
    one, two = Bloom.of(Shape(64, 2), [1]), Bloom.of(Shape(64, 3), [1])
    for mix in (lambda: one | two, lambda: one <= two):
        with pytest.raises(InputError, match="different shapes"):
            mix()
    assert one != two and one != 1
    for bit in (64, -1, 2**40):
        with pytest.raises(InputError, match=f"bit {bit} is out of range"):
            Bloom.at(Shape(64, 2), [1, bit])


def test_shown_as_in_the_figures() -> None:
    assert repr(Bloom.at(Shape(1 << 14, 2), [8581, 6066])) == "[k:2, m:16384]{6066,8581}"
    assert repr(Bloom.at(Shape(64, 2), range(20))).endswith(",11,…}")


# -- counting -------------------------------------------------------------------------------------


@given(shape=shapes, held=st.lists(keys, max_size=12), gone=st.lists(keys, max_size=12))
def test_a_counting_filter_supports_removal(shape, held, gone) -> None:
    counting = CountingBloom(shape)
    for key in held + gone:
        counting.add(key)
    assert all(key in counting for key in held + gone)
    for key in gone:
        counting.remove(key)
    assert counting.bloom == Bloom.of(shape, held)
    assert all(key in counting for key in held)
    assert counting.fill == counting.bloom.fill


def test_removing_a_missing_key_raises() -> None:
    counting = CountingBloom(Shape(1 << 20, 4))
    counting.add(1)
    with pytest.raises(KeyError):
        counting.remove(2**40)
    assert 1 in counting
    # With one bit a key sets it k times, and must find it set so often.
    tiny = CountingBloom(Shape(1, 3))
    tiny.add(5)
    assert tiny.counts.tolist() == [3]
    tiny.remove(5)
    assert tiny.counts.tolist() == [0] and 5 not in tiny
    # Of two bits, 0 sets the first twice and 1 the second: to remove 1 would leave less than none.
    two = CountingBloom(Shape(2, 3))
    two.add(0)
    assert two.counts.tolist() == [2, 1] and 1 not in two
    with pytest.raises(KeyError):
        two.remove(1)


# -- sizes (Equations 10 and 11) ------------------------------------------------------------------


def test_equation_10() -> None:
    for m, k, n in [(1024, 3, 100), (16384, 4, 1000), (64, 2, 10)]:
        expected = (1 - (1 - 1 / m) ** (k * n)) ** k
        assert math.isclose(false_positive_rate(m, k, n), expected, rel_tol=1e-9)
    assert false_positive_rate(1, 1, 1) == 1.0 and false_positive_rate(1, 1, 0) == 0.0
    assert false_positive_rate(1 << 31, 3, 0) == 0.0


@given(m=st.integers(2, 10**6), n=st.integers(1, 10**5))
def test_equation_11_is_the_best_k(m, n) -> None:
    best = best_hashes(m, n)
    rates = {k: false_positive_rate(m, k, n) for k in range(1, 65)}
    assert math.isclose(rates[best], min(rates.values()), rel_tol=1e-6, abs_tol=1e-300)


@given(n=st.integers(1, 10**5), p=st.floats(1e-9, 0.9))
def test_a_sized_filter_is_the_smallest(n, p) -> None:
    shape = optimal_shape(n, p)
    assert false_positive_rate(shape.m, shape.k, n) <= p
    if shape.m > 1:
        assert false_positive_rate(shape.m - 1, best_hashes(shape.m - 1, n), n) > p


@pytest.mark.parametrize(("n", "p"), [(0, 0.1), (1, 0.0), (1, 1.0), (10**9, 1e-9)])
def test_impossible_sizes_are_rejected(n, p) -> None:
    with pytest.raises(InputError):
        optimal_shape(n, p)


@pytest.mark.parametrize(("m", "k", "n"), [(1 << 12, 4, 800), (1 << 14, 2, 1000), (999, 3, 200)])
def test_the_measured_rate_follows_equation_10(m, k, n) -> None:
    """Within four standard deviations of the sampling, and what filters differ by."""
    rng = np.random.default_rng(m + k)
    shape, asked, rounds = Shape(m, k), 4_000, count(25, 400)
    rates = []
    for _ in range(rounds):
        drawn = rng.integers(0, 2**64 - 1, n + asked, dtype=np.uint64)
        rates.append(Bloom.of(shape, drawn[:n]).may_have(drawn[n:]).mean())
    p = false_positive_rate(m, k, n)
    found, spread = float(np.mean(rates)), float(np.std(rates)) / math.sqrt(rounds)
    record("false positives", m=m, k=k, n=n, expected=p, measured=found)
    # Double hashing adds of the order of 1/m (Kirsch and Mitzenmacher).
    assert abs(found - p) < 4 * spread + 4 / m
