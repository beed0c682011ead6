"""Bad events are found among good ones, with few attempts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import EventError
from tamis.events.bad_events import first_bad_row, isolate_bad, row_faults


def _refuse_negative(rows: list[int]) -> int:
    for row in rows:
        if row < 0:
            raise EventError(f"{row} is negative", attribute="n")
    return sum(rows)


@given(st.lists(st.integers(-3, 9), max_size=70))
def test_parts_hold_all_rows_in_order_and_each_bad_row_alone(rows: list[int]) -> None:
    parts = list(isolate_bad(rows, _refuse_negative, EventError))
    assert [row for part, _ in parts for row in part] == rows
    for part, outcome in parts:
        assert part
        if isinstance(outcome, EventError):
            assert len(part) == 1
            assert part[0] < 0
        else:
            assert outcome == sum(part)
    bad = [i for i, row in enumerate(rows) if row < 0]
    assert first_bad_row(rows, _refuse_negative, EventError) == next(iter(bad), None)
    assert row_faults(rows, _refuse_negative) == {
        i: f"attribute 'n': {rows[i]} is negative" for i in bad
    }


def test_a_good_batch_is_processed_once() -> None:
    assert list(isolate_bad([1, 2, 3], _refuse_negative, EventError)) == [([1, 2, 3], 6)]
    assert list(isolate_bad([], _refuse_negative, EventError)) == []


@pytest.mark.parametrize(("bad", "attempts"), [(range(777, 778), 40), (range(10_000), 14_500)])
def test_few_attempts_are_made(bad: range, attempts: int) -> None:
    tried: list[int] = []

    def process(rows: list[int]) -> None:
        tried.append(len(rows))
        if any(row in bad for row in rows):
            raise EventError("bad")

    assert list(row_faults(list(range(10_000)), process)) == list(bad)
    assert len(tried) <= attempts
    assert sum(tried) <= 6 * 10_000


def test_rows_may_be_an_arrow_batch() -> None:
    batch = pa.RecordBatch.from_pydict({"n": [1, -1, 2]})
    faults = row_faults(batch, lambda part: _refuse_negative(part.column("n").to_pylist()))
    assert list(faults) == [1]


def test_other_errors_are_raised() -> None:
    def process(rows: list[int]) -> None:
        raise ValueError("not about a row")

    with pytest.raises(ValueError, match="not about a row"):
        list(isolate_bad([1, 2], process, EventError))
    with pytest.raises(EventError):
        list(isolate_bad([1, -2], _refuse_negative, ()))
