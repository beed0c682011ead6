"""A batch is converted to a schema as its events would be."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from tamis.errors import EventError, SchemaError
from tamis.events.batch import EventBatch
from tamis.matcher import Matcher
from tamis.schema import Schema
from tests.events.checks import exact, of


def test_a_batch_of_the_same_schema_is_returned_as_it_is() -> None:
    batch = of({"a": 1})
    assert EventBatch.of(batch) is batch


SCHEMAS = [
    None,
    Schema({"a": ("INT", 5)}),
    Schema({"a": ("DBL", 5.0)}),
    Schema({"a": ("INT", 5)}, open=True),
    Schema({"b.c": ("STR", "x"), "a": "INT"}),
    Schema({"b.c": ("STR", "x")}, open=True),
]
EVENTS: list[dict[str, object]] = [
    {}, {"a": 1}, {"a": 1, "b": {"c": "y", "d": 2}}, {"b": 1}, {"a": "x"}, {"b": {}}, {"a": 2.0},
]  # fmt: skip


def outcome(make: Callable[[], EventBatch]) -> object:
    try:
        batch = make()
    except (EventError, SchemaError) as error:
        return type(error), str(error)
    types = {path: {c.type for c in batch.columns[path] if c.data.null_count < len(batch)}
             for path in batch.columns}  # fmt: skip
    return exact(batch.rows()), {path: kinds for path, kinds in types.items() if kinds}


@pytest.mark.parametrize("semantics", ["sql", "strict", "default", "total"])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_batch_is_converted_to_the_schema(schema: Schema | None, semantics: str) -> None:
    for event in EVENTS:
        events = [event, {"a": 7, "b": {"c": "z"}}]
        plain = EventBatch.of(events)
        again = pickle.loads(pickle.dumps(plain)).slice(0)
        expected = outcome(lambda e=events: EventBatch.of(e, schema, semantics))
        assert outcome(lambda b=plain: EventBatch.of(b, schema, semantics)) == expected
        assert outcome(lambda b=again: EventBatch.of(b, schema, semantics)) == expected


def test_a_batch_is_converted_to_another_schema() -> None:
    batch = EventBatch.of([{"a": 1, "b": 2}, {}], {"a": ("INT", 5)}, "default")
    for same in (batch, batch.slice(1), pickle.loads(pickle.dumps(batch))):
        assert same.schema == Schema({"a": ("INT", 5)}) and same.semantics == "default"
        assert EventBatch.of(same, {"a": ("INT", 5)}, "default") is same
        assert EventBatch.of(same, same.schema, "sql") is same
    # Attributes that its schema dropped stay absent, and defaults stay.
    assert EventBatch.of(batch).rows() == [{"a": 1}, {"a": 5}]
    assert EventBatch.of(batch, {"b": ("INT", 9)}, "default").rows() == [{"b": 9}, {"b": 9}]
    with pytest.raises(EventError, match="is missing") as caught:
        EventBatch.of(EventBatch.of([{"a": 1}, {}]), {"a": "INT"}, "total")
    assert (caught.value.event, caught.value.attribute) == (1, "a")
    objects = EventBatch.of([{"u": {"c": "x"}}], {"u.c": "STR"})
    with pytest.raises(EventError, match="is not of type INT"):
        EventBatch.of(objects, {"u": "INT"})
    with pytest.raises(SchemaError):
        EventBatch.of(batch, None, "total")
    with pytest.raises(SchemaError):
        EventBatch.of(batch, {"a": "NONE"})


def test_matchers_match_batches_like_events() -> None:
    filling = Matcher({"a": ("INT", 5)}, "default")
    filling.add("d", "a = 5")
    assert filling.match_batch(EventBatch.of([{}])).per_event() == [["d"]]
    total = Matcher({"a": "INT"}, "total")
    total.add("d", "a = 5")
    assert total.match_batch(EventBatch.of([{"a": 5.0}])).per_event() == [["d"]]
    with pytest.raises(EventError):
        total.match_batch(EventBatch.of([{}]))
