"""Helpers for tests of events: exact values, valid batches, the same events in several forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tamis.events.batch import EventBatch
from tamis.events.column import ARROW
from tamis.values import Type


def exact(value: object) -> object:
    """Return a form in which only identical values are equal: True and 1 are not, NaN is."""
    if isinstance(value, dict):
        return {name: exact(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [exact(element) for element in value]
    return (type(value).__name__, repr(value))


def sound(batch: EventBatch) -> EventBatch:
    """Check the invariants of every batch."""
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


def addresses(array: pa.Array) -> list[int | None]:
    return [buffer.address if buffer else None for buffer in array.buffers()]


def as_table(events: list[Any]) -> pa.Table:
    everywhere = dict.fromkeys(name for event in events for name in event)
    return pa.table({name: pa.array([e.get(name) for e in events]) for name in everywhere})


FORMS: dict[str, Callable[[list[Any]], object]] = {"dicts": list, "arrow": as_table}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
