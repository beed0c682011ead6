"""A schema determines the type of every value, in every form of events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.language.evaluate import look_up
from tamis.paths import parse_path
from tamis.schema import Schema, coerce
from tamis.values import INT_MIN, OPAQUE, Timestamp, Type
from tests.events.arrow_tables import arrow_tables, is_valid
from tests.events.checks import addresses, exact, forms, of, sound, types_at
from tests.events.dicts import MANY, instants, integers, lists, paths_in, scalars

kinds = st.sampled_from([kind for kind in Type if kind is not Type.OPAQUE])
schema_paths = st.sampled_from(["a", "b", "c.a", "c.b", "`a.b`"])
likely = st.one_of(
    scalars,
    lists,
    st.integers(-3, 3).map(float),
    st.just("2024-05-01"),
    st.just([]),
    st.just([None]),
    st.just(2**70),
)
fitting: dict[Type, st.SearchStrategy[Any]] = {
    Type.BOOL: st.booleans(),
    Type.INT: integers | st.integers(-3, 3).map(float),
    Type.DBL: st.floats() | integers,
    Type.STR: st.text(max_size=3),
    Type.TIMESTAMP: instants | st.dates() | st.just("2024-05-01 10:00 Europe/Paris"),
    Type.INT_LIST: st.lists(st.none() | integers, max_size=2),
    Type.STR_LIST: st.lists(st.none() | st.text(max_size=2), max_size=2),
}


@st.composite
def declared_events(draw: st.DrawFn) -> tuple[dict[str, Type], list[dict[str, object]]]:
    declared = draw(st.dictionaries(schema_paths, kinds, max_size=4))
    events = []
    for _ in range(draw(st.integers(0, 4))):
        event: dict[str, Any] = draw(st.dictionaries(st.sampled_from("cde"), likely, max_size=1))
        for name, kind in declared.items():
            odd = draw(st.integers(0, 19))
            if odd > 1:
                *above, last = parse_path(name)
                inside = event
                for step in above:
                    inside = inside.setdefault(step, {})
                if isinstance(inside, dict):
                    inside[last] = draw(fitting[kind] if odd > 2 else likely)
        events.append(event)
    return declared, events


def some_default(kind: Type) -> object:
    return {
        Type.BOOL: True, Type.INT: 5, Type.DBL: 2.5, Type.STR: "d", Type.INT_LIST: [5],
        Type.TIMESTAMP: Timestamp(5), Type.STR_LIST: ["d"], Type.OPAQUE: None,
    }[kind]  # fmt: skip


@MANY
@given(
    declared_events(),
    st.booleans(),
    st.sampled_from(["sql", "strict", "default", "total"]),
)
def test_a_schema_coerces_every_value(
    drawn: tuple[dict[str, Type], list[dict[str, object]]], is_open: bool, semantics: str
) -> None:
    declared, events = drawn
    schema = Schema(
        {name: (kind, some_default(kind)) for name, kind in declared.items()}, open=is_open
    )
    expected: list[dict[tuple[str, ...], object]] = []
    try:
        for event in events:
            if is_open:
                EventBatch.from_dicts([event])
            found = {p: coerce(look_up(p, event), kind) for p, kind in schema.types.items()}
            if semantics == "default":
                outer = (
                    look_up(("c",), event) if is_open and set(declared) & {"c.a", "c.b"} else None
                )
                if outer is not None and outer is not OPAQUE:
                    raise ValueError("a default has no place inside of a value")
                found |= {p: schema.defaults[p] for p in found if found[p] is None}
            if semantics == "total" and None in found.values():
                raise ValueError("missing")
            expected.append(found)
    except (ValueError, EventError):
        with pytest.raises(EventError):
            EventBatch.from_dicts(events, schema, semantics)
        return
    batch = sound(EventBatch.from_dicts(events, schema, semantics))
    for path, kind in schema.types.items():
        assert types_at(batch, *path) <= {kind}
    for i, (event, found) in enumerate(zip(events, expected, strict=True)):
        for path, value in found.items():
            assert exact(look_up(path, batch.row(i))) == exact(value)
        if is_open and semantics != "default":
            for path in set(paths_in(event)) - set(schema.types):
                assert exact(look_up(path, batch.row(i))) == exact(look_up(path, event))
        for path in batch.columns:  # columns and rows agree
            there = any(column.data[i].is_valid for column in batch.columns[path])
            assert there == (look_up(path, batch.row(i)) is not None)
    if not is_open:
        assert set(batch.columns) <= set(schema.types)


@settings(max_examples=100, deadline=None)
@given(arrow_tables(), st.dictionaries(schema_paths, kinds, max_size=3), st.booleans())
def test_a_schema_treats_arrow_like_dicts(
    table: pa.Table, declared: dict[str, Type], is_open: bool
) -> None:
    assume(is_valid(table))
    schema = Schema(declared, open=is_open)
    try:
        expected = EventBatch.from_dicts(table.to_pylist(), schema)
    except EventError as error:
        with pytest.raises(EventError) as caught:
            EventBatch.from_arrow(table, schema)
        assert str(caught.value) == str(error)
        return
    assert exact(sound(EventBatch.from_arrow(table, schema)).rows()) == exact(expected.rows())


def test_declared_columns_are_not_copied() -> None:
    array = pa.array([1, None, 3])
    schema = Schema({"a": "INT"})
    (column,) = EventBatch.of(pa.table({"a": array}), schema).columns[("a",)]
    assert addresses(column.data) == addresses(array)


def test_values_are_coerced_without_loss() -> None:
    schema = Schema({"d": "DBL", "i": "INT", "t": "TIMESTAMP", "l": "LIST<STR>"})
    batch = of(
        {"d": 2**53 + 1, "i": -0.0, "t": "2024-05-01 10:00+02:00", "l": []},
        {"d": 0.5, "i": 7, "t": dt.date(2024, 5, 1), "l": ["x", None]},
        {"i": -(2.0**63)},
        schema=schema,
    )
    assert exact(batch.rows()) == exact(
        [
            {"d": 2.0**53, "i": 0, "t": Timestamp.parse("2024-05-01 08:00Z"), "l": []},
            {"d": 0.5, "i": 7, "t": Timestamp.parse("2024-05-01"), "l": ["x", None]},
            {"i": INT_MIN},
        ]
    )
    assert all(len(columns) == 1 for columns in batch.columns.values())


@forms
@pytest.mark.parametrize(
    ("kind", "bad", "reason"),
    [
        ("INT", 1.5, "1.5 is not of type INT"),
        ("INT", 2.0**63, "does not fit into 64 bits"),
        ("INT", float("nan"), "nan is not of type INT"),
        ("STR", 5, "5 is not of type STR"),
        ("BOOL", 1, "1 is not of type BOOL"),
        ("TIMESTAMP", "soon", "'soon' is not a timestamp"),
        ("LIST<STR>", [1], "[1] is not of type LIST<STR>"),
        ("STR", {"x": 1}, "an object, or something else without a type, is not of type STR"),
        ("STR", {}, "an object, or something else without a type, is not of type STR"),
        ("STR", b"x", "without a type, is not of type STR"),
    ],
)
@pytest.mark.parametrize("is_open", [True, False])
def test_a_mismatch_names_event_and_attribute(
    form: Callable[[list[Any]], object], kind: str, bad: object, reason: str, is_open: bool
) -> None:
    events = form([{"x": {"y": None}}, {}, {"x": {"y": bad}}, {"x": {"y": bad}}])
    with pytest.raises(EventError) as caught:
        EventBatch.of(events, Schema({"x.y": kind}, open=is_open))
    assert (caught.value.event, caught.value.attribute) == (2, "x.y")
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "array",
    [
        pa.array([None, [True], []], pa.list_(pa.bool_())),
        pa.array([None, [], [True]], pa.list_(pa.bool_())),
    ],
)
def test_the_first_of_several_mismatches_is_named(array: pa.Array) -> None:
    table = pa.table({"a": array})
    for events in (table, table.to_pylist()):
        with pytest.raises(EventError) as caught:
            EventBatch.of(events, Schema({"a": "INT"}))
        assert caught.value.event == 1


@forms
def test_a_closed_schema_does_not_read_other_attributes(
    form: Callable[[list[Any]], object],
) -> None:
    event = {"a": 1, "u": {"x": 2, "y": b""}, "v": 3}
    batch = sound(EventBatch.of(form([event]), Schema({"a": "INT", "u.x": "INT", "v.w": "INT"})))
    assert set(batch.columns) == {("a",), ("u", "x")}
    assert batch.rows() == [{"a": 1, "u": {"x": 2}}]


def test_a_closed_schema_ignores_faults_of_other_attributes() -> None:
    schema = Schema({"a": "INT", "u.x": "INT"})
    events: list[Any] = [{"a": 1, "b": 2**70, 3: 4, "u": {"z": "\ud800"}}, {"u": 2**70}]
    assert of(*events, schema=schema).rows() == [{"a": 1}, {}]
    table = pa.table({"a": [1], "b": pa.array([2**63], pa.uint64())})
    assert EventBatch.of(table, schema).rows() == [{"a": 1}]


@forms
def test_an_open_schema_keeps_other_attributes(form: Callable[[list[Any]], object]) -> None:
    event = {"a": 1, "u": {"x": 2}, "v": "w"}
    batch = sound(EventBatch.of(form([event]), Schema({"a": "DBL"}, open=True)))
    assert exact(batch.rows()) == exact([{**event, "a": 1.0}])
    assert types_at(batch, "u") == {Type.OPAQUE}
