"""States that cannot matter any more are dropped."""

import gc
import tracemalloc

import tamis

KEYS = 100_000
BATCH = 5_000


def test_expired_keys_are_dropped() -> None:
    """Ten keys per second with WITHIN 1 MINUTE: at most three minutes of them are kept."""
    matcher = tamis.Matcher(time="t")
    matcher.add("s", "FIRST a = 1 THEN a = 2 WITHIN 1 MINUTE PER k")
    most = 0
    for first in range(0, KEYS, BATCH):
        matcher.match_batch([{"a": 1, "k": k, "t": k / 10} for k in range(first, first + BATCH)])
        most = max(most, matcher.stats()["sequence_keys"])
    assert 600 <= most <= 1_800
    assert matcher.match({"a": 2, "k": KEYS - 1, "t": KEYS / 10}) == ["s"]
    assert matcher.match({"a": 2, "k": 5, "t": KEYS / 10}) == []


def test_events_that_start_nothing_leave_no_state() -> None:
    matcher = tamis.Matcher(time="t")
    matcher.add("s", "FIRST a = 1 THEN a = 2 PER k")
    matcher.match_batch([{"a": 2, "k": k, "t": k} for k in range(1000)])
    assert matcher.stats()["sequence_keys"] == 0


def test_a_state_does_not_grow_with_events() -> None:
    matcher = tamis.Matcher(time="t")
    matcher.add("s", "FIRST a THEN a THEN b PER k")
    batch = [{"a": True, "k": 1, "t": 1} for _ in range(2_000)]
    matcher.match_batch(batch)
    tracemalloc.start()
    for _ in range(5):
        matcher.match_batch(batch)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10):
        matcher.match_batch(batch)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000
