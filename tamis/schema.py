"""What the attributes of events are: their types, and defaults for what is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TypeAlias

import pyarrow as pa

from tamis.errors import SchemaError
from tamis.paths import Path, parse_path, path_text
from tamis.values import Timestamp, Type, Value, to_value, type_of

SEMANTICS = ("sql", "strict", "default", "total")

# What a schema may be written as: {"price": "DBL", "city": ("STR", "")}.
Declaration: TypeAlias = "Type | str | tuple[Type | str, object] | Mapping[str, object]"
SchemaLike: TypeAlias = "Schema | Mapping[str, Declaration] | pa.Schema"

_SPELLINGS = {
    "BOOLEAN": Type.BOOL, "INTEGER": Type.INT, "BIGINT": Type.INT, "LONG": Type.INT,
    "DOUBLE": Type.DBL, "FLOAT": Type.DBL, "STRING": Type.STR, "DATE": Type.TIMESTAMP,
    "ARRAY<INT>": Type.INT_LIST, "ARRAY<STR>": Type.STR_LIST,
    "ARRAY<BIGINT>": Type.INT_LIST, "ARRAY<STRING>": Type.STR_LIST,
    "LIST<STRING>": Type.STR_LIST, "LIST<BIGINT>": Type.INT_LIST,
}  # fmt: skip


class Schema:
    """The attributes of events: a type for each, and a default for the `default` semantics.

    >>> schema = Schema({"price": "DBL", "user.city": ("STR", "nowhere")})
    >>> schema.types[("user", "city")], schema.defaults
    (STR, {('user', 'city'): 'nowhere'})

    An open schema says something about the attributes it names and nothing about others; a
    closed one (the default) says that there are no others.
    """

    def __init__(self, attributes: Mapping[str, Declaration], *, open: bool = False) -> None:
        """Read the declarations; keys are spelt as in a selector.

        Raises:
            SchemaError: A name, a type or a default that makes no sense.
        """
        self.types: dict[Path, Type] = {}
        self.defaults: dict[Path, Value] = {}
        self.open = open
        for name, declaration in attributes.items():
            self._declare(name, declaration)
        for path in self.types:
            for length in range(1, len(path)):
                if path[:length] in self.types:
                    inner, outer = path_text(path), path_text(path[:length])
                    raise SchemaError(f"is a value, so {inner!r} cannot lie inside it", outer)

    def _declare(self, name: str, declaration: Declaration) -> None:
        try:
            path = parse_path(name)
        except (ValueError, TypeError) as error:
            raise SchemaError(str(error)) from None
        declared: object
        default: object = None
        if isinstance(declaration, tuple) and len(declaration) == 2:
            declared, default = declaration
        elif isinstance(declaration, Mapping):
            declared, default = declaration.get("type", ""), declaration.get("default")
        else:
            declared = declaration
        kind = declared if isinstance(declared, Type) else _type_named(str(declared), name)
        self.types[path] = kind
        if default is not None:
            try:
                self.defaults[path] = coerce(to_value(default), kind)
            except ValueError as error:
                raise SchemaError(f"bad default: {error}", name) from None

    @classmethod
    def of(cls, schema: SchemaLike) -> Schema:
        """Take a schema in any of the ways it can be written.

        Raises:
            SchemaError: It is none of them.
        """
        if isinstance(schema, Schema):
            return schema
        if isinstance(schema, Mapping):
            return cls(schema)
        if isinstance(schema, pa.Schema):
            return cls({path_text(path): kind for path, kind in _arrow_leaves(schema)})
        raise SchemaError(f"a schema is a mapping of names to types, not {type(schema).__name__}")

    @classmethod
    def read(cls, file: str | FilePath) -> Schema:
        """Read a JSON file: {"price": "DBL", "city": {"type": "STR", "default": ""}}.

        Raises:
            SchemaError: It cannot be read, or is not a schema.
        """
        try:
            attributes = json.loads(FilePath(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SchemaError(f"cannot read {file}: {error}") from None
        return cls.of(attributes)

    def __eq__(self, other: object) -> bool:
        """Equal when they say the same."""
        return isinstance(other, Schema) and (self.types, self.defaults, self.open) == (
            other.types,
            other.defaults,
            other.open,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """As it could be written."""
        declared = {
            path_text(path): (kind.value, self.defaults[path])
            if path in self.defaults
            else kind.value
            for path, kind in self.types.items()
        }
        return f"Schema({declared!r}{', open=True' if self.open else ''})"


def _type_named(name: str, attribute: str) -> Type:
    spelt = name.upper().replace(" ", "")
    try:
        found = _SPELLINGS.get(spelt) or Type(spelt)
    except ValueError:
        found = Type.OPAQUE
    if found is Type.OPAQUE:
        known = ", ".join(kind.value for kind in Type if kind is not Type.OPAQUE)
        raise SchemaError(f"unknown type {name!r}; there are {known}", attribute)
    return found


_LISTS = (
    pa.ListType,
    pa.LargeListType,
    pa.FixedSizeListType,
    pa.ListViewType,
    pa.LargeListViewType,
)


def type_of_arrow(arrow: pa.DataType) -> Type:
    """The type of a column's values; OPAQUE for what Tamis does not look into."""
    t = pa.types
    if t.is_dictionary(arrow) or t.is_run_end_encoded(arrow):
        return type_of_arrow(arrow.value_type)
    if isinstance(arrow, pa.BaseExtensionType):
        return type_of_arrow(arrow.storage_type)
    if t.is_boolean(arrow):
        return Type.BOOL
    if t.is_integer(arrow):
        return Type.INT
    if t.is_floating(arrow) or t.is_decimal(arrow):
        return Type.DBL
    if t.is_string(arrow) or t.is_large_string(arrow) or t.is_string_view(arrow):
        return Type.STR
    if t.is_timestamp(arrow) or t.is_date(arrow):
        return Type.TIMESTAMP
    if isinstance(arrow, _LISTS):
        element = type_of_arrow(arrow.value_type)
        return {Type.INT: Type.INT_LIST, Type.STR: Type.STR_LIST}.get(element, Type.OPAQUE)
    return Type.OPAQUE


def _arrow_leaves(fields: pa.Schema | pa.StructType, above: Path = ()) -> list[tuple[Path, Type]]:
    leaves: list[tuple[Path, Type]] = []
    for field in fields:
        path = (*above, field.name)
        if pa.types.is_struct(field.type):
            leaves.extend(_arrow_leaves(field.type, path))
        elif (kind := type_of_arrow(field.type)) is not Type.OPAQUE:
            leaves.append((path, kind))
    return leaves


def coerce(value: Value, kind: Type) -> Value:
    """Bring a value to the declared type where nothing is lost or guessed.

    Raises:
        ValueError: It does not fit.
    """
    found = type_of(value)
    if found is None or found is kind:
        return value
    if kind is Type.DBL and found is Type.INT:
        return float(value)  # type: ignore[arg-type]
    if kind is Type.INT and isinstance(value, float) and value.is_integer():
        return to_value(int(value))
    if kind is Type.TIMESTAMP and isinstance(value, str):
        try:
            return Timestamp.parse(value)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"{value[:40]!r} is not a timestamp: {error}") from None
    if (
        kind is Type.STR_LIST
        and isinstance(value, list)
        and not any(element is not None for element in value)
    ):
        return value  # an empty list is a list of anything
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    raise ValueError(f"{shown} is not of type {kind.value}")
