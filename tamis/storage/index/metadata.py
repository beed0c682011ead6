"""The metadata of an index, as JSON: the settings of its matcher."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tamis.errors import IndexCorrupt, InputError
from tamis.language.functions import Functions
from tamis.matches import Id
from tamis.paths import path_text
from tamis.schema import Schema
from tamis.values import Timestamp, Type, Value

_MATCHER = "matcher"


class IndexMetadata(msgspec.Struct, frozen=True):
    """The settings of a matcher, and the order of its segments.

    Attributes:
        holds: The kind of content.
        engine: The name of the engine.
        options: The options of the engine.
        semantics: What a missing attribute means.
        schema: The attributes, as in a schema file; None if there is no schema.
        functions: The names of the functions that selectors may call.
        time: The attribute that holds the time of an event; None to use the time of arrival.
        stack: The keys of the segments, in the order of their subscriptions.
        whole: Subscriptions that are in no segment: id, selector, priority.
    """

    holds: str
    engine: str
    options: dict[str, Any]
    semantics: str
    schema: dict[str, Any] | None
    functions: list[str]
    time: str | None = None
    stack: list[str] = []
    whole: list[tuple[Id, str, int]] = []

    def with_stack(self, stack: list[str], whole: list[tuple[Id, str, int]]) -> IndexMetadata:
        """Return the metadata with other subscriptions."""
        return msgspec.structs.replace(self, stack=stack, whole=whole)

    def meta(self) -> dict[str, object]:
        """Return the metadata as plain data for a store."""
        built: dict[str, object] = msgspec.to_builtins(self)
        return {**built, "whole": [list(one) for one in self.whole]}


def describe_matcher(
    engine: str,
    options: Mapping[str, object],
    semantics: str,
    schema: Schema | None,
    functions: Functions,
    time: str | None = None,
) -> IndexMetadata:
    """Return the metadata of a matcher."""
    described = None if schema is None else _schema_dict(schema)
    return IndexMetadata(
        _MATCHER, engine, dict(options), semantics, described, list(functions), time
    )


def read_metadata(folder: Path, meta: Mapping[str, object]) -> IndexMetadata:
    """Read the metadata of an index.

    Raises:
        InputError: It is not the index of a matcher.
        IndexCorrupt: The metadata is invalid.
    """
    if meta.get("holds") != _MATCHER:
        raise InputError("is an index, but not one of a matcher", str(folder))
    try:
        return msgspec.convert(dict(meta), IndexMetadata)
    except msgspec.ValidationError as error:
        raise IndexCorrupt(folder, f"has invalid metadata: {error}") from error


def schema_of(described: Mapping[str, Any] | None) -> Schema | None:
    """Return the schema from its description."""
    if described is None:
        return None
    declared = {
        name: (kind, float(default) if kind == Type.DBL.value and default is not None else default)
        for name, (kind, default) in described["attributes"].items()
    }
    return Schema(declared, open=described["open"])


def check_functions(folder: Path, wanted: list[str], given: Functions) -> None:
    """Check that the functions that selectors may call are given.

    Raises:
        InputError: Some are missing; the error names them.
    """
    missing = [name for name in wanted if given.find(name) is None]
    if missing:
        names = ", ".join(missing)
        raise InputError(
            f"its selectors may call {names}: open it with functions={{{missing[0]!r}: …}}",
            str(folder),
        )


def _schema_dict(schema: Schema) -> dict[str, object]:
    return {
        "open": schema.open,
        "attributes": {
            path_text(path): [kind.value, _plain_default(schema.defaults.get(path))]
            for path, kind in schema.types.items()
        },
    }


def _plain_default(default: Value | None) -> object:
    """Return a default as JSON can hold it; the type beside it says what it was."""
    if isinstance(default, Timestamp):
        return str(default)
    if isinstance(default, float) and not math.isfinite(default):
        return repr(default)
    return default
