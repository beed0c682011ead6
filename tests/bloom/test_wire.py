"""Filters between brokers: the bytes never change."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.bloom.filter import Bloom
from tamis.bloom.filter_codec import encoded_size
from tamis.bloom.hashing import Shape, key_of
from tamis.errors import InputError

PAPER = Shape(1 << 14, 2)


@pytest.mark.parametrize(
    ("bloom", "expected"),
    [
        # version and form; m; k; how many; the gaps
        (Bloom.at(PAPER, []), "01 808001 02 00"),
        (Bloom.at(PAPER, [0, 1, 2]), "01 808001 02 03 00 00 00"),
        (Bloom.at(PAPER, [6066, 8581]), "01 808001 02 02 b22f d213"),
        (Bloom.at(PAPER, [127, 16383]), "01 808001 02 02 7f ff7e"),
        (Bloom.at(Shape(16, 3), range(16)), "02 10 03 ffff"),
        (Bloom.at(Shape(20, 3), [*range(8), 19]), "02 14 03 ff0008"),
        (Bloom.of(Shape(1024, 3), [key_of("x", "x > 5")]), "0180080303c401ba01ba01"),
    ],
)
def test_the_bytes_never_change(bloom: Bloom, expected: str) -> None:
    data = bytes.fromhex(expected)
    assert bloom.to_bytes() == data
    assert Bloom.from_bytes(data) == bloom


@given(
    m=st.sampled_from([1, 8, 9, 64, 130, 1000, 1 << 14, 70_000, 1 << 31]),
    k=st.integers(1, 64),
    data=st.data(),
)
def test_an_encoded_filter_decodes_to_itself(m, k, data) -> None:
    shape = Shape(m, k)
    some = data.draw(st.lists(st.integers(0, m - 1), max_size=60))
    if m < 2000 and data.draw(st.booleans()):
        some = [bit for bit in range(m) if bit not in some]  # mostly set
    if m == 1 << 31 and not some:
        return  # it is sparse, and nothing is to be made of its size
    bloom = Bloom.at(shape, some)
    written = bloom.to_bytes()
    again = Bloom.from_bytes(written)
    assert again == bloom and again.to_bytes() == written
    assert encoded_size(shape, bloom.bits) == len(written)
    assert len(written) <= 11 + (m + 7) // 8
    other = Bloom.at(Shape(m, k % 64 + 1), some).to_bytes()
    asked = [written, other, b"", written + b"\0", written]
    assert Bloom.from_many(shape, asked) == [bloom, None, None, None, bloom]


@given(st.binary(max_size=40))
def test_any_bytes_are_decoded_or_rejected(data) -> None:
    try:
        bloom = Bloom.from_bytes(data)
    except InputError:
        return
    assert bloom.to_bytes() == data
    assert Bloom.from_many(bloom.shape, [data, data]) == [bloom, bloom]


@given(st.binary(max_size=12), st.sampled_from([Shape(16, 1), Shape(300, 2), PAPER]))
def test_decoding_many_equals_decoding_each(rest, shape) -> None:
    head = Bloom.at(shape, []).to_bytes()[:-1]
    for data in (rest, head + rest):
        (found,) = Bloom.from_many(shape, [data])
        try:
            bloom = Bloom.from_bytes(data)
        except InputError:
            assert found is None
        else:
            assert found == (bloom if bloom.shape == shape else None)


def test_damaged_bytes_are_rejected_or_another_filter() -> None:
    rng = random.Random(1)
    for places in ([5, 900, 16_000], list(range(0, 16_384, 3))):
        good = Bloom.at(PAPER, places).to_bytes()
        for end in range(0, len(good), max(1, len(good) // 50)):
            with pytest.raises(InputError):
                Bloom.from_bytes(good[:end])
        with pytest.raises(InputError):
            Bloom.from_bytes(good + b"\0")
        for _ in range(200):
            bad = bytearray(good)
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            (found,) = Bloom.from_many(PAPER, [bytes(bad)])
            try:
                again = Bloom.from_bytes(bytes(bad))
                assert again.to_bytes() == bad
                assert found == (again if again.shape == PAPER else None)
            except InputError:
                assert found is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "it is empty"),
        ("03 10 01 00", "the first byte is 3"),
        ("01 00 01 00", "m must be an integer"),
        ("01 10 00 00", "k must be an integer"),
        ("01 10 01 01 10", "out of range"),
        ("01 10 01 05 00", "truncated"),
        ("01 9000 01 00", "not in the shortest encoding"),
        ("01 10 01 02 00 8000", "out of range or missing"),
        ("02 10 01 0100", "not in the shortest encoding"),
        ("02 0c 01 ff1f", "out of range"),
        ("01 ffffffff0f 01 00", "out of range"),
    ],
)
def test_invalid_bytes_are_rejected(data: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        Bloom.from_bytes(bytes.fromhex(data))


def test_an_event_of_the_paper_takes_less_than_its_400_bytes() -> None:
    """§6.2: 200 bits of 2 ** 14, at 16 bits each."""
    rng = np.random.default_rng(1)
    sizes = [
        len(Bloom.at(PAPER, rng.choice(1 << 14, 200, replace=False).tolist()).to_bytes())
        for _ in range(50)
    ]
    assert 200 < max(sizes) < 300
