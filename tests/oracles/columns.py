"""The table of random events on which Tamis and the databases are compared.

Every column has a type, as SQL requires, and few values, so that tests are often true. Some columns
hold edge cases of their type and some do not: a dialect that cannot handle edge cases in some
construct gets a column without them there.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pyarrow as pa

from tamis.values import INT_MAX, INT_MIN, Timestamp, Type

Path = tuple[str, ...]
Event = dict[str, object]

NULL_SHARE = 0.17
EXACT = 2**53  # beyond it a 64-bit float cannot tell neighbouring integers apart

# Values that a dialect may leave out of its events and selectors.
NAN = "NaN and infinities"
NUL = "the character U+0000"


@dataclass(frozen=True)
class Column:
    """A column: its type, its values, and edge cases that a dialect may leave out."""

    type: Type
    values: tuple[object, ...]
    edges: tuple[object, ...] = ()

    @property
    def bound(self) -> float:
        """No number in the column is further from zero; infinity for NaN too."""
        numbers = [v for v in self.values + self.edges if isinstance(v, int | float)]
        return max((math.inf if math.isnan(v) else abs(v) for v in numbers), default=0)


def _instants(*texts: str) -> tuple[Timestamp, ...]:
    return tuple(Timestamp.parse(text) for text in texts)


_SMALL_INTS = (-3, -1, 0, 1, 2, 3, 5, 7, 10, 100)
_WIDE_INTS = (
    EXACT - 1, EXACT, EXACT + 1, -EXACT - 1, INT_MIN, INT_MIN + 1, INT_MAX, INT_MAX - 1,
    2**62, -(2**62), 2**31, 3037000500,
)  # fmt: skip
_TAME_FLOATS = (-3.0, -1.5, -0.0, 0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 1.0, 1.5, 2.0, 7.25)
_WILD_FLOATS = (
    math.nan, math.inf, -math.inf, 1.7976931348623157e308, -1e308, 5e-324, -5e-324, 1e-300,
    float(EXACT), float(EXACT + 2), -float(EXACT), 2.0**63, -(2.0**63), 1e19,
)  # fmt: skip
_WORDS = ("", "a", "A", "ab", "Ab", "abc", "ABC", "b", "ba", "Lyon", "lyon", "a b", "cab", "aab")
_MARKS = ("%", "_", "a%", "a_b", "100%", "\\", "a\\b", "it's", "'", '"', "a\nb", "a.b", "[a]", "!")
_LETTERS = (
    "é", "É", "e\u0301", "ß", "ẞ", "SS", "ss", "😀", "a😀b", "ÉLISE", "élise", "\uffff", "ﬁ", "日",
)  # fmt: skip
# Letters whose lower case is longer, depends on what stands beside them, or is plain ASCII.
CASES = ("İ", "i\u0307", "ΑΣ", "ας", "ασ", "ΑΣΑ", "ασα", "Kelvin \u212a", "kelvin k", "ſ", "I", "ı")
_LINES = ("a\r", "a\n", "\n", "\r\n", "a\u2028b", "a\u0085b", "\ta", "a\x0b")

COLUMNS: dict[Path, Column] = {
    ("i1",): Column(Type.INT, _SMALL_INTS, _WIDE_INTS),
    ("i2",): Column(Type.INT, _SMALL_INTS, _WIDE_INTS),
    ("i3",): Column(Type.INT, _SMALL_INTS),
    ("d1",): Column(Type.DBL, _TAME_FLOATS, _WILD_FLOATS),
    ("d2",): Column(Type.DBL, _TAME_FLOATS),
    ("s1",): Column(Type.STR, _WORDS, _MARKS + _LETTERS + CASES + _LINES + ("a\0b",)),
    ("s2",): Column(Type.STR, _WORDS, _MARKS + _LETTERS),
    ("s3",): Column(Type.STR, _WORDS, _MARKS),
    ("b1",): Column(Type.BOOL, (True, False)),
    ("b2",): Column(Type.BOOL, (True, False)),
    ("t1",): Column(
        Type.TIMESTAMP,
        _instants("2024-05-01", "2024-05-01 08:00:00", "2024-05-01 08:00:00.000001", "2024-02-29"),
        _instants("1970-01-01", "1969-12-31 23:59:59.999999", "0001-01-01", "9999-12-31 23:59:59"),
    ),
    ("t2",): Column(
        Type.TIMESTAMP,
        _instants("2024-05-01", "2024-05-01 08:00:00", "2024-03-31 01:30:00", "1582-10-10"),
    ),
    ("tags",): Column(Type.STR_LIST, (*_WORDS[:8], None), ("é", "it's", "%", "\\")),
    ("nums",): Column(Type.INT_LIST, (*_SMALL_INTS, None)),
    ("user", "city"): Column(Type.STR, _WORDS, _LETTERS),
    ("user", "age"): Column(Type.INT, _SMALL_INTS),
}


def usable(value: object, without: frozenset[str]) -> bool:
    """Whether a dialect that leaves these things out can hold the value."""
    if NAN in without and isinstance(value, float):
        return math.isfinite(value)
    return not (NUL in without and isinstance(value, str) and "\0" in value)


def draw(rng: random.Random, path: Path, without: frozenset[str]) -> object:
    """One of the column's values, an edge in one of three."""
    column = COLUMNS[path]
    values = column.edges if column.edges and rng.random() < 0.35 else column.values
    return rng.choice([v for v in values if usable(v, without)])


def random_events(rng: random.Random, count: int, without: frozenset[str]) -> list[Event]:
    """Events with all columns; NULL is at times None and at times left out."""
    return [_event(rng, without) for _ in range(count)]


def _event(rng: random.Random, without: frozenset[str]) -> Event:
    event: Event = {}
    for path, column in COLUMNS.items():
        if rng.random() < NULL_SHARE:
            if rng.random() < 0.5:
                _place(event, path, None)
        elif column.type in (Type.STR_LIST, Type.INT_LIST):
            _place(event, path, [draw(rng, path, without) for _ in range(rng.choice((0, 1, 2, 3)))])
        else:
            _place(event, path, draw(rng, path, without))
    if rng.random() < NULL_SHARE:
        event["user"] = None
    return event


def _place(event: Event, path: Path, value: object) -> None:
    for name in path[:-1]:
        event = event.setdefault(name, {})  # type: ignore[assignment]
    event[path[-1]] = value


ARROW_TYPES = {
    Type.INT: pa.int64(),
    Type.DBL: pa.float64(),
    Type.STR: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us", "UTC"),
    Type.STR_LIST: pa.list_(pa.string()),
    Type.INT_LIST: pa.list_(pa.int64()),
}


def to_arrow(events: list[Event]) -> pa.Table:
    """The events as a table, with their positions as `id` and `user` as a struct."""
    fields = {
        path[0]: pa.field(path[0], ARROW_TYPES[column.type])
        for path, column in COLUMNS.items()
        if len(path) == 1
    }
    within = [
        pa.field(path[1], ARROW_TYPES[column.type])
        for path, column in COLUMNS.items()
        if path[0] == "user"
    ]
    fields["user"] = pa.field("user", pa.struct(within))
    columns = [
        pa.array([_plain(event.get(name)) for event in events], type=field.type)
        for name, field in fields.items()
    ]
    schema = pa.schema([pa.field("id", pa.int64()), *fields.values()])
    return pa.table([pa.array(range(len(events)), pa.int64()), *columns], schema=schema)


def _plain(value: object) -> object:
    return value.micros if isinstance(value, Timestamp) else value
