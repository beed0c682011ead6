"""Rounds, rates, and the number of items to measure with."""

from functools import partial

import pytest
from tamis_lab.harness import measure
from tamis_lab.harness.measure import event_rates, rounds


def test_rounds_are_taken_in_turns_after_one_to_warm_up() -> None:
    done: list[str] = []
    found = rounds({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 2)
    assert done == ["a", "b"] * 3
    assert {name: len(seconds) for name, seconds in found.items()} == {"a": 2, "b": 2}


def test_rates_are_median_slowest_and_fastest() -> None:
    rates = event_rates({"a": [1.0, 2.0, 4.0]}, 8)
    assert rates == {"a": {"events_per_s": 4.0, "slowest": 2.0, "fastest": 8.0}}


def test_the_count_grows_until_the_time_is_long_enough() -> None:
    now = 0.0
    asked: list[int] = []

    def work(count: int) -> None:
        nonlocal now
        asked.append(count)
        now += 0.1 + count / 1000  # a tenth of a second once, a thousand a second from there

    enough = partial(measure.calibrate_count, work, clock=lambda: now)
    assert enough(most=10_000, seconds=1.0) == pytest.approx(900, rel=0.2)
    assert enough(most=10_000, seconds=0.2) >= 256  # a few would not show what many take
    assert asked[:3] == [1, 1, 4]
    assert enough(most=100, seconds=1.0) == 100
    assert enough(most=10_000, least=5, seconds=0.01) == 5
