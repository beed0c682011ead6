"""The costs of subscriptions."""

from __future__ import annotations

import pickle

import pytest

import tamis
from tamis.engines.block.report.tally import CountSchedule
from tamis.errors import InputError
from tests.engines.block.oracle_comparison import engine_of
from tests.engines.block.ways import segments

EVENTS = [{"a": n % 500, "b": n % 4, "c": n} for n in range(1000)]


def block(rows: dict[str, str]) -> tamis.Matcher:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many(rows.items())
    return matcher


def test_counts_are_exact_on_counted_events() -> None:
    matcher = block({"rare": "a = 17 AND b = 1", "half": "b < 2", "none": "a = 5000"})
    assert str(matcher.costs()) == "no events have been counted yet"
    matcher.plan("half", EVENTS)
    matcher.match_batch(EVENTS)
    costs = matcher.costs()
    assert costs.events == 1000
    rows = {row.id: row for row in costs}
    assert set(rows) == {"rare", "half"}
    assert (rows["rare"].checks, rows["rare"].matches, rows["rare"].way) == (2.0, 2.0, "value")
    assert rows["half"].matches == 500.0
    assert sum(row.share for row in costs) == pytest.approx(1.0)
    assert [row.id for row in costs] == ["half", "rare"]
    assert [row.id for row in matcher.costs(1)] == ["half"] and len(matcher.costs(0)) == 0


def test_blocks_are_counted_too() -> None:
    rows = {f"s{n}": f"c >= {n} AND b <> 7" for n in range(100)}
    rows["tree"] = "c >= 5 AND (b = 1 OR b <> 1)"
    matcher = block(rows)
    matcher.plan("s0", EVENTS)
    matcher.match_batch(EVENTS)
    found = {row.id: row for row in matcher.costs(1000)}
    size = segments(engine_of(matcher))[0].block_size
    for n in (0, 50, 99):
        row = found[f"s{n}"]
        assert (row.way, row.matches) == ("block", 1000.0 - n)
        assert row.checks == -(-1000 // size)
    assert found["tree"].matches == 995.0


def test_a_removed_subscription_costs_nothing() -> None:
    matcher = block({"x": "b < 2", "y": "b < 3"})
    matcher.match_batch(EVENTS)
    matcher.remove("x")
    assert [row.id for row in matcher.costs()] == ["y"]


def test_the_oracle_is_the_most_expensive() -> None:
    nested = "a = 0"
    for n in range(1, 16):
        nested = f"(({nested}) AND b = {n}) XOR c = {n}"
    matcher = block({"huge": nested, "half": "b < 2"})
    matcher.match_batch(EVENTS[:50])
    first, second = matcher.costs()
    assert (first.id, first.way, first.checks, first.matches) == ("huge", "oracle", 1000.0, None)
    assert second.id == "half" and first.share > 0.9
    assert "-  oracle  huge" in str(matcher.costs())


@pytest.mark.parametrize("threads", [1, 3])
def test_counts_do_not_depend_on_threads_or_cuts(threads: int) -> None:
    rows = {f"s{n}": f"a = {n} AND b = {n % 4}" for n in range(100)}
    matcher = tamis.Matcher(engine="block", threads=threads)
    matcher.add_many(rows.items())
    matcher.match_batch([{"a": n % 100, "b": n % 4} for n in range(20_000)])
    costs = matcher.costs(200)
    assert costs.events == 8192
    assert sum(row.matches or 0.0 for row in costs) == pytest.approx(1000.0)


def test_counts_survive_merging() -> None:
    rows = {f"s{n}": f"a = {n % 100} AND c >= {n}" for n in range(9000)}
    matcher = block({**rows, "half": "b < 2"})
    matcher.match_batch(EVENTS)
    before = {row.id: row for row in matcher.costs(20_000)}
    engine = engine_of(matcher)
    assert len(segments(engine)) > 1
    for n in range(500, 3000):
        matcher.remove(f"s{n}")
    engine.gather()
    assert len(segments(engine)) == 1
    after = {row.id: row for row in matcher.costs(20_000)}
    assert set(after) == set(before) - {f"s{n}" for n in range(500, 3000)}
    for id, row in after.items():
        assert row.matches == pytest.approx(before[id].matches, abs=2.0), id
        assert row.way != before[id].way or row.checks == pytest.approx(before[id].checks, abs=2)


def test_counts_survive_a_change_of_the_draft_and_pickling() -> None:
    matcher = block({"half": "b < 2"})
    matcher.match_batch(EVENTS)
    matcher.add("new", "b = 3")
    matcher.match_batch([])
    assert [row.id for row in matcher.costs()] == ["half"]
    again = pickle.loads(pickle.dumps(matcher))
    assert again.costs() == matcher.costs()


def test_recent_events_weigh_more() -> None:
    matcher = block({"x": "b = 1", "y": "b = 2"})
    engine = engine_of(matcher)
    matcher.match_batch([{"b": 1}] * 8192)
    for _ in range(20):
        engine._count_schedule = CountSchedule()  # so that as many are counted again
        matcher.match_batch([{"b": 2}] * 8192)
    rows = {row.id: row for row in matcher.costs()}
    assert matcher.costs().events < 1 << 16
    assert "x" not in rows or rows["x"].matches < 20
    assert rows["y"].matches > 980


def test_few_events_are_counted() -> None:
    for size in (1, 100, 5000, 65_536):
        counting = CountSchedule()
        batches = max(200, 2_000_000 // size)
        counted = sum(counting.take(size) for _ in range(batches))
        assert counted == counting.events
        first = 3 * 8192
        assert batches * size / 128 - 8192 <= counted <= batches * size / 128 + first
    assert CountSchedule().take(100) == 100
    assert CountSchedule().take(10_000) == 8192


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InputError, match="limit must be an integer"):
        block({}).costs(-1)
