"""The conversion of Arrow types that events do not have."""

from __future__ import annotations

import decimal

import pyarrow as pa

from tamis.events.batch import EventBatch
from tamis.values import INT_MAX, OPAQUE, Timestamp, Type
from tests.events.checks import arrow_rows, exact, sound, types_at


def test_nanoseconds_round_down() -> None:
    array = pa.array([-1001, -1000, -1, 0, 999, 1000, None], pa.timestamp("ns", "Europe/Paris"))
    expected = [-2, -1, -1, 0, 0, 1]
    assert arrow_rows(a=array) == [*({"a": Timestamp(n)} for n in expected), {}]


def test_date64_rounds_down() -> None:
    array = pa.array([-1, 1, 86_400_000], pa.int64()).view(pa.date64())
    day = 86_400_000_000
    assert arrow_rows(a=array) == [{"a": Timestamp(n)} for n in (-day, 0, day)]


def test_instants_beyond_the_year_9999_are_kept() -> None:
    batch = EventBatch.of(pa.table({"a": pa.array([2**62], pa.timestamp("us"))}))
    assert batch.rows() == [{"a": Timestamp(2**62)}]


def test_decimals_are_integers_or_doubles() -> None:
    numbers = ["1.00", "1.50", "9223372036854775807.00", "9223372036854775808.00", "-0.00", None]
    array = pa.array([n and decimal.Decimal(n) for n in numbers], pa.decimal128(38, 2))
    batch = sound(EventBatch.of(pa.table({"a": array})))
    assert types_at(batch, "a") == {Type.INT, Type.DBL}
    expected: list[object] = [1, 1.5, INT_MAX, 2.0**63, 0]
    assert exact(batch.rows()) == exact([*({"a": n} for n in expected), {}])


def test_lists_take_their_type_from_their_elements() -> None:
    array = pa.array([[], [None], [1.5], None, [None, 2.0]], pa.list_(pa.float64()))
    batch = sound(EventBatch.of(pa.table({"a": array})))
    assert types_at(batch, "a") == {Type.INT_LIST, Type.OPAQUE}
    assert batch.rows() == [{"a": []}, {"a": [None]}, {"a": OPAQUE}, {}, {"a": OPAQUE}]


def test_the_item_name_of_a_list_does_not_matter() -> None:
    array = pa.array([[1], None], pa.list_(pa.field("element", pa.int64(), nullable=False)))
    assert arrow_rows(a=array) == [{"a": [1]}, {}]


def test_encodings_are_decoded() -> None:
    views = pa.DictionaryArray.from_arrays([0, None, 1], pa.array(["x", None], pa.string_view()))
    structs = pa.DictionaryArray.from_arrays([0, None, 0], pa.array([{"y": 1}]))
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["r", None])
    assert arrow_rows(a=views, b=structs, c=runs) == [
        {"a": "x", "b": {"y": 1}, "c": "r"},
        {"c": "r"},
        {"b": {"y": 1}},
    ]


def test_unions_hold_several_types() -> None:
    union = pa.UnionArray.from_dense(
        pa.array([0, 1, 2, 0], pa.int8()),
        pa.array([0, 0, 0, 1], pa.int32()),
        [pa.array([1, None]), pa.array(["x"]), pa.array([{"y": 2.5}])],
    )
    array = pa.chunked_array([union, union])
    expected = [{"a": 1}, {"a": "x"}, {"a": {"y": 2.5}}, {}]
    assert exact(arrow_rows(a=array)) == exact(expected * 2)
    lists = pa.ListArray.from_arrays([0, 1, 2, 4], union)
    assert arrow_rows(a=lists) == [{"a": [1]}, {"a": ["x"]}, {"a": OPAQUE}]
    for offsets in ([0, 2], [1, 3]):  # an INT and a STR, a STR and an object
        assert arrow_rows(a=pa.ListArray.from_arrays(offsets, union)) == [{"a": OPAQUE}]


def test_extensions_are_their_storage() -> None:
    flags = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, 0, None], pa.int8()))
    ids = pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"0" * 16, None, None], pa.binary(16))
    )
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None, "1"]))
    assert exact(arrow_rows(a=flags, b=ids, c=texts)) == exact(
        [{"a": True, "b": OPAQUE, "c": "{}"}, {"a": False}, {"c": "1"}]
    )


def test_maps_are_opaque() -> None:
    array = pa.array([[("x", 1)], [], None], pa.map_(pa.string(), pa.int64()))
    assert arrow_rows(a=array) == [{"a": OPAQUE}, {"a": OPAQUE}, {}]
