"""Selective conjunctions: their tests, and the values of events."""

from collections import Counter

import numpy as np
import pytest
from tamis_lab.workloads.selective import SelectiveWorkload

from tamis.language import parse
from tamis.language.expr import And, Between, Comparison, predicates
from tamis.values import Type

WORKLOAD = SelectiveWorkload(subscriptions=4000)


def split(workload: SelectiveWorkload) -> list[list[Comparison | Between]]:
    found = [parse(text) for text in workload.selectors()]
    assert all(isinstance(tree, And) for tree in found)
    return [list(predicates(tree)) for tree in found]


def attribute(test: Comparison | Between) -> str:
    return (test.left if isinstance(test, Comparison) else test.operand).path[0]


def test_three_to_seven_tests_on_different_attributes() -> None:
    found = split(WORKLOAD)
    lengths = Counter(map(len, found))
    assert set(lengths) == {3, 4, 5, 6, 7}
    assert all(count / 4000 == pytest.approx(0.2, abs=0.03) for count in lengths.values())
    assert all(len({attribute(test) for test in tests}) == len(tests) for tests in found)
    named = Counter(attribute(test) for tests in found for test in tests)
    assert set(named) == {f"a{i}" for i in range(20)}
    assert max(named.values()) / min(named.values()) < 1.3


def test_a_fixed_number_of_tests() -> None:
    assert {len(tests) for tests in split(SelectiveWorkload(subscriptions=500, predicates=5))} == {
        5
    }


@pytest.mark.parametrize("equalities", [0.0, 0.6, 1.0])
def test_equalities_and_ranges(equalities: float) -> None:
    workload = SelectiveWorkload(subscriptions=4000, equalities=equalities)
    tests = [test for tests in split(workload) for test in tests]
    equal = [test.right.value for test in tests if isinstance(test, Comparison)]
    ranges = [(test.low.value, test.high.value) for test in tests if isinstance(test, Between)]
    assert len(equal) / len(tests) == pytest.approx(equalities, abs=0.02)
    assert {high - low for low, high in ranges} <= {200}
    if equal:
        assert min(equal) < 10 and 990 <= max(equal) < 1000
        assert np.mean(equal) == pytest.approx(499.5, abs=15)
    if ranges:
        lows = [low for low, _ in ranges]
        assert min(lows) < 10 and 790 <= max(lows) < 800
        assert np.mean(lows) == pytest.approx(399.5, abs=15)


def test_events_have_all_attributes_and_all_values() -> None:
    batch = WORKLOAD.events(5000)
    assert list(batch.columns) == [(f"a{i}",) for i in range(20)]
    for (column,) in batch.columns.values():
        assert column.type is Type.INT and column.data.null_count == 0
        values = column.data.to_numpy()
        assert 0 <= values.min() < 5 and 995 <= values.max() < 1000
        assert values.mean() == pytest.approx(499.5, abs=20)
    first, second, *_ = (column.data.to_numpy() for (column,) in batch.columns.values())
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05
