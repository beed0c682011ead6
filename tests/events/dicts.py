"""Strategies for events as dicts of any values, and the paths of an event."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tamis.values import INT_MAX, INT_MIN, OPAQUE, Timestamp

MANY = settings(max_examples=120, deadline=None)
names = st.sampled_from(["a", "b", "c", "a.b", "", "é"])
integers = st.integers(INT_MIN, INT_MAX) | st.integers(-2, 2)
instants = st.datetimes(timezones=st.none() | st.just(dt.UTC))
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


def paths_in(event: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(event, Mapping):
        for name, inner in event.items():
            yield (*above, name)
            yield from paths_in(inner, (*above, name))
