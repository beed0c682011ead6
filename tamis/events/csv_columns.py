"""CSV columns: the type of each, from the schema or from all of its fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from typing import Any, TypeAlias

import msgspec

from tamis.errors import InputError, shorten
from tamis.events.records import InputFile, Records, count_fault, csv_header, csv_rows
from tamis.paths import Path, parse_path, path_text
from tamis.schema import Schema
from tamis.values import INT_MAX, INT_MIN, Timestamp, Type

_Convert: TypeAlias = "Callable[[str], object] | None"


def csv_events(source: InputFile, schema: Schema | None) -> Records:
    """Yield the rows of a CSV file as events."""
    rows = csv_rows(source)
    header = csv_header(rows, source)
    paths = _paths(header, schema)
    converters = _converters(source, paths, schema)
    _check_paths(source, [path for path, read in zip(paths, converters, strict=True) if read])
    columns = [(path[:-1], path[-1], convert)
               for path, convert in zip(paths, converters, strict=True)]  # fmt: skip
    for line, fields, fault in rows:
        event: dict[str, Any] = {}
        fault = fault or count_fault(header, fields)
        for (above, name, convert), text in zip(columns, () if fault else fields, strict=False):
            if text and convert:
                inside = event
                for part in above:
                    inside = inside.setdefault(part, {})
                try:
                    inside[name] = convert(text)
                except (ValueError, OverflowError) as error:
                    fault = f"attribute {path_text((*above, name))!r}: {error}"
                    break
        yield line, event, fault


def _paths(header: list[str], schema: Schema | None) -> list[Path]:
    """Return the path of each name in the header: the name itself, or a path of the schema."""
    declared = {} if schema is None else schema.types
    paths: list[Path] = []
    for name in header:
        path: Path = (name,)
        if path not in declared:
            with suppress(ValueError):
                spelt = parse_path(name)
                path = spelt if spelt in declared else path
        paths.append(path)
    return paths


def _check_paths(source: InputFile, paths: list[Path]) -> None:
    seen: set[Path] = set()
    for path in sorted(paths, key=len):
        for length in range(1, len(path) + 1):
            if path[:length] in seen:
                two = f"{path_text(path[:length])!r} and {path_text(path)!r}"
                raise InputError(f"in the header: {two} cannot both be columns", source.name)
        seen.add(path)


def _converters(source: InputFile, paths: list[Path], schema: Schema | None) -> list[_Convert]:
    """Return the converter of each column; None for columns that no selector can see."""
    declared = {} if schema is None else schema.types
    ignored = schema is not None and not schema.open
    unknown = [i for i, path in enumerate(paths)
               if path != ("",) and path not in declared and not ignored]  # fmt: skip
    found = _column_types(source, len(paths), unknown) if unknown else {}
    return [
        _DECLARED[declared[path]] if path in declared else _INFERRED.get(found.get(i))
        for i, path in enumerate(paths)
    ]


def _column_types(source: InputFile, width: int, columns: list[int]) -> dict[int, Type]:
    if not source.path.is_file():
        reason = (
            "CSV is read twice, so it must be a regular file; save it to disk, or use JSON lines"
        )
        raise InputError(reason, source.name)
    types: dict[int, Type] = {}
    rows = csv_rows(InputFile(source.path))
    next(rows, None)
    for _, fields, fault in rows:
        if fault or len(fields) != width:
            continue
        for i in columns:
            if fields[i] and (so_far := types.get(i)) is not Type.STR:
                types[i] = _join_types(so_far, _type_of_text(fields[i]))
    return types


def _join_types(so_far: Type | None, found: Type) -> Type:
    if so_far is None or so_far is found:
        return found
    return Type.DBL if {so_far, found} == {Type.INT, Type.DBL} else Type.STR


_INT = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DBL = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = ("NaN", "inf", "-inf", "Infinity", "-Infinity")  # as pandas and Spark write them


def is_int(text: str) -> bool:
    """Return whether the text is an INT in its canonical form."""
    return _INT.fullmatch(text) is not None and len(text) <= 20 and INT_MIN <= int(text) <= INT_MAX


def _type_of_text(text: str) -> Type:
    if _INT.fullmatch(text):
        return Type.INT if is_int(text) else Type.STR
    if (_DBL.fullmatch(text) and isfinite(float(text))) or text in _NOT_FINITE:
        return Type.DBL
    if text.lower() in ("true", "false"):
        return Type.BOOL
    try:
        Timestamp.parse(text)
    except (ValueError, OverflowError):
        return Type.STR
    return Type.TIMESTAMP


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{shorten(text)!r} is not of type BOOL; write true or false")
    return text.lower() == "true"


def _number(text: str) -> object:
    if text in _NOT_FINITE:
        return float(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{shorten(text)!r} is not a number")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def _list(text: str) -> object:
    try:
        return msgspec.json.decode(text, type=list)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ValueError(f"{shorten(text)!r} is not a list; write it as in JSON: [1, 2]") from None


_INFERRED: dict[Type | None, Callable[[str], object]] = {
    Type.INT: int, Type.DBL: float, Type.BOOL: _bool, Type.TIMESTAMP: Timestamp.parse,
    Type.STR: str,
}  # fmt: skip
# EventBatch converts the values to the declared types (5.0 to an INT, text to a TIMESTAMP).
_DECLARED: dict[Type, Callable[[str], object]] = {
    Type.INT: _number, Type.DBL: _number, Type.BOOL: _bool, Type.TIMESTAMP: str, Type.STR: str,
    Type.INT_LIST: _list, Type.STR_LIST: _list,
}  # fmt: skip
