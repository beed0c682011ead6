"""Strategies for Arrow tables of many types, nested, chunked and sliced."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tamis.values import INT_MAX
from tests.events.dicts import names

WIDE = decimal.Context(prec=80)
TypeAndValues = tuple[pa.DataType, st.SearchStrategy[Any]]
some_instants = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))


def decimals(precision: int, scale: int) -> st.SearchStrategy[decimal.Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda n: decimal.Decimal(n).scaleb(-scale, WIDE))


def bits(width: int, signed: bool = True) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else st.integers(0, 255)


LEAVES: list[TypeAndValues] = [
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


def list_like(inner: TypeAndValues) -> st.SearchStrategy[TypeAndValues]:
    element, values = inner
    shapes = [pa.list_(element), pa.large_list(element)]
    if not pa.types.is_dictionary(element):  # Arrow cannot create views of those from Python
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
    """Return whether Arrow accepts the array that it created.

    Of a missing fixed-size list it leaves the items as it finds them in memory, which are then, now
    and then, no indices into a dictionary.
    """
    try:
        table.validate(full=True)
        table.combine_chunks().validate(full=True)
    except pa.ArrowInvalid as error:
        return "Dictionary indices" not in str(error)
    return True
