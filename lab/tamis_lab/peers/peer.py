"""The interface of a peer: its input, its outcome, and how it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypedDict

from tamis.errors import UnsupportedExpression
from tamis.language.expr import Attribute, BoolExpr
from tamis.values import Type

RULES, EVENTS, TABLE = "rules.jsonl", "events.jsonl", "events.parquet"
SEPARATOR = "__"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class AttributeKind(NamedTuple):
    """The type of an attribute, and whether some event lacks it."""

    type: Type
    nullable: bool


# By flat name.
Kinds = Mapping[str, AttributeKind]


class Limits(NamedTuple):
    """The limits of a run.

    Attributes:
        build: Seconds for loading rules; those that do not fit are left out.
        match: Seconds for matching events repeatedly.
        sample: Number of events whose answers are checked.
    """

    build: float
    match: float
    sample: int


class Outcome(TypedDict):
    """The outcome of a run, as JSON; drivers print the same.

    Attributes:
        rules: Number of rules it loaded, from the first on.
        build_s: Seconds for that: parsing, building, compiling.
        events: Number of events matched, repetitions included.
        match_s: Seconds for that.
        answers: The ids that matched each event of the sample; fewer events if it was slow.
        peak_mb: Peak memory of the process.
    """

    rules: int
    build_s: float
    events: int
    match_s: float
    answers: list[list[int]]
    peak_mb: float


# A rule in the peer's language. Without OR, a rule is several texts, one of which must match.
Texts = list[str]


@dataclass(frozen=True)
class Peer:
    """A tool that finds the rules that an event satisfies.

    Attributes:
        name: Its name on the command line.
        about: A short description.
        takes: The form in which it receives events.
        unavailable: Returns why it cannot run here, or None.
        version: Returns the version of the package; called only if it is available.
        translate: Translates a selector to its language; raises UnsupportedExpression.
        run: Runs it on a folder with RULES, EVENTS and TABLE, within limits.
        prepare: Prepares it, once; reports progress to the given function.
    """

    name: str
    about: str
    takes: str
    unavailable: Callable[[], str | None]
    version: Callable[[], str]
    translate: Callable[[BoolExpr, Kinds], Texts]
    run: Callable[[Path, Limits], Outcome]
    prepare: Callable[[Callable[[str], None]], object] = lambda _: None


def missing_package(package: str, module: str) -> str | None:
    """Return why a Python package cannot be used, or None."""
    return None if find_spec(module) else f"not installed: pip install {package}"


def package_version(package: str) -> str:
    """Return the version of a Python package."""
    try:
        return version_of(package)
    except PackageNotFoundError:
        return "unknown"


def flat_name(path: tuple[str, ...]) -> str:
    """Return one name for a path: events are flat, with names that all peers can write."""
    return SEPARATOR.join(path)


def attribute_kind(attribute: Attribute, kinds: Kinds, peer: str) -> tuple[str, AttributeKind]:
    """Return the flat name of an attribute, and its kind.

    Raises:
        UnsupportedExpression: Peers cannot write the name, or have no such attribute.
    """
    name = flat_name(attribute.path)
    if not _PLAIN.fullmatch(name) or name not in kinds:
        raise UnsupportedExpression(f"the attribute {attribute}", peer)
    return name, kinds[name]
