"""What an index says about its matcher, as JSON: all but the subscriptions."""

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
    """What there is to know before the first subscription is read.

    Attributes:
        holds: What the index is of.
        engine, options: What matches, and how it was made.
        semantics: What a missing attribute means.
        schema: The attributes, as a schema file has them; None if there is no schema.
        functions: The names of the functions that selectors may call.
        time: The attribute that has the time of an event; None if the arrival counts.
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
        """The same of other subscriptions."""
        return msgspec.structs.replace(self, stack=stack, whole=whole)

    def meta(self) -> dict[str, object]:
        """As a store keeps it."""
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
    """What is to be said about a matcher."""
    described = None if schema is None else _schema_dict(schema)
    return IndexMetadata(
        _MATCHER, engine, dict(options), semantics, described, list(functions), time
    )


def read_metadata(folder: Path, meta: Mapping[str, object]) -> IndexMetadata:
    """What an index says.

    Raises:
        InputError: It is no index of a matcher.
        IndexCorrupt: It does not say what it should.
    """
    if meta.get("holds") != _MATCHER:
        raise InputError("is an index, but not one of a matcher", str(folder))
    try:
        return msgspec.convert(dict(meta), IndexMetadata)
    except msgspec.ValidationError as error:
        raise IndexCorrupt(folder, f"does not say what it should: {error}") from error


def schema_of(described: Mapping[str, Any] | None) -> Schema | None:
    """The schema that was described."""
    if described is None:
        return None
    declared = {
        name: (kind, float(default) if kind == Type.DBL.value and default is not None else default)
        for name, (kind, default) in described["attributes"].items()
    }
    return Schema(declared, open=described["open"])


def check_functions(folder: Path, wanted: list[str], given: Functions) -> None:
    """Refuse to open an index without the functions that its selectors may call.

    Raises:
        InputError: It names those that are missing.
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
    """A default as JSON can hold it; the type beside it tells what it was."""
    if isinstance(default, Timestamp):
        return str(default)
    if isinstance(default, float) and not math.isfinite(default):
        return repr(default)
    return default
