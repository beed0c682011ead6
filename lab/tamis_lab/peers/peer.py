"""What a peer is, what it is given and what it gives back."""

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
    """What is known of an attribute: its type, and whether some event lacks it."""

    type: Type
    nullable: bool


# By flat name.
Kinds = Mapping[str, AttributeKind]


class Limits(NamedTuple):
    """How long a peer may take.

    Attributes:
        build: Seconds to take in rules; those that do not fit are left out.
        match: Seconds to match events, again and again.
        sample: On how many events its answers are wanted.
    """

    build: float
    match: float
    sample: int


class Outcome(TypedDict):
    """What a run tells, as JSON has it; drivers print the same.

    Attributes:
        rules: How many it took in, from the first on.
        build_s: How long that took: parsing, building, compiling.
        events: How many were matched, some of them again and again.
        match_s: How long that took.
        answers: The ids that matched, for each event of the sample; fewer if it was slow.
        peak_mb: The most memory that the process has had.
    """

    rules: int
    build_s: float
    events: int
    match_s: float
    answers: list[list[int]]
    peak_mb: float


# A rule in the peer's own words. Languages without OR have several texts, of which one must match.
Texts = list[str]


@dataclass(frozen=True)
class Peer:
    """Something that tells which rules an event satisfies.

    Attributes:
        name: As on the command line.
        about: What it is, in a few words.
        takes: In what form events come to it.
        unavailable: Why it cannot run here, or None.
        version: Of the package; asked only where it is there.
        translate: A selector in its own words; raises UnsupportedExpression where it has none.
        run: Given a folder with RULES, EVENTS and TABLE, and limits.
        prepare: Make it ready, once, telling what is done.
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
    """Why a Python package cannot be used, or None."""
    return None if find_spec(module) else f"not installed: pip install {package}"


def package_version(package: str) -> str:
    """The version of a Python package."""
    try:
        return version_of(package)
    except PackageNotFoundError:
        return "unknown"


def flat_name(path: tuple[str, ...]) -> str:
    """One name for a path: all peers have flat events, whose names all of them can spell."""
    return SEPARATOR.join(path)


def attribute_kind(attribute: Attribute, kinds: Kinds, peer: str) -> tuple[str, AttributeKind]:
    """The flat name of an attribute and what is known of it.

    Raises:
        UnsupportedExpression: Peers cannot spell the name, or have no such attribute.
    """
    name = flat_name(attribute.path)
    if not _PLAIN.fullmatch(name) or name not in kinds:
        raise UnsupportedExpression(f"the attribute {attribute}", peer)
    return name, kinds[name]
