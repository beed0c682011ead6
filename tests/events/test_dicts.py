"""Dicts survive the conversion to columns and back."""

from __future__ import annotations

import enum
import pickle
import types

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.language.evaluate import look_up
from tamis.values import OPAQUE, Type
from tests.events.checks import exact, of, sound, types_at
from tests.events.dicts import MANY, dict_events, paths_in


@MANY
@given(dict_events)
def test_dicts_keep_every_value(events: list[dict[str, object]]) -> None:
    batch = sound(EventBatch.from_dicts(events))
    assert len(batch) == len(events)
    everywhere = {path for event in events for path in paths_in(event)} | set(batch.columns)
    for i, event in enumerate(events):
        for path in everywhere:
            assert exact(look_up(path, batch.row(i))) == exact(look_up(path, event))


@MANY
@given(dict_events)
def test_rows_equal_the_events(events: list[dict[str, object]]) -> None:
    rows = EventBatch.from_dicts(events).rows()
    assert exact(EventBatch.from_dicts(rows).rows()) == exact(rows)


@MANY
@given(dict_events, st.integers(0, 7), st.none() | st.integers(0, 7))
def test_slices_and_pickles_hold_the_same_events(
    events: list[dict[str, object]], start: int, length: int | None
) -> None:
    batch = EventBatch.from_dicts(events)
    part = sound(batch.slice(start, length))
    stop = None if length is None else start + length
    assert exact(part.rows()) == exact(batch.rows()[start:stop])
    assert len(part) == len(part.rows())
    again = sound(pickle.loads(pickle.dumps(part)))
    assert exact(again.rows()) == exact(part.rows())
    assert list(again.columns) == list(part.columns)


def test_an_attribute_of_several_types_has_several_columns() -> None:
    batch = of({"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"a": None}, {}, {"a": [1]})
    assert types_at(batch, "a") == {Type.INT, Type.DBL, Type.STR, Type.BOOL, Type.INT_LIST}
    assert exact(batch.rows()) == exact(
        [{"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {}, {}, {"a": [1]}]
    )


def test_an_object_is_opaque_beside_its_fields() -> None:
    batch = of({"u": {"x": {"y": 1}}}, {"u": {}}, {"u": "v"}, {"u": b"w"})
    assert types_at(batch, "u") == {Type.OPAQUE, Type.STR}
    assert types_at(batch, "u", "x") == {Type.OPAQUE}
    assert types_at(batch, "u", "x", "y") == {Type.INT}
    assert batch.rows() == [{"u": {"x": {"y": 1}}}, {"u": OPAQUE}, {"u": "v"}, {"u": OPAQUE}]


def test_a_dot_in_a_name_does_not_nest() -> None:
    assert set(of({"a.b": 1, "a": {"b": 2}}).columns) == {("a.b",), ("a",), ("a", "b")}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1], [None], []], Type.INT_LIST),
        ([["x"], [None], []], Type.STR_LIST),
        ([[], [None]], Type.INT_LIST),
        ([[True]], Type.OPAQUE),
        ([[True, 1]], Type.OPAQUE),
        ([[1, "x"]], Type.OPAQUE),
        ([["x", 1.0]], Type.OPAQUE),
        ([[[1]], [{}]], Type.OPAQUE),
    ],
)
def test_lists_are_typed_by_their_elements(values: list[list[object]], kind: Type) -> None:
    batch = of(*({"a": value} for value in values))
    assert types_at(batch, "a") == {kind}


def test_no_events_make_an_empty_batch() -> None:
    for nothing in ([], iter(()), pa.table({}), pd.DataFrame(), pl.DataFrame()):
        batch = sound(EventBatch.of(nothing))
        assert (len(batch), batch.rows(), dict(batch.columns)) == (0, [], {})
    assert of({}, {"a": None}).rows() == [{}, {}]
    assert of({}, {"a": None}).columns == {}


def test_any_mapping_and_iterable_is_accepted() -> None:
    class Name(str):
        pass

    events = (types.MappingProxyType({Name("a"): i}) for i in range(2))
    batch = EventBatch.of(events)
    assert batch.rows() == [{"a": 0}, {"a": 1}]
    assert type(next(iter(batch.columns))[0]) is str


def test_subclasses_count_as_their_base() -> None:
    class Level(enum.IntEnum):
        HIGH = 3

    assert exact(of({"a": Level.HIGH}, {"a": 4}).rows()) == exact([{"a": 3}, {"a": 4}])


def test_row_equals_one_of_rows() -> None:
    batch = of({"a": 1}, {"a": 2})
    assert batch.row(1) == {"a": 2} and batch.row(-2) == {"a": 1}
    assert batch.row(1) is not batch.rows()[1]  # it did not convert all rows
    assert batch.rows() is batch.rows() and batch.row(1) is batch.rows()[1]
    with pytest.raises(EventError):
        batch.row(2)
    for some in (batch, of({})):
        with pytest.raises(EventError):
            some.slice(-1, 1)
    assert repr(batch) == "EventBatch(2 events, 1 attributes)"


def test_the_pickle_of_a_slice_is_small() -> None:
    batch = of(*({"a": i} for i in range(10_000)))
    assert len(pickle.dumps(batch.slice(5, 3))) < 2_000


def test_arrow_scalars_are_values() -> None:
    events = [{"a": pa.scalar(1), "b": {"c": pa.scalar("x")}}, {"a": pa.scalar(None, pa.int64())}]
    assert EventBatch.of(events).rows() == [{"a": 1, "b": {"c": "x"}}, {}]
    nothing = pa.scalar(None, pa.struct([("b", pa.int64())]))
    assert EventBatch.of([{"a": nothing}, {"a": pa.scalar({"b": 1})}]).rows() == [
        {}, {"a": {"b": 1}},
    ]  # fmt: skip
