"""Convert columns to a schema: types, defaults, and the requirements of each semantics."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tamis.errors import EventError, SchemaError
from tamis.events.column import AttributeTree, Column, Columns, array_of, values_of
from tamis.paths import Path, path_text
from tamis.schema import SEMANTICS, Schema, SchemaLike, coerce
from tamis.values import Type


def checked_schema(schema: SchemaLike | None, semantics: str) -> Schema | None:
    """Return the schema, after checking the semantics.

    Raises:
        SchemaError: The semantics are unknown, or need a schema, or the schema is invalid.
    """
    if semantics not in SEMANTICS:
        raise SchemaError(f"unknown semantics {semantics!r}; choose one of {', '.join(SEMANTICS)}")
    if schema is None and semantics in ("default", "total"):
        raise SchemaError(f"semantics {semantics!r} needs a schema")
    return None if schema is None else Schema.of(schema)


def wanted_attributes(schema: Schema | None) -> AttributeTree:
    """Return the attributes to read: under a closed schema, those that it declares."""
    if schema is None or schema.open:
        return None
    tree: dict[str, AttributeTree] = {}
    for path in schema.types:
        inside = tree
        for name in path:
            inside = inside.setdefault(name, {})  # type: ignore[assignment]
    return tree


def conform(columns: Columns, length: int, schema: Schema | None, semantics: str) -> Columns:
    """Convert columns to their declared types, and fill in defaults or require attributes.

    Raises:
        EventError: A value cannot be converted, or a required attribute is missing.
    """
    if schema is None or length == 0:
        return columns
    for path, kind in schema.types.items():
        if path in columns:
            columns[path] = (Column(kind, _to_declared_type(columns[path], kind, path)),)
        if semantics == "total":
            _require(columns.get(path), path)
    if semantics == "default":
        for path in schema.defaults:
            _fill(columns, length, schema, path)
    return columns


def _to_declared_type(columns: tuple[Column, ...], kind: Type, path: Path) -> pa.Array:
    arrays: list[pa.Array] = []
    faults: list[tuple[int, str]] = []
    for column in columns:
        try:
            arrays.append(_coerce_column(column, kind))
        except EventError as error:
            faults.append((error.event or 0, error.reason))
    if faults:
        event, reason = min(faults)
        raise EventError(reason, event, path_text(path))
    return arrays[0] if len(arrays) == 1 else pc.coalesce(*arrays)


def _coerce_column(column: Column, kind: Type) -> pa.Array:
    """Convert a column as `schema.coerce` converts each of its values."""
    if column.type is kind:
        return column.data
    if (column.type, kind) == (Type.INT, Type.DBL):
        return column.data.cast(pa.float64(), safe=False)  # rounds to nearest, as float() does
    if (column.type, kind) == (Type.DBL, Type.INT):
        try:
            return column.data.cast(pa.int64())
        except pa.ArrowInvalid:
            pass  # a value is not integral, or too large: find it below
    values = values_of(column)
    for row, value in enumerate(values):
        if column.type is Type.OPAQUE and value is not None:
            reason = f"an object, or something else without a type, is not of type {kind.value}"
            raise EventError(reason, row)
        try:
            values[row] = coerce(value, kind)
        except ValueError as error:
            raise EventError(str(error), row) from None
    return array_of(kind, values)


def _require(columns: tuple[Column, ...] | None, path: Path) -> None:
    row = 0 if columns is None else pc.index(columns[0].data.is_valid(), False).as_py()
    if row >= 0:
        reason = "is missing; semantics 'total' needs every attribute of the schema"
        raise EventError(reason, row, path_text(path))


def _fill(columns: Columns, length: int, schema: Schema, path: Path) -> None:
    """Fill in the default where the attribute is missing."""
    kind = schema.types[path]
    default = array_of(kind, [schema.defaults[path]])[0]
    if path not in columns:
        columns[path] = (Column(kind, pa.repeat(default, length)),)
    else:
        columns[path] = (Column(kind, pc.fill_null(columns[path][0].data, default)),)
    if schema.open:
        # Now every event also has the objects around the attribute, which IS NULL can see.
        for depth in range(1, len(path)):
            _fill_object(columns, length, path[:depth], path)


def _fill_object(columns: Columns, length: int, path: Path, inner: Path) -> None:
    for kind, data in columns.get(path, ()):
        if kind is not Type.OPAQUE and data.null_count < len(data):
            reason = f"is not an object, but the schema declares {path_text(inner)!r} inside it"
            raise EventError(reason, pc.index(data.is_valid(), True).as_py(), path_text(path))
    columns[path] = (Column(Type.OPAQUE, pa.repeat(pa.scalar(True), length)),)
