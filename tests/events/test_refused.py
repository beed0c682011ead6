"""Invalid events are refused with their position and attribute."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tamis.errors import EventError
from tamis.events.batch import EventBatch
from tamis.events.column import MAX_DEPTH
from tamis.values import Timestamp
from tests.events.checks import of


class Hostile:
    """Raises another error than AttributeError on every access."""

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
def test_bad_events_are_refused_with_their_attribute(
    bad: Any, attribute: str, reason: str, alone: bool
) -> None:
    good: dict[str, object] = {"a": 1, "x": {"odd name": 2}}
    events = [bad] if alone else [good, {"a": "text"}, good, bad, good]
    with pytest.raises(EventError) as caught:
        EventBatch.of(events)
    assert caught.value.event == (0 if alone else 3)
    assert caught.value.attribute == attribute
    assert reason in caught.value.reason


def test_objects_nested_too_deep_are_refused() -> None:
    event: dict[str, object] = {}
    for _ in range(MAX_DEPTH - 1):
        event = {"a": event}
    assert len(of(event).columns) == MAX_DEPTH - 1
    with pytest.raises(EventError, match="deeper"):
        of({"a": event})


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ({"a": 1}, r"one event; pass a list of events: \[event\]"),
        ("[]", "not str"),
        (b"[]", "not bytes"),
        (None, "not NoneType"),
        (7, "not int"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame"),
        (pa.chunked_array([[1]]), "an Arrow array of events must hold structs, not int64"),
        (pd.DataFrame({0: [1]}), "rename the column 0"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a': two columns have this name"),
        (pa.table([[1], [2]], names=["a", "a"]), "'a': two columns have this name"),
    ],
)
def test_other_forms_of_events_are_refused(events: object, reason: str) -> None:
    with pytest.raises(EventError, match=reason):
        EventBatch.of(events)
