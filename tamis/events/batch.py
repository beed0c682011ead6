"""A batch of events as columns, the input of every engine."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError
from tamis.events.arrow import columns_of_arrow
from tamis.events.column import Column, Columns, values_of
from tamis.events.conform import checked_schema, conform, wanted_attributes
from tamis.events.dicts import columns_of_dicts
from tamis.paths import Path, path_text
from tamis.schema import Schema, SchemaLike
from tamis.values import Type

__all__ = ["Column", "EventBatch"]


class EventBatch:
    """A batch of events as columns, one for each attribute and type; immutable.

    >>> batch = EventBatch.of([{"price": 3, "user": {"city": "Lyon"}}, {"price": 2.5}])
    >>> [column.type for column in batch.columns[("price",)]]
    [INT, DBL]
    >>> batch.rows()
    [{'price': 3, 'user': {'city': 'Lyon'}}, {'price': 2.5}]

    Attributes:
        columns: By path. An attribute that holds several types over the events has several
            columns, and no event has a value in two of them. An attribute that no event has is
            absent. An object has an OPAQUE column at its own path, beside the columns of its
            fields.
        schema: The schema that the events conform to, if any.
        semantics: The semantics under which they do.
    """

    columns: Mapping[Path, tuple[Column, ...]]

    def __init__(
        self,
        columns: Mapping[Path, tuple[Column, ...]],
        length: int,
        schema: Schema | None = None,
        semantics: str = "sql",
    ) -> None:
        """Take columns as they are; use `of` to convert events."""
        self.columns = columns
        self.schema = schema
        self.semantics = semantics
        self._length = length
        self._rows: list[dict[str, object]] | None = None

    @classmethod
    def of(
        cls, events: object, schema: SchemaLike | None = None, semantics: str = "sql"
    ) -> EventBatch:
        """Return a batch from events in any form: mappings, Arrow, a pandas or Polars DataFrame.

        An Arrow array of structs is a table. NaN in pandas is NULL, in all other forms a number.
        A batch of the same schema and semantics is returned as it is. Any other is converted from
        what it holds: attributes that its own schema dropped stay absent, and defaults that it
        filled in stay.

        Raises:
            EventError: The form is not supported, or an event cannot be represented or violates
                the schema.
            SchemaError: The semantics are unknown, or need a schema.
        """
        if isinstance(events, EventBatch):
            return events._conform_to(checked_schema(schema, semantics), semantics)
        if _is_pandas(events):
            events = _from_pandas(events)
        elif isinstance(events, pa.Array | pa.ChunkedArray):
            events = _from_structs(events)
        elif hasattr(events, "__arrow_c_stream__") and not isinstance(events, pa.Table):
            try:
                events = pa.table(events)
            except Exception as error:  # an exporter may raise anything
                raise EventError(f"{type(events).__name__} is not a table: {error}") from error
        if isinstance(events, pa.Table | pa.RecordBatch):
            return cls.from_arrow(events, schema, semantics)
        if isinstance(events, Mapping):
            raise EventError("this is one event; pass a list of events: [event]")
        if isinstance(events, str | bytes) or not isinstance(events, Iterable):
            hint = "; call .collect() on it" if hasattr(events, "collect") else ""
            raise EventError(
                f"events must be a list of mappings, an Arrow table or a DataFrame, "
                f"not {type(events).__name__}{hint}"
            )
        return cls.from_dicts(events, schema, semantics)

    @classmethod
    def from_dicts(
        cls,
        events: Iterable[Mapping[str, object]],
        schema: SchemaLike | None = None,
        semantics: str = "sql",
    ) -> EventBatch:
        """Return a batch from mappings of names to values, nested or not.

        Raises:
            EventError: An event cannot be represented, or violates the schema.
            SchemaError: The semantics are unknown, or need a schema.
        """
        schema = checked_schema(schema, semantics)
        events = events if isinstance(events, list) else list(events)
        if not all(issubclass(kind, Mapping) for kind in set(map(type, events))):
            for row, event in enumerate(events):
                if not issubclass(type(event), Mapping):
                    raise EventError(f"an event is a mapping, not {type(event).__name__}", row)
        columns = columns_of_dicts(events, wanted_attributes(schema))
        columns = conform(columns, len(events), schema, semantics)
        return cls(columns, len(events), schema, semantics)

    @classmethod
    def from_arrow(
        cls,
        events: pa.Table | pa.RecordBatch,
        schema: SchemaLike | None = None,
        semantics: str = "sql",
    ) -> EventBatch:
        """Return a batch from the rows of a table; columns of a canonical type are not copied.

        Raises:
            EventError: An event cannot be represented, or violates the schema.
            SchemaError: The semantics are unknown, or need a schema.
        """
        schema = checked_schema(schema, semantics)
        length = events.num_rows
        try:
            names = events.schema.names
        except UnicodeDecodeError:
            raise EventError("the name of a column is not valid UTF-8") from None
        columns = columns_of_arrow(names, events.columns, wanted_attributes(schema))
        return cls(conform(columns, length, schema, semantics), length, schema, semantics)

    def _conform_to(self, schema: Schema | None, semantics: str) -> EventBatch:
        """Return the same events under a schema and semantics, which may be others."""
        # `sql` and `strict` change no values: events that conform already conform under them.
        if self.schema == schema and semantics in (self.semantics, "sql", "strict"):
            return self
        if self.schema is None or self.schema.open:
            # No attribute was dropped, so converting the events again would give the same columns.
            kept = self.columns
            if schema is not None and not schema.open:
                kept = {path: kept[path] for path in schema.types if path in kept}
            columns = conform(dict(kept), self._length, schema, semantics)
            return EventBatch(columns, self._length, schema, semantics)
        return EventBatch.from_dicts(self.rows(), schema, semantics)

    def __len__(self) -> int:
        """Return the number of events."""
        return self._length

    def __repr__(self) -> str:
        """Return a short text: a batch can be large."""
        return f"EventBatch({self._length} events, {len(self.columns)} attributes)"

    def rows(self) -> list[dict[str, object]]:
        """Return the events as nested dicts of values, without NULLs; cached, do not change them.

        An object whose fields are not in the batch is OPAQUE.
        """
        if self._rows is None:
            rows: list[dict[str, object]] = [{} for _ in range(self._length)]
            for path in sorted(self.columns, key=len):  # an object before its fields
                for column in self.columns[path]:
                    for row, value in zip(rows, values_of(column), strict=True):
                        if value is not None:
                            _put(row, path, value)
            self._rows = rows
        return self._rows

    def row(self, i: int) -> dict[str, object]:
        """Return one event, as in `rows`; a negative position counts from the end.

        Raises:
            EventError: The position is out of range.
        """
        try:
            i = range(self._length)[i]
        except IndexError:
            raise EventError(f"there is no event {i} among {self._length}", i) from None
        return self._rows[i] if self._rows is not None else self.slice(i, 1).rows()[0]

    def slice(self, start: int, length: int | None = None) -> EventBatch:
        """Return some of the events, without copying; to the end if no length is given.

        Raises:
            EventError: The start or the length is negative.
        """
        if start < 0 or (length is not None and length < 0):
            raise EventError("a slice needs a start and a length of at least 0")
        left = max(self._length - start, 0)
        length = left if length is None else min(length, left)
        columns = {
            path: tuple(Column(kind, data.slice(start, length)) for kind, data in columns)
            for path, columns in self.columns.items()
        }
        return EventBatch(columns, length, self.schema, self.semantics)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as an Arrow stream: a sliced array alone would include the whole array."""
        layout = [(path, column.type) for path in self.columns for column in self.columns[path]]
        arrays = [column.data for path in self.columns for column in self.columns[path]]
        batch = pa.RecordBatch.from_arrays(arrays, [str(i) for i in range(len(arrays))])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return _from_pickle, (layout, sink.getvalue(), self._length, self.schema, self.semantics)


def _from_pickle(
    layout: list[tuple[Path, Type]],
    buffer: pa.Buffer,
    length: int,
    schema: Schema | None,
    semantics: str,
) -> EventBatch:
    arrays = pa.ipc.open_stream(buffer).read_next_batch().columns
    columns: Columns = {}
    for (path, kind), array in zip(layout, arrays, strict=True):
        columns[path] = (*columns.get(path, ()), Column(kind, array))
    return EventBatch(columns, length, schema, semantics)


def _put(row: dict[str, object], path: Path, value: object) -> None:
    for name in path[:-1]:
        inside = row.get(name)
        if not isinstance(inside, dict):  # OPAQUE, from the object's own column
            inside = row[name] = {}
        row = inside
    row[path[-1]] = value


# -- other forms ----------------------------------------------------------------------------------


def _is_pandas(events: object) -> bool:
    # By name: pandas is not a dependency, and importing it is slow.
    return any(
        base.__name__ == "DataFrame" and base.__module__.partition(".")[0] == "pandas"
        for base in type(events).__mro__
    )


def _from_pandas(frame: object) -> pa.Table | list[dict[str, object]]:
    for name in frame.columns:  # type: ignore[attr-defined]
        if not isinstance(name, str):
            raise EventError(f"attribute names are text; rename the column {name!r}")
    if not frame.columns.is_unique:  # type: ignore[attr-defined]
        twice = frame.columns[frame.columns.duplicated()][0]  # type: ignore[attr-defined]
        raise EventError("two columns have this name", attribute=path_text((twice,)))
    names: list[str] = list(frame.columns)  # type: ignore[attr-defined]
    if not names:  # a table without columns has no rows
        return [{}] * len(frame)  # type: ignore[arg-type]
    columns = [frame[name] for name in names]  # type: ignore[index]
    if not any(column.dtype == object and _holds_numpy(column) for column in columns):
        try:
            return pa.Table.from_pandas(frame, preserve_index=False)
        except Exception:  # a cell may be any object, and raise anything
            pass
    # A column of Python objects of several types is converted cell by cell. Not with to_dict, which
    # converts other instants to pandas' own, and fails if they do not fit.
    return [
        {name: None if _is_nan(cell) else cell for name, cell in zip(names, row, strict=True)}
        for row in zip(*(column.astype(object) for column in columns), strict=True)
    ]


def _holds_numpy(cells: Iterable[object]) -> bool:
    # Arrow 26 crashes on a NumPy instant beside another NumPy scalar.
    return any(issubclass(kind, np.generic) for kind in set(map(type, cells)))


def _is_nan(cell: object) -> bool:
    if isinstance(cell, decimal.Decimal):
        return cell.is_qnan()
    return isinstance(cell, float | np.floating) and bool(cell != cell)


def _from_structs(events: pa.Array | pa.ChunkedArray) -> pa.Table:
    kind = events.type
    if not pa.types.is_struct(kind):
        raise EventError(f"an Arrow array of events must hold structs, not {kind}")
    if events.null_count:
        row = pc.index(events.is_valid(), False).as_py()
        raise EventError("an event is a mapping, not NULL", row)
    chunks = events.chunks if isinstance(events, pa.ChunkedArray) else [events]
    batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks]
    return pa.Table.from_batches(batches, pa.schema(list(kind)))
