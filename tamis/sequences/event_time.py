"""The times of events: from an attribute, or from a clock as they arrive."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeAlias

import numpy as np

from tamis.errors import InputError, SchemaError
from tamis.events.batch import Column, EventBatch
from tamis.events.column import values_of
from tamis.matches.code_names import Ints
from tamis.paths import Path, parse_path, path_text
from tamis.schema import Schema
from tamis.sequences.key_values import micros_of
from tamis.values import Type, Value

# The name of an attribute, or a clock that returns seconds; None is `time.monotonic`.
TimeLike: TypeAlias = "str | Callable[[], float] | None"

_TIMES = (Type.TIMESTAMP, Type.INT, Type.DBL)


class EventClock:
    """The source of the times of events.

    Attributes:
        attribute: The path of the attribute that holds the time; None to use the time of arrival.
    """

    def __init__(self, time: TimeLike, schema: Schema | None) -> None:
        """Take the name of an attribute, a clock, or None.

        Raises:
            InputError: It is none of these.
            SchemaError: The attribute is not in the schema, or its type is not one of a time.
        """
        self.attribute: Path | None = None
        self._clock: Callable[[], float] = monotonic
        if isinstance(time, str):
            self.attribute = _path(time, schema)
        elif callable(time):
            self._clock = time
        elif time is not None:
            raise InputError(f"time must be the name of an attribute or a clock, not {time!r}")

    @property
    def name(self) -> str | None:
        """The name of the attribute as text; None for a clock."""
        return None if self.attribute is None else path_text(self.attribute)

    def event_times(self, batch: EventBatch, events: Ints) -> list[int | None]:
        """Return the times of some events, in microseconds; None for an event without a time."""
        if self.attribute is None:
            return [round(self._clock() * 1_000_000)] * len(events)
        return [micros_of(value) for value in values_at(batch, self.attribute, events)]


def values_at(batch: EventBatch, path: Path, events: Ints) -> list[Value]:
    """Return the values of an attribute in some events."""
    found: list[Value] = [None] * len(events)
    for kind, data in batch.columns.get(path, ()):
        for i, value in enumerate(values_of(Column(kind, data.take(np.asarray(events))))):
            if value is not None:
                found[i] = value
    return found


def _path(name: str, schema: Schema | None) -> Path:
    try:
        path = parse_path(name)
    except ValueError as error:
        raise InputError(str(error)) from None
    if schema is not None and not (schema.open and path not in schema.types):
        if path not in schema.types:
            raise SchemaError("is the time attribute, but is not in the schema", name)
        if schema.types[path] not in _TIMES:
            kind = schema.types[path].value
            raise SchemaError(f"is the time attribute: TIMESTAMP, INT or DBL, not {kind}", name)
    return path
