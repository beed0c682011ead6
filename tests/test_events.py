"""Events in every form come into columns without a value changing."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pickle
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tamis.columns.column import ARROW, MAX_DEPTH
from tamis.errors import EventError, SchemaError
from tamis.events import EventBatch
from tamis.language.evaluate import look_up
from tamis.matcher import Matcher
from tamis.paths import parse_path
from tamis.schema import Schema, coerce
from tamis.values import INT_MAX, INT_MIN, OPAQUE, Timestamp, Type

UTC = dt.UTC
MANY = settings(max_examples=120, deadline=None)


def exact(value: object) -> object:
    """A value so that only the same one is equal: True is not 1, NaN is NaN, -0.0 is not 0.0."""
    if isinstance(value, dict):
        return {name: exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [exact(element) for element in value]
    return (type(value).__name__, repr(value))


def sound(batch: EventBatch) -> EventBatch:
    """Check what holds of every batch."""
    for columns in batch.columns.values():
        assert columns
        assert len({column.type for column in columns}) == len(columns)
        for column in columns:
            assert column.data.type == ARROW[column.type]
            assert isinstance(column.data, pa.Array)
            assert len(column.data) == len(batch)
            column.data.validate(full=True)
            if column.type is Type.OPAQUE:
                assert False not in column.data.to_pylist()
        valid = sum(np.asarray(column.data.is_valid()).astype(int) for column in columns)
        assert np.all(valid <= 1)
    return batch


def of(*events: object, **options: Any) -> EventBatch:
    return sound(EventBatch.of(list(events), **options))


def types_at(batch: EventBatch, *path: str) -> set[Type]:
    return {column.type for column in batch.columns.get(path, ())}


def arrow_rows(**columns: Any) -> list[dict[str, object]]:
    return sound(EventBatch.of(pa.table(columns))).rows()


def paths_in(event: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(event, Mapping):
        for name, inner in event.items():
            yield (*above, name)
            yield from paths_in(inner, (*above, name))


# -- dicts ----------------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c", "a.b", "", "é"])
integers = st.integers(INT_MIN, INT_MAX) | st.integers(-2, 2)
instants = st.datetimes(timezones=st.none() | st.just(UTC))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    integers,
    st.floats(),
    st.text(max_size=4),
    instants,
    st.dates(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.binary(max_size=2),
    integers.map(np.int64),
    st.floats(width=32).map(np.float32),
    st.booleans().map(np.bool_),
    st.just(Timestamp(2**62)),
    st.just(OPAQUE),
)
lists = st.one_of(
    st.lists(st.none() | integers, max_size=3),
    st.lists(st.none() | st.text(max_size=2), max_size=3),
    st.lists(scalars, max_size=3),
    st.lists(integers, max_size=3).map(tuple),
    st.lists(integers, max_size=3).map(np.array),
)
contents = st.recursive(
    scalars | lists, lambda inner: st.dictionaries(names, inner, max_size=3), max_leaves=6
)
dict_events = st.lists(st.dictionaries(names, contents, max_size=4), max_size=6)


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
def test_rows_are_events_again(events: list[dict[str, object]]) -> None:
    rows = EventBatch.from_dicts(events).rows()
    assert exact(EventBatch.from_dicts(rows).rows()) == exact(rows)


@MANY
@given(dict_events, st.integers(0, 7), st.none() | st.integers(0, 7))
def test_slices_and_pickles(
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


def test_one_attribute_of_several_types() -> None:
    batch = of({"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {"a": None}, {}, {"a": [1]})
    assert types_at(batch, "a") == {Type.INT, Type.DBL, Type.STR, Type.BOOL, Type.INT_LIST}
    assert exact(batch.rows()) == exact(
        [{"a": 1}, {"a": 1.0}, {"a": "1"}, {"a": True}, {}, {}, {"a": [1]}]
    )


def test_an_object_is_opaque_and_flat() -> None:
    batch = of({"u": {"x": {"y": 1}}}, {"u": {}}, {"u": "v"}, {"u": b"w"})
    assert types_at(batch, "u") == {Type.OPAQUE, Type.STR}
    assert types_at(batch, "u", "x") == {Type.OPAQUE}
    assert types_at(batch, "u", "x", "y") == {Type.INT}
    assert batch.rows() == [{"u": {"x": {"y": 1}}}, {"u": OPAQUE}, {"u": "v"}, {"u": OPAQUE}]


def test_a_dot_in_a_name_is_no_step() -> None:
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
def test_lists(values: list[list[object]], kind: Type) -> None:
    batch = of(*({"a": value} for value in values))
    assert types_at(batch, "a") == {kind}


def test_nothing_at_all() -> None:
    for nothing in ([], iter(()), pa.table({}), pd.DataFrame(), pl.DataFrame()):
        batch = sound(EventBatch.of(nothing))
        assert (len(batch), batch.rows(), dict(batch.columns)) == (0, [], {})
    assert of({}, {"a": None}).rows() == [{}, {}]
    assert of({}, {"a": None}).columns == {}


def test_any_mapping_and_any_iterable() -> None:
    class Name(str):
        pass

    events = (types.MappingProxyType({Name("a"): i}) for i in range(2))
    batch = EventBatch.of(events)
    assert batch.rows() == [{"a": 0}, {"a": 1}]
    assert type(next(iter(batch.columns))[0]) is str


def test_subclasses_count_as_what_they_are() -> None:
    class Level(enum.IntEnum):
        HIGH = 3

    assert exact(of({"a": Level.HIGH}, {"a": 4}).rows()) == exact([{"a": 3}, {"a": 4}])


def test_row_is_one_of_rows() -> None:
    batch = of({"a": 1}, {"a": 2})
    assert batch.row(1) == {"a": 2} and batch.row(-2) == {"a": 1}
    assert batch.row(1) is not batch.rows()[1]  # it did not make all of them
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


# -- dicts that are refused -----------------------------------------------------------------------


class Hostile:
    """Raises something else than AttributeError at every question."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("leave me alone")


class HostileMapping(dict[str, object]):
    def items(self) -> Any:
        raise LookupError("no items today")


def cyclic_dict() -> dict[str, object]:
    event: dict[str, object] = {}
    event["a"] = event
    return event


@pytest.mark.parametrize(
    ("bad", "attribute", "reason"),
    [
        (5, "", "an event is a mapping, not int"),
        (None, "", "an event is a mapping, not NoneType"),
        ({"a": 2**63}, "a", "integer 9223372036854775808 does not fit into 64 bits"),
        ({"a": -(2**63) - 1}, "a", "does not fit into 64 bits"),
        ({"a": 10**5000}, "a", "does not fit into 64 bits"),
        ({"x": {"odd name": 2**63}}, "x.`odd name`", "does not fit into 64 bits"),
        ({"a": "\ud800"}, "a", "surrogate"),
        ({"a": [1, 2**63]}, "a", "does not fit into 64 bits"),
        ({"a": ["\ud800"]}, "a", "surrogate"),
        ({"a": np.uint64(2**63)}, "a", "does not fit into 64 bits"),
        ({"a": decimal.Decimal("sNaN")}, "a", "NaN"),
        ({"a": Timestamp(2**63)}, "a", ""),
        ({1: "a"}, "", "attribute names are text, not int"),
        ({1: None}, "", "attribute names are text, not int"),
        ({"a": {b"x": 1}}, "a", "attribute names are text, not bytes"),
        ({"a": Hostile()}, "a", "leave me alone"),
        ({"a": HostileMapping()}, "a", "no items today"),
        (HostileMapping(), "", "no items today"),
        (cyclic_dict(), "a", f"deeper than {MAX_DEPTH}"),
    ],
)
@pytest.mark.parametrize("alone", [True, False])
def test_refused(bad: Any, attribute: str, reason: str, alone: bool) -> None:
    good: dict[str, object] = {"a": 1, "x": {"odd name": 2}}
    events = [bad] if alone else [good, {"a": "text"}, good, bad, good]
    with pytest.raises(EventError) as caught:
        EventBatch.of(events)
    assert caught.value.event == (0 if alone else 3)
    assert caught.value.attribute == attribute
    assert reason in caught.value.reason


def test_depth() -> None:
    event: dict[str, object] = {}
    for _ in range(MAX_DEPTH - 1):
        event = {"a": event}
    assert len(of(event).columns) == MAX_DEPTH - 1
    with pytest.raises(EventError, match="deeper"):
        of({"a": event})


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ({"a": 1}, r"one event; give a list of events: \[event\]"),
        ("[]", "not str"),
        (b"[]", "not bytes"),
        (None, "not NoneType"),
        (7, "not int"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame"),
        (pa.chunked_array([[1]]), "an Arrow array of events is one of structs, not of int64"),
        (pd.DataFrame({0: [1]}), "rename the column 0"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a': two columns have this name"),
        (pa.table([[1], [2]], names=["a", "a"]), "'a': two columns have this name"),
    ],
)
def test_no_form_of_events(events: object, reason: str) -> None:
    with pytest.raises(EventError, match=reason):
        EventBatch.of(events)


def test_a_batch_is_itself() -> None:
    batch = of({"a": 1})
    assert EventBatch.of(batch) is batch


# -- Arrow ----------------------------------------------------------------------------------------

some_days = st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1))
some_instants = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))


def decimals(precision: int, scale: int) -> st.SearchStrategy[decimal.Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda n: decimal.Decimal(n).scaleb(-scale, WIDE))


WIDE = decimal.Context(prec=80)


def bits(width: int, signed: bool = True) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else st.integers(0, 255)


LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    (pa.int8(), bits(8)),
    (pa.uint8(), bits(8, signed=False)),
    (pa.int32(), bits(32)),
    (pa.int64(), bits(64)),
    (pa.uint64(), st.integers(0, INT_MAX)),
    (pa.float16(), st.floats(width=16)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal32(5, 2), decimals(5, 2)),
    (pa.decimal64(18, 3), decimals(18, 3)),
    (pa.decimal128(38, 18), decimals(38, 18)),
    (pa.decimal128(38, 0), decimals(38, 0)),
    (pa.decimal128(10, -2), decimals(10, -2)),
    (pa.decimal256(76, 57), decimals(76, 57)),
    (pa.decimal256(76, 60), decimals(76, 60)),
    (pa.string(), st.text(max_size=3)),
    (pa.large_string(), st.text(max_size=3)),
    (pa.string_view(), st.text(max_size=20)),
    (pa.dictionary(pa.int8(), pa.string()), st.text(max_size=3)),
    (pa.dictionary(pa.int32(), pa.int16()), bits(16)),
    (pa.binary(), st.binary(max_size=2)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.timestamp("s"), some_instants.map(lambda t: t.replace(microsecond=0))),
    (pa.timestamp("ms", "Europe/Paris"), some_instants.map(lambda t: t.replace(microsecond=7000))),
    (pa.timestamp("us", "UTC"), st.datetimes()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("ns"), some_instants),
    (pa.time64("us"), st.times()),
    (pa.duration("ms"), st.integers(0, 9)),
    (pa.month_day_nano_interval(), st.none()),
]
TypeAndValues = tuple[pa.DataType, st.SearchStrategy[Any]]


def list_like(inner: TypeAndValues) -> st.SearchStrategy[TypeAndValues]:
    element, values = inner
    shapes = [pa.list_(element), pa.large_list(element)]
    if not pa.types.is_dictionary(element):  # from Python, Arrow cannot make views of those
        shapes += [pa.list_view(element), pa.large_list_view(element)]
    variable = [(shape, st.lists(st.none() | values, max_size=3)) for shape in shapes]
    fixed = (pa.list_(element, 2), st.lists(st.none() | values, min_size=2, max_size=2))
    return st.sampled_from([*variable, fixed])


def struct(inner: list[TypeAndValues]) -> TypeAndValues:
    fields = {name: pair for name, pair in zip("abc", inner, strict=False)}
    values = st.fixed_dictionaries({name: st.none() | v for name, (_, v) in fields.items()})
    return pa.struct([(name, kind) for name, (kind, _) in fields.items()]), values


arrow_types = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: inner.flatmap(list_like) | st.lists(inner, max_size=3).map(struct),
    max_leaves=4,
)


@st.composite
def arrow_tables(draw: st.DrawFn) -> pa.Table:
    length = draw(st.integers(0, 6))
    columns = {}
    for name in draw(st.lists(names, max_size=4, unique=True)):
        kind, values = draw(arrow_types)
        some = st.lists(st.none() | values, min_size=length, max_size=length)
        chunks = [pa.array(draw(some), kind) for _ in range(2)]
        columns[name] = pa.chunked_array(chunks[: draw(st.integers(1, 2))] * 2, kind)
        columns[name] = columns[name].slice(0, length * 2)
    start = draw(st.integers(0, 3))
    return pa.table(columns).slice(start, draw(st.integers(0, 12)))


def is_valid(table: pa.Table) -> bool:
    """Whether Arrow stands by what it has made.

    Of a missing fixed-size list it leaves the items as it finds them in memory, which are then, now
    and then, no indices into a dictionary.
    """
    try:
        table.validate(full=True)
        table.combine_chunks().validate(full=True)
    except pa.ArrowInvalid as error:
        return "Dictionary indices" not in str(error)
    return True


@settings(max_examples=250, deadline=None)
@given(arrow_tables())
def test_arrow_is_its_dicts(table: pa.Table) -> None:
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


def addresses(array: pa.Array) -> list[int | None]:
    return [buffer.address if buffer else None for buffer in array.buffers()]


@pytest.mark.parametrize("kind", [kind for kind in Type if kind is not Type.OPAQUE])
def test_the_right_types_are_not_copied(kind: Type) -> None:
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


def test_what_lies_under_a_null_is_not_looked_at() -> None:
    huge = pa.array([2**64 - 1, 1], pa.uint64())
    null_list = pa.ListArray.from_arrays([0, 1, 2], huge, mask=pa.array([True, False]))
    null_number = pa.Array.from_buffers(
        pa.uint64(), 2, [pa.py_buffer(b"\x02"), huge.buffers()[1]], null_count=1
    )
    assert arrow_rows(a=null_list, b=null_number) == [{}, {"a": [1], "b": 1}]


def test_floor_of_nanoseconds() -> None:
    array = pa.array([-1001, -1000, -1, 0, 999, 1000, None], pa.timestamp("ns", "Europe/Paris"))
    expected = [-2, -1, -1, 0, 0, 1]
    assert arrow_rows(a=array) == [*({"a": Timestamp(n)} for n in expected), {}]


def test_floor_of_date64() -> None:
    array = pa.array([-1, 1, 86_400_000], pa.int64()).view(pa.date64())
    day = 86_400_000_000
    assert arrow_rows(a=array) == [{"a": Timestamp(n)} for n in (-day, 0, day)]


def test_instants_beyond_the_year_9999() -> None:
    batch = EventBatch.of(pa.table({"a": pa.array([2**62], pa.timestamp("us"))}))
    assert batch.rows() == [{"a": Timestamp(2**62)}]


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
def test_arrow_out_of_range(array: pa.Array) -> None:
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


def test_decimals() -> None:
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


def test_a_list_with_another_name_for_its_items() -> None:
    array = pa.array([[1], None], pa.list_(pa.field("element", pa.int64(), nullable=False)))
    assert arrow_rows(a=array) == [{"a": [1]}, {}]


def test_encodings_are_taken_off() -> None:
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


def test_arrow_depth() -> None:
    kind = pa.int64()
    for _ in range(MAX_DEPTH):
        kind = pa.struct([("a", kind)])
    with pytest.raises(EventError, match="deeper"):
        EventBatch.of(pa.table({"a": pa.nulls(1, kind)}))
    assert arrow_rows(a=pa.nulls(1, kind.field(0).type)) == [{}]


def test_two_fields_of_one_name() -> None:
    array = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["b", "b"])
    with pytest.raises(EventError, match=r"'a\.b': two columns"):
        EventBatch.of(pa.table({"a": array}))


def test_no_columns_but_rows() -> None:
    table = pa.table({"a": [1, 2]}).select([])
    assert EventBatch.of(table).rows() == [{}, {}]


# -- data frames ----------------------------------------------------------------------------------


def test_pandas() -> None:
    frame = pd.DataFrame(
        {
            "f": [1.5, float("nan")],
            "s": ["x", None],
            "c": pd.Categorical(["u", "v"]),
            "t": pd.to_datetime(["2024-05-01 10:00", None]).tz_localize("Europe/Paris"),
            "n": pd.array([1, None], dtype="Int64"),
            "d": [{"x": 1}, None],
        },
        index=[7, 8],
    )
    first = Timestamp.parse("2024-05-01 08:00Z")
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [{"f": 1.5, "s": "x", "c": "u", "t": first, "n": 1, "d": {"x": 1}}, {"c": "v"}]
    )


def test_pandas_with_mixed_objects() -> None:
    class Frame(pd.DataFrame):
        pass

    frame = Frame({"a": ["x", 1, None, float("nan")], "b": [1.5, float("nan"), pd.NaT, {"y": 1}]})
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [{"a": "x", "b": 1.5}, {"a": 1}, {}, {"b": {"y": 1}}]
    )
    with pytest.raises(EventError) as caught:
        EventBatch.of(pd.DataFrame({"a": [1, 2**70]}))
    assert (caught.value.event, caught.value.attribute) == (1, "a")


def test_polars() -> None:
    frame = pl.DataFrame(
        {
            "f": [1.5, float("nan")],
            "s": ["x", None],
            "c": pl.Series(["u", "v"], dtype=pl.Categorical),
            "t": [dt.datetime(2024, 5, 1, 8), None],
            "l": [["p"], []],
            "d": [{"x": 1}, {"x": None}],
            "m": pl.Series([decimal.Decimal("1.5"), decimal.Decimal(2)], dtype=pl.Decimal(10, 1)),
        }
    )
    moment = Timestamp.parse("2024-05-01 08:00Z")
    assert exact(sound(EventBatch.of(frame)).rows()) == exact(
        [
            {"f": 1.5, "s": "x", "c": "u", "t": moment, "l": ["p"], "d": {"x": 1}, "m": 1.5},
            {"f": float("nan"), "c": "v", "l": [], "d": OPAQUE, "m": 2},
        ]
    )


def test_anything_that_exports_a_stream() -> None:
    reader = pa.table({"a": [1, 2]}).to_reader()
    assert EventBatch.of(reader).rows() == [{"a": 1}, {"a": 2}]


def test_neither_pandas_nor_polars_is_needed() -> None:
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name in ('pandas', 'polars'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent)\n"
        "import pyarrow as pa; from tamis.events import EventBatch\n"
        "assert EventBatch.of([{'a': 1}]).rows() == EventBatch.of(pa.table({'a': [1]})).rows()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=FilePath(__file__).parents[1])


# -- schema and semantics -------------------------------------------------------------------------


def as_table(events: list[Any]) -> pa.Table:
    everywhere = dict.fromkeys(name for event in events for name in event)
    return pa.table({name: pa.array([e.get(name) for e in events]) for name in everywhere})


FORMS: dict[str, Callable[[list[Any]], object]] = {"dicts": list, "arrow": as_table}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
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
def test_schema_is_coerce_on_every_value(
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
        for path in batch.columns:  # what the columns say is what the rows say
            there = any(column.data[i].is_valid for column in batch.columns[path])
            assert there == (look_up(path, batch.row(i)) is not None)
    if not is_open:
        assert set(batch.columns) <= set(schema.types)


@settings(max_examples=100, deadline=None)
@given(arrow_tables(), st.dictionaries(schema_paths, kinds, max_size=3), st.booleans())
def test_schema_on_arrow_is_schema_on_dicts(
    table: pa.Table, declared: dict[str, Type], is_open: bool
) -> None:
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


def test_coercions() -> None:
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
def test_mismatch(
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
def test_a_closed_schema_does_not_look_at_the_rest(
    form: Callable[[list[Any]], object],
) -> None:
    event = {"a": 1, "u": {"x": 2, "y": b""}, "v": 3}
    batch = sound(EventBatch.of(form([event]), Schema({"a": "INT", "u.x": "INT", "v.w": "INT"})))
    assert set(batch.columns) == {("a",), ("u", "x")}
    assert batch.rows() == [{"a": 1, "u": {"x": 2}}]


def test_a_closed_schema_forgives_the_rest() -> None:
    schema = Schema({"a": "INT", "u.x": "INT"})
    events: list[Any] = [{"a": 1, "b": 2**70, 3: 4, "u": {"z": "\ud800"}}, {"u": 2**70}]
    assert of(*events, schema=schema).rows() == [{"a": 1}, {}]
    table = pa.table({"a": [1], "b": pa.array([2**63], pa.uint64())})
    assert EventBatch.of(table, schema).rows() == [{"a": 1}]


@forms
def test_an_open_schema_keeps_the_rest(form: Callable[[list[Any]], object]) -> None:
    event = {"a": 1, "u": {"x": 2}, "v": "w"}
    batch = sound(EventBatch.of(form([event]), Schema({"a": "DBL"}, open=True)))
    assert exact(batch.rows()) == exact([{**event, "a": 1.0}])
    assert types_at(batch, "u") == {Type.OPAQUE}


DEFAULTS = Schema(
    {
        "a": ("INT", 7), "b": ("LIST<STR>", []), "c": "STR",
        "t": ("TIMESTAMP", "2024-05-01"), "u.x": ("STR", "none"),
    }
)  # fmt: skip


@forms
def test_defaults(form: Callable[[list[Any]], object]) -> None:
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


def test_a_default_brings_its_object_along() -> None:
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
def test_total(
    form: Callable[[list[Any]], object], events: list[Any], event: int, attribute: str
) -> None:
    schema = Schema({"a": "INT", "u.x": "INT"})
    with pytest.raises(EventError, match="semantics 'total' needs every attribute") as caught:
        EventBatch.of(form(events), schema, "total")
    assert (caught.value.event, caught.value.attribute) == (event, attribute)
    good = {"a": 1, "u": {"x": 1}}
    assert EventBatch.of(form([good]), schema, "total").rows() == [good]


def test_total_of_nothing() -> None:
    assert len(EventBatch.of([], Schema({"a": "INT"}), "total")) == 0


@pytest.mark.parametrize("semantics", ["default", "total"])
def test_semantics_that_need_a_schema(semantics: str) -> None:
    for events in ([], pa.table({})):
        with pytest.raises(SchemaError, match="needs a schema"):
            EventBatch.of(events, semantics=semantics)


def test_unknown_semantics() -> None:
    with pytest.raises(SchemaError, match="there are sql, strict, default, total"):
        EventBatch.of([], semantics="lenient")


# -- batches of events ----------------------------------------------------------------------------

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
def test_a_batch_is_brought_to_the_schema(schema: Schema | None, semantics: str) -> None:
    for event in EVENTS:
        events = [event, {"a": 7, "b": {"c": "z"}}]
        plain = EventBatch.of(events)
        again = pickle.loads(pickle.dumps(plain)).slice(0)
        expected = outcome(lambda e=events: EventBatch.of(e, schema, semantics))
        assert outcome(lambda b=plain: EventBatch.of(b, schema, semantics)) == expected
        assert outcome(lambda b=again: EventBatch.of(b, schema, semantics)) == expected


def test_a_batch_of_one_schema_under_another() -> None:
    batch = EventBatch.of([{"a": 1, "b": 2}, {}], {"a": ("INT", 5)}, "default")
    for same in (batch, batch.slice(1), pickle.loads(pickle.dumps(batch))):
        assert same.schema == Schema({"a": ("INT", 5)}) and same.semantics == "default"
        assert EventBatch.of(same, {"a": ("INT", 5)}, "default") is same
        assert EventBatch.of(same, same.schema, "sql") is same
    # What its schema left out, or filled in, stays so.
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


def test_matchers_take_batches_as_they_take_events() -> None:
    filling = Matcher({"a": ("INT", 5)}, "default")
    filling.add("d", "a = 5")
    assert filling.match_batch(EventBatch.of([{}])).per_event() == [["d"]]
    total = Matcher({"a": "INT"}, "total")
    total.add("d", "a = 5")
    assert total.match_batch(EventBatch.of([{"a": 5.0}])).per_event() == [["d"]]
    with pytest.raises(EventError):
        total.match_batch(EventBatch.of([{}]))


# -- more of Arrow --------------------------------------------------------------------------------


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
        with pytest.raises(EventError, match="an Arrow array of events is one of structs"):
            EventBatch.of(other)


def test_scalars_of_arrow() -> None:
    events = [{"a": pa.scalar(1), "b": {"c": pa.scalar("x")}}, {"a": pa.scalar(None, pa.int64())}]
    assert EventBatch.of(events).rows() == [{"a": 1, "b": {"c": "x"}}, {}]
    nothing = pa.scalar(None, pa.struct([("b", pa.int64())]))
    assert EventBatch.of([{"a": nothing}, {"a": pa.scalar({"b": 1})}]).rows() == [
        {}, {"a": {"b": 1}},
    ]  # fmt: skip


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
def test_text_that_is_not_utf8(array: pa.Array) -> None:
    with pytest.raises(EventError, match=r"not valid UTF-8") as caught:
        EventBatch.of(pa.table({"a": array}))
    assert caught.value.attribute in ("a", "a.inside")
    assert caught.value.event == 1
    assert EventBatch.of(pa.table({"a": array}).slice(2)).rows()
    assert EventBatch.of(pa.table({"a": array}), Schema({"b": "INT"})).rows() == [{}] * 3


def test_arrays_that_lie() -> None:
    offsets = pa.array([0, 1_000_000, 3], pa.int32()).buffers()[1]
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"abc")])
    with pytest.raises(EventError):
        EventBatch.of(pa.table({"a": text}))
    far = pa.DictionaryArray.from_arrays(pa.array([0, 9]), pa.array(["x"]), safe=False)
    with pytest.raises(EventError):
        EventBatch.of(pa.table({"a": far}))
    with pytest.raises(EventError):
        EventBatch.of(pa.table([[1]], schema=pa.schema([pa.field(b"\xff", pa.int64())])))


def test_frames_of_anything() -> None:
    cells = [
        np.datetime64("2024-05-01", "s"),
        np.int8(5),
        np.datetime64(2**40, "s"),
        np.float32("nan"),
    ]
    cells += [decimal.Decimal("NaN"), float("nan"), pd.NaT, pd.NA, "x"]
    rows = EventBatch.of(pd.DataFrame({"a": pd.Series(cells, dtype=object), "n": 1})).rows()
    assert [row.get("a") for row in rows] == [
        Timestamp.parse("2024-05-01"), 5, Timestamp(2**40 * 1_000_000), *[None] * 5, "x",
    ]  # fmt: skip
    assert {row["n"] for row in rows} == {1}
    with pytest.raises(EventError):
        EventBatch.of(
            pd.DataFrame({"a": pd.Series([decimal.Decimal("sNaN"), np.int8(1)], dtype=object)})
        )
    assert len(EventBatch.of(pd.DataFrame(index=range(3)))) == 3
