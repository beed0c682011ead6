"""The shapes of tests that the index supports: what a predicate requires of one value.

A *term* is what is tested: an attribute, or a derived value such as `a + b`. A predicate on one
term and constants is true for a set of values, and that set is the union of a few of these shapes.
NOT is already resolved, because each shape states what is certainly true.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

from tamis.language.expr import Like, RLike, StringTest, ValueExpr
from tamis.values import Opaque, Scalar, Timestamp, Type, Value


class Family(Enum):
    """Values that can be compared with each other; across families every test is unknown."""

    NUMBER = "number"
    TEXT = "text"
    INSTANT = "instant"
    TRUTH = "truth"

    __hash__ = object.__hash__  # faster: Enum's own is written in Python


FAMILIES: dict[Type, Family] = {
    Type.BOOL: Family.TRUTH,
    Type.INT: Family.NUMBER,
    Type.DBL: Family.NUMBER,
    Type.STR: Family.TEXT,
    Type.TIMESTAMP: Family.INSTANT,
}


class Interval(NamedTuple):
    """From `low` to `high`; None is unbounded."""

    low: Scalar | None
    low_closed: bool
    high: Scalar | None
    high_closed: bool


class Within(NamedTuple):
    """The value is of the family and in one of the intervals, which do not overlap."""

    family: Family
    intervals: tuple[Interval, ...]


class Except(NamedTuple):
    """The value is of the family and none of the points, which are distinct."""

    family: Family
    points: tuple[Scalar, ...]


class Null(NamedTuple):
    """The value is NULL, or (if not wanted) it is not."""

    wanted: bool


class Text(NamedTuple):
    """The value is text, and the test of it has the wanted result."""

    test: StringTest | Like | RLike
    wanted: bool


class Member(NamedTuple):
    """The value is a list, and it is certain that the item is (or is not) in it, as wanted."""

    item: Scalar | Opaque
    wanted: bool


Test: TypeAlias = Within | Except | Null | Text | Member


class Placement(NamedTuple):
    """How a predicate is indexed.

    Attributes:
        term: What is tested; None if the predicate is the same for every event, or is residual.
        tests: The predicate is true where one of them holds; no two of them hold for one value.
        always: Every event satisfies it.
        residual: It depends on several terms: only the oracle can evaluate it, event by event.
    """

    term: ValueExpr | None = None
    tests: tuple[Test, ...] = ()
    always: bool = False
    residual: bool = False


def family_of(value: Value) -> Family | None:
    """Return the family of a value; None for NULL and for values without an order."""
    return _FAMILIES.get(type(value))


_FAMILIES: dict[type, Family] = {
    bool: Family.TRUTH,
    int: Family.NUMBER,
    float: Family.NUMBER,
    str: Family.TEXT,
    Timestamp: Family.INSTANT,
}
