"""The states of sequences on a stream, without Spark: with PySpark's tester of processors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")

from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tamis.sequences.state_machine import Machine, SequenceState
from tamis.spark.sequences.sorted_run import step_order
from tamis.spark.sequences.stream_states import States

pytestmark = pytest.mark.spark


class _Whole(States):
    """The tester supports keys of one column only, and passes them in a tuple."""

    def handleExpiredTimer(self, key: Any, *rest: Any, **named: Any) -> Iterator[Row]:
        return super().handleExpiredTimer(key[0], *rest, **named)


def _tester() -> TwsTester:
    # The tester would drop late rows itself; the processor has to.
    return TwsTester(_Whole(), timeMode="EventTime", eventTimeExtractor=lambda row: 1 << 60)


def _row(time: int, satisfied: list[int], order: int | None = None, event: bytes = b"") -> Row:
    return Row(
        time=time, order=order, satisfied=satisfied, priority=1, index_version=2, event=event
    )


def _timers(tester: TwsTester, key: object) -> list[int]:
    tester.handle.setGroupingKey(key)
    return list(tester.handle.listTimers())


@pytest.mark.parametrize("seed", range(200))
def test_completions_are_those_of_sorted_events(seed: int) -> None:
    chance = random.Random(seed)
    steps, within = chance.randint(2, 4), chance.choice([None, 1, 2500, 20_000, 100_000])
    key = ("id", 7, steps, within, "k")
    tester, watermark, taken, found = _tester(), 0, [], []
    for n in range(30):
        new = []
        for i in range(chance.randrange(5)):
            time = watermark * 1000 + chance.choice([-5000, 0, 1, 999, 1000, 4001, 15_000])
            satisfied = sorted(chance.sample(range(steps), chance.randint(1, steps)))
            new.append(_row(time, satisfied, chance.choice([None, 1, 2]), bytes([n, i])))
        taken += [row for row in new if row.time > watermark * 1000]
        if new:
            assert tester.test(key, new) == []
        if chance.random() < 0.7:
            watermark += chance.choice([1, 2, 5, 30])
            found += tester.setWatermark(watermark)
        assert len(_timers(tester, key)) <= 40
    found += tester.setWatermark(watermark + 1000)
    machine, state, expected = Machine(steps, within), None, []
    for row in sorted(taken, key=step_order):
        state, began = machine.step(state, row.satisfied, row.time)
        if began is not None:
            expected.append(("id", 1, 2, began))
    assert [tuple(row)[:4] for row in found] == expected
    assert tester.peekListState("waiting", key) == []
    if within is None:
        held = tester.peekValueState("state", key)
        assert (held and SequenceState(held[0], tuple(held[1]))) == state
    else:
        assert tester.peekValueState("state", key) is None
    assert _timers(tester, key) == []


def test_a_state_has_one_alarm() -> None:
    tester, key = _tester(), ("id", 7, 2, 10_000_000, "k")
    for second in range(1, 6):
        tester.test(key, [_row(second * 1_000_000, [0])])
        tester.setWatermark(second * 1000 + 1)
        assert _timers(tester, key) == [11_000]
    tester.setWatermark(11_000)
    assert _timers(tester, key) == [15_000]
    assert tester.peekValueState("state", key) == (5_000_000, [5_000_000], 15_000)
    tester.setWatermark(15_000)
    assert _timers(tester, key) == [] and tester.peekValueState("state", key) is None
