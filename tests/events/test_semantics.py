"""Missing attributes are filled in under `default`, and refused under `total`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tamis.errors import EventError, SchemaError
from tamis.events.batch import EventBatch
from tamis.schema import Schema
from tamis.values import Timestamp
from tests.events.checks import forms, of, sound

DEFAULTS = Schema(
    {
        "a": ("INT", 7), "b": ("LIST<STR>", []), "c": "STR",
        "t": ("TIMESTAMP", "2024-05-01"), "u.x": ("STR", "none"),
    }
)  # fmt: skip


@forms
def test_default_fills_in_missing_attributes(form: Callable[[list[Any]], object]) -> None:
    events = form([{"a": 1, "u": {"x": "y"}}, {"c": "z"}, {"a": None, "u": {"x": None}}])
    day = Timestamp.parse("2024-05-01")
    batch = sound(EventBatch.of(events, DEFAULTS, "default"))
    assert batch.rows() == [
        {"a": 1, "b": [], "t": day, "u": {"x": "y"}},
        {"a": 7, "b": [], "t": day, "u": {"x": "none"}, "c": "z"},
        {"a": 7, "b": [], "t": day, "u": {"x": "none"}},
    ]
    for semantics in ("sql", "strict"):
        assert EventBatch.of(events, DEFAULTS, semantics).rows()[1] == {"c": "z"}


def test_a_default_fills_in_its_object() -> None:
    schema = Schema({"u.v.x": ("INT", 1)}, open=True)
    batch = of({}, {"u": {}}, {"u": {"v": b"", "w": 2}}, schema=schema, semantics="default")
    for path in (("u",), ("u", "v")):
        (column,) = batch.columns[path]
        assert column.data.to_pylist() == [True] * 3
    with pytest.raises(EventError) as caught:
        of({}, {"u": "v"}, schema=schema, semantics="default")
    assert (caught.value.event, caught.value.attribute) == (1, "u")
    closed = Schema({"u.v.x": ("INT", 1)})
    batch = of({"u": "v"}, schema=closed, semantics="default")
    assert batch.rows() == [{"u": {"v": {"x": 1}}}]


@forms
@pytest.mark.parametrize(
    ("events", "event", "attribute"),
    [
        ([{"a": 1, "u": {"x": 1}}, {"a": 1}], 1, "u.x"),
        ([{"a": 1, "u": {"x": 1}}, {"a": None, "u": {"x": 1}}], 1, "a"),
        ([{"b": 1}], 0, "a"),
    ],
)
def test_total_requires_every_attribute(
    form: Callable[[list[Any]], object], events: list[Any], event: int, attribute: str
) -> None:
    schema = Schema({"a": "INT", "u.x": "INT"})
    with pytest.raises(EventError, match="semantics 'total' needs every attribute") as caught:
        EventBatch.of(form(events), schema, "total")
    assert (caught.value.event, caught.value.attribute) == (event, attribute)
    good = {"a": 1, "u": {"x": 1}}
    assert EventBatch.of(form([good]), schema, "total").rows() == [good]


def test_total_accepts_no_events() -> None:
    assert len(EventBatch.of([], Schema({"a": "INT"}), "total")) == 0


@pytest.mark.parametrize("semantics", ["default", "total"])
def test_default_and_total_need_a_schema(semantics: str) -> None:
    for events in ([], pa.table({})):
        with pytest.raises(SchemaError, match="needs a schema"):
            EventBatch.of(events, semantics=semantics)


def test_unknown_semantics_are_refused() -> None:
    with pytest.raises(SchemaError, match="choose one of sql, strict, default, total"):
        EventBatch.of([], semantics="lenient")
