"""The rows of Arrow tables are events; columns of canonical types are not copied."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given, settings

from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.events.column import ARROW, MAX_DEPTH
from tamis.schema import Schema
from tamis.values import OPAQUE, Type
from tests.events.arrow_tables import arrow_tables, is_valid
from tests.events.checks import addresses, arrow_rows, exact, sound


@settings(max_examples=250, deadline=None)
@given(arrow_tables())
def test_arrow_tables_equal_their_dicts(table: pa.Table) -> None:
    assume(is_valid(table))
    expected = EventBatch.from_dicts(table.to_pylist())
    for form in (table, table.combine_chunks()):
        batch = sound(EventBatch.of(form))
        assert exact(batch.rows()) == exact(expected.rows())
        assert set(batch.columns) == set(expected.columns)
    for part in table.to_batches():
        assert exact(EventBatch.of(part).rows()) == exact(
            EventBatch.from_dicts(part.to_pylist()).rows()
        )


@pytest.mark.parametrize("kind", [kind for kind in Type if kind is not Type.OPAQUE])
def test_canonical_types_are_not_copied(kind: Type) -> None:
    example: dict[Type, list[object]] = {
        Type.BOOL: [True],
        Type.STR: ["a"],
        Type.INT_LIST: [[1]],
        Type.STR_LIST: [["a"]],
    }
    array = pa.array([*example.get(kind, [7]), None] * 5, ARROW[kind])
    for form in (pa.table({"a": array}), pa.record_batch({"a": array})):
        (column,) = EventBatch.of(form).columns[("a",)]
        assert column.type is kind
        assert addresses(column.data) == addresses(array)


def test_other_timestamps_are_not_copied_either() -> None:
    array = pa.array([1, None], pa.timestamp("us", "Asia/Tokyo"))
    (column,) = sound(EventBatch.of(pa.table({"a": array}))).columns[("a",)]
    assert addresses(column.data) == addresses(array)


def test_a_null_object_has_no_fields() -> None:
    inner = pa.array([1, 2, 3])
    hidden = pa.StructArray.from_arrays([inner], ["x"], mask=pa.array([False, True, False]))
    outer = pa.StructArray.from_arrays([hidden], ["u"], mask=pa.array([False, False, True]))
    assert arrow_rows(a=outer) == [{"a": {"u": {"x": 1}}}, {"a": OPAQUE}, {}]


def test_the_slot_of_a_null_is_ignored() -> None:
    huge = pa.array([2**64 - 1, 1], pa.uint64())
    null_list = pa.ListArray.from_arrays([0, 1, 2], huge, mask=pa.array([True, False]))
    null_number = pa.Array.from_buffers(
        pa.uint64(), 2, [pa.py_buffer(b"\x02"), huge.buffers()[1]], null_count=1
    )
    assert arrow_rows(a=null_list, b=null_number) == [{}, {"a": [1], "b": 1}]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([None, 0, 1, 2**63, 2**64 - 1], pa.uint64()),
        pa.array([None, 0, 1, 2**60, 2**61], pa.timestamp("s")),
        pa.array([None, 0, 1, -(2**60), 2**61], pa.timestamp("ms", "UTC")),
        pa.array([None, 0, 1, 2**31 - 1, 0], pa.int32()).view(pa.date32()),
        pa.array([None, 0, 1, 2**62, 0], pa.int64()).view(pa.date64()),
        pa.array([None, [], [1, 2], [3, 2**63], []], pa.list_(pa.uint64())),
        pa.array([None, [], [[1]], [[3], [2**63]], []], pa.list_(pa.list_(pa.uint64()))),
    ],
)
def test_values_out_of_range_are_refused(array: pa.Array) -> None:
    table = pa.table({"x": pa.StructArray.from_arrays([array], ["y"])})
    with pytest.raises(EventError, match="does not fit into 64 bits") as caught:
        EventBatch.of(table)
    assert (caught.value.event, caught.value.attribute) == (3, "x.y")


@pytest.mark.parametrize("first", range(9))
def test_the_first_event_at_fault_is_named(first: int) -> None:
    numbers = [0] * first + [2**63] * (9 - first)
    with pytest.raises(EventError) as caught:
        EventBatch.of(pa.table({"a": pa.array(numbers, pa.uint64())}))
    assert caught.value.event == first
    assert caught.value.reason == "integer 9223372036854775808 does not fit into 64 bits"


def test_structs_nested_too_deep_are_refused() -> None:
    kind = pa.int64()
    for _ in range(MAX_DEPTH):
        kind = pa.struct([("a", kind)])
    with pytest.raises(EventError, match="deeper"):
        EventBatch.of(pa.table({"a": pa.nulls(1, kind)}))
    assert arrow_rows(a=pa.nulls(1, kind.field(0).type)) == [{}]


def test_two_fields_of_the_same_name_are_refused() -> None:
    array = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["b", "b"])
    with pytest.raises(EventError, match=r"'a\.b': two columns"):
        EventBatch.of(pa.table({"a": array}))


def test_a_table_may_have_rows_without_columns() -> None:
    table = pa.table({"a": [1, 2]}).select([])
    assert EventBatch.of(table).rows() == [{}, {}]


def test_anything_that_exports_a_stream_is_accepted() -> None:
    reader = pa.table({"a": [1, 2]}).to_reader()
    assert EventBatch.of(reader).rows() == [{"a": 1}, {"a": 2}]


def test_arrays_of_structs_are_tables() -> None:
    array = pa.array([{"a": 1, "b": {"c": "x"}}, {"a": None, "b": None}])
    expected = [{"a": 1, "b": {"c": "x"}}, {}]
    assert EventBatch.of(array).rows() == expected
    assert EventBatch.of(array.slice(1)).rows() == expected[1:]
    assert EventBatch.of(pa.chunked_array([array, array])).rows() == expected * 2
    assert EventBatch.of(pa.chunked_array([], array.type)).rows() == []
    assert EventBatch.of(list(array)).rows() == expected
    assert len(EventBatch.of(pa.array([{}, {}], pa.struct([])))) == 2
    with pytest.raises(EventError) as caught:
        EventBatch.of(pa.array([{"a": 1}, None]))
    assert caught.value.event == 1
    for other in (pa.array([1]), pa.array(["x"]), pa.array([], pa.null())):
        with pytest.raises(EventError, match="an Arrow array of events must hold structs"):
            EventBatch.of(other)


TEXT = pa.array([b"x", b"\xff", b"y"]).view(pa.string())
OFFSETS = pa.array([0, 1, 2, 3], pa.int32())


@pytest.mark.parametrize(
    "array",
    [
        TEXT,
        TEXT.cast(pa.large_string()),
        pa.array([b"x", b"\xff", b"y"], pa.binary_view()).view(pa.string_view()),
        pa.chunked_array([TEXT.slice(0, 1), TEXT.slice(1)]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), TEXT),
        pc.run_end_encode(TEXT),
        pa.ListArray.from_arrays(OFFSETS, TEXT),
        pa.LargeListArray.from_arrays(OFFSETS.cast(pa.int64()), TEXT),
        pa.StructArray.from_arrays([TEXT], ["inside"]),
        pa.StructArray.from_arrays([pa.ListArray.from_arrays(OFFSETS, TEXT)], ["inside"]),
        pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [TEXT]),
    ],
    ids=lambda array: str(array.type),
)
def test_text_that_is_not_utf8_is_refused(array: pa.Array) -> None:
    with pytest.raises(EventError, match=r"not valid UTF-8") as caught:
        EventBatch.of(pa.table({"a": array}))
    assert caught.value.attribute in ("a", "a.inside")
    assert caught.value.event == 1
    assert EventBatch.of(pa.table({"a": array}).slice(2)).rows()
    assert EventBatch.of(pa.table({"a": array}), Schema({"b": "INT"})).rows() == [{}] * 3


def test_invalid_arrays_are_refused() -> None:
    offsets = pa.array([0, 1_000_000, 3], pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    with pytest.raises(EventError):
        EventBatch.of(pa.table({"a": text}))
    far = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["x"]), safe=False)
    with pytest.raises(EventError):
        EventBatch.of(pa.table({"a": far}))
    with pytest.raises(EventError):
        EventBatch.of(pa.table([[1]], schema=pa.schema([pa.field(b"\xff", pa.int64())])))
