"""Covers, keys and signatures: every shard with a match for an event is a candidate."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import Matcher
from tamis.bloom.filter import Bloom
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language import parse, to_text
from tamis.spark.index.shard_covers import MOST, cover_of
from tamis.spark.index.shard_filter import bloom_of, pack_bits, unpack_bits
from tamis.spark.index.shard_keys import key_of, keys_of
from tamis.spark.index.signatures import Signatures
from tests.strategies import events, selectors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1", {"a": {1}}),
        ("1 = a", {"a": {1}}),
        ("a IN (1, 2)", {"a": {1, 2}}),
        ("a = 1 AND b > 2", {"a": {1}}),
        ("a IN (1, 2) AND b = 'x'", {"b": {"x"}}),
        ("a = 1 OR b = 2", {"a": {1}, "b": {2}}),
        ("a = 1 OR b > 2", None),
        ("NOT a = 1", None),
        ("a = 1 XOR b = 2", None),
        ("a = b", None),
        ("a = NULL", {}),
        ("AT LEAST 2 OF (a = 1, b = 2, c > 3)", {"a": {1}, "b": {2}}),
        ("AT LEAST 1 OF (a = 1, c > 3)", None),
        ("AT LEAST 2 OF (a = 1, c > 3)", {"a": {1}}),
        (f"a IN ({', '.join(map(str, range(MOST + 1)))})", None),
    ],
)
def test_covers_are_the_shortest_sets_of_equalities(
    text: str, expected: dict[str, set[object]] | None
) -> None:
    found = cover_of(parse(text))
    if expected is None:
        assert found is None
    else:
        pairs = {((name,), value) for name, values in expected.items() for value in values}
        assert found == pairs


@given(
    st.lists(selectors().map(to_text), min_size=1, max_size=4),
    st.lists(events(), min_size=1, max_size=5),
)
def test_every_match_is_in_a_candidate_shard(
    texts: list[str], rows: list[dict[str, object]]
) -> None:
    batch = EventBatch.of(rows)
    matcher = Matcher(engine="brute")
    paths = set()
    blooms: list[Bloom | None] = []
    for number, text in enumerate(texts):
        matcher.add(number, text)
        cover = cover_of(Subscription.of(number, text).condition)
        if cover is None:
            blooms.append(None)
        else:
            paths |= {path for path, _ in cover}
            blooms.append(bloom_of(np.array([key_of(*pair) for pair in cover], np.uint64)))
    wanted = Signatures(paths, blooms).candidate_mask(batch)
    for event, number in matcher.match_batch(batch):
        assert wanted[int(number), event]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (3, 3.0, True),
        (0, -0.0, True),
        (2**53, float(2**53), True),
        (3, 3.5, False),
        (1, True, False),
        (1, "1", False),
        ("a", "a", True),
        ("a", "b", False),
        (0.1, 0.1, True),
        (float("nan"), float("nan"), True),
        (-1, 2.0**64 - 1, False),
    ],
)
def test_equal_values_have_the_same_key(one: object, other: object, same: bool) -> None:
    assert (key_of(("a",), one) == key_of(("a",), other)) == same  # type: ignore[arg-type]
    assert key_of(("a",), one) != key_of(("b",), one)  # type: ignore[arg-type]


def test_keys_of_events_are_those_of_constants() -> None:
    at = datetime(2013, 1, 1, tzinfo=UTC)
    rows = [{"a": 3, "at": at, "s": "x", "t": True}, {"a": 3.5}, {"s": "ü"}, {"a": -7}]
    found = set()
    for events_of, keys in keys_of(
        EventBatch.of(rows), frozenset([("a",), ("at",), ("s",), ("t",)])
    ):
        found |= set(zip(events_of.tolist(), keys.tolist(), strict=True))
    assert {event for event, _ in found} == {0, 1, 2, 3}
    assert (0, key_of(("a",), 3)) in found and (3, key_of(("a",), -7)) in found
    assert (1, key_of(("a",), 3.5)) in found and (2, key_of(("s",), "ü")) in found
    assert (0, key_of(("t",), True)) in found
    instant = cover_of(parse("at = TIMESTAMP '2013-01-01T00:00:00Z'"))
    assert instant is not None
    assert {(0, key_of(*pair)) for pair in instant} <= found


def test_a_bloom_filter_has_no_false_negatives_and_few_false_positives() -> None:
    rng = np.random.default_rng(1)
    keys = rng.integers(0, 2**63, 20_000).astype(np.uint64)
    bloom = bloom_of(keys[:10_000])
    assert bloom.may_have(keys[:10_000]).all()
    assert bloom.may_have(keys[10_000:]).mean() < 0.01
    assert not bloom_of(keys[:0]).may_have(keys).any()


def test_the_file_format_of_filters_is_stable() -> None:
    """Golden: indexes that were sharded by earlier versions stay readable."""
    keys = np.array([key_of(("a",), n) for n in range(3)], np.uint64)
    data = pack_bits(bloom_of(keys))
    assert data.tobytes().hex() == "0450801622001800"
    assert unpack_bits(data) == bloom_of(keys)


def test_signatures_survive_a_file(tmp_path: Path) -> None:
    keys = np.array([key_of(("a",), n) for n in range(50)], np.uint64)
    old = Signatures([("a",), ("b", "c")], [bloom_of(keys[:25]), None, bloom_of(keys[25:])])
    old.save(tmp_path / "signatures")
    new = Signatures.open(tmp_path / "signatures")
    batch = EventBatch.of([{"a": n} for n in range(60)])
    assert new.paths == old.paths
    assert (new.candidate_mask(batch) == old.candidate_mask(batch)).all()
    assert new.candidate_mask(batch)[1].all() and not new.candidate_mask(batch)[0].all()
