"""Schemas: the types of the attributes of events, and defaults for missing ones."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import TypeAlias

import pyarrow as pa

from tamis.errors import SchemaError, shorten
from tamis.paths import Path, parse_path, path_text
from tamis.values import Timestamp, Type, Value, to_value, type_of

SEMANTICS = ("sql", "strict", "default", "total")

# The forms of a schema: {"price": "DBL", "city": ("STR", "")}.
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

    An open schema restricts only the attributes it names. With a closed one (the default) events
    have no other attributes.
    """

    def __init__(self, attributes: Mapping[str, Declaration], *, open: bool = False) -> None:
        """Parse the declarations; keys are written as in a selector.

        Args:
            attributes: The type of each attribute, or a pair of its type and its default.
            open: Whether events may have other attributes.

        Raises:
            SchemaError: A name, a type or a default is invalid.
        """
        if not isinstance(attributes, Mapping):
            raise SchemaError(f"{_IS_A_MAPPING}, not {type(attributes).__name__}")
        self.types: dict[Path, Type] = {}
        self.defaults: dict[Path, Value] = {}
        self.open = open
        for name, declaration in attributes.items():
            self._declare(name, declaration)
        for path in self.types:
            for length in range(1, len(path)):
                if path[:length] in self.types:
                    inner, outer = path_text(path), path_text(path[:length])
                    raise SchemaError(f"is a value, so it cannot contain {inner!r}", outer)

    def _declare(self, name: str, declaration: Declaration) -> None:
        if not isinstance(name, str):
            raise SchemaError(f"attribute names are text, not {type(name).__name__}")
        try:
            path = parse_path(name)
        except ValueError as error:
            raise SchemaError(str(error)) from None
        if path in self.types:
            raise SchemaError("is declared twice", path_text(path))
        declared: object
        default: object = None
        if isinstance(declaration, tuple) and len(declaration) == 2:
            declared, default = declaration
        elif isinstance(declaration, Mapping):
            _check_keys(declaration, name)
            declared, default = declaration["type"], declaration.get("default")
        else:
            declared = declaration
        kind = _parse_type(declared, name)
        self.types[path] = kind
        if default is not None:
            try:
                self.defaults[path] = coerce(to_value(default), kind)
            except ValueError as error:
                raise SchemaError(f"bad default: {error}", name) from None
            except Exception as error:  # it may be any object, with any __getattr__
                raise SchemaError(f"bad default: cannot be read: {error!r}", name) from error

    @classmethod
    def of(cls, schema: SchemaLike) -> Schema:
        """Return a schema from any of its forms: a mapping, an Arrow schema, a Schema.

        Raises:
            SchemaError: It is none of these, or it is invalid.
        """
        if isinstance(schema, Schema):
            return schema
        if isinstance(schema, Mapping):
            return cls(schema)
        if isinstance(schema, pa.Schema):
            return cls({path_text(path): kind for path, kind in _arrow_leaves(schema)})
        raise SchemaError(f"{_IS_A_MAPPING}, not {type(schema).__name__}")

    @classmethod
    def read(cls, file: str | FilePath) -> Schema:
        """Read a JSON file: {"price": "DBL", "city": {"type": "STR", "default": ""}}.

        An open schema is written {"open": true, "attributes": {"price": "DBL"}}. No other key may
        be beside these two; `open` may be omitted.

        Raises:
            SchemaError: The file cannot be read, or does not hold a schema.
        """
        try:
            text = FilePath(file).read_text(encoding="utf-8-sig")
            read = json.loads(text, object_pairs_hook=_object)
        except (OSError, ValueError, TypeError) as error:
            raise SchemaError(f"cannot read {file}: {error}") from None
        except RecursionError:
            raise SchemaError(f"cannot read {file}: it nests too deep") from None
        if _is_wrapped(read):
            return cls(read["attributes"], open=read.get("open", False))
        if isinstance(read, dict) and isinstance(read.get("open"), bool):
            raise SchemaError(
                'an open schema is {"open": true, "attributes": {…}}, without other keys'
            )
        return cls.of(read)

    def __eq__(self, other: object) -> bool:
        """Return whether both declare the same attributes, and are both open or both closed."""
        return isinstance(other, Schema) and (self.types, self.defaults, self.open) == (
            other.types,
            other.defaults,
            other.open,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the schema as an expression."""
        declared = {
            path_text(path): (kind.value, self.defaults[path])
            if path in self.defaults
            else kind.value
            for path, kind in self.types.items()
        }
        return f"Schema({declared!r}{', open=True' if self.open else ''})"


_IS_A_MAPPING = 'a schema is a mapping of names to types, e.g. {"price": "DBL"}'


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise SchemaError("appears twice in the same object", name)
        found[name] = value
    return found


def _is_wrapped(read: object) -> bool:
    """Return whether a file has the form {"open": …, "attributes": …}."""
    if not isinstance(read, dict) or not read.keys() <= {"open", "attributes"}:
        return False
    inside = read.get("attributes")
    # {"attributes": {"type": "STR"}} declares an attribute of the name "attributes". A boolean
    # `open` is unambiguous, because no declaration is a boolean.
    wraps = isinstance(read["open"], bool) if "open" in read else "type" not in (inside or ())
    return isinstance(inside, dict) and wraps


def _check_keys(declaration: Mapping[str, object], name: str) -> None:
    """Reject {"type": …, "defualt": …}, and {"city": "STR"} that was meant as an object."""
    for key in declaration:
        if key not in ("type", "default"):
            close = difflib.get_close_matches(str(key).lower()[:64], ("type", "default"), n=1)
            if close:
                hint = f"did you mean {close[0]!r}?"
            elif "type" in declaration:
                hint = "the keys are 'type' and 'default'"
            else:
                inner = f"{name}.{path_text((str(key),))}"
                hint = f"a field of an object is written with a dot: {inner!r}"
            raise SchemaError(f"unknown key {shorten(str(key))!r}; {hint}", name)
    if "type" not in declaration:
        raise SchemaError("has no 'type'", name)


def _parse_type(declared: object, attribute: str) -> Type:
    found: Type | None = None
    if isinstance(declared, Type):
        found = declared
    elif isinstance(declared, str):
        spelt = declared.upper().replace(" ", "")
        found = _SPELLINGS.get(spelt) or next((k for k in Type if k.value == spelt), None)
    if found is None or found is Type.OPAQUE:
        known = ", ".join(kind.value for kind in Type if kind is not Type.OPAQUE)
        shown = (
            f"unknown type {shorten(declared)!r}"
            if isinstance(declared, str)
            else "OPAQUE cannot be declared"
            if found
            else f"a type is text or (text, default), not {type(declared).__name__}"
        )
        raise SchemaError(f"{shown}; the types are {known}", attribute)
    return found


def is_arrow_list(arrow: pa.DataType) -> bool:
    """Return whether an Arrow type is a list of any kind."""
    t = pa.types
    return bool(
        t.is_list(arrow) or t.is_large_list(arrow) or t.is_fixed_size_list(arrow)
        or t.is_list_view(arrow) or t.is_large_list_view(arrow)
    )  # fmt: skip


def type_of_arrow(arrow: pa.DataType) -> Type:
    """Return the type of an Arrow column's values; OPAQUE for values without a type of Tamis."""
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
    if is_arrow_list(arrow):
        element = type_of_arrow(arrow.value_type)
        return {Type.INT: Type.INT_LIST, Type.STR: Type.STR_LIST}.get(element, Type.OPAQUE)
    return Type.OPAQUE


def _arrow_leaves(
    fields: pa.Schema | pa.StructType, above: Path = ()
) -> Iterator[tuple[Path, Type]]:
    seen: set[str] = set()
    for field in fields:
        try:
            path = (*above, field.name)
        except UnicodeDecodeError:
            raise SchemaError("the name of a column is not valid UTF-8") from None
        if field.name in seen:
            raise SchemaError("two columns have this name", path_text(path))
        seen.add(field.name)
        if pa.types.is_struct(field.type):
            yield from _arrow_leaves(field.type, path)
        elif (kind := type_of_arrow(field.type)) is not Type.OPAQUE:
            yield path, kind


def coerce(value: Value, kind: Type) -> Value:
    """Convert a value to the declared type if that loses nothing and needs no guess.

    Raises:
        ValueError: The value cannot be converted.
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
    raise ValueError(f"{shorten(repr(value))} is not of type {kind.value}")
