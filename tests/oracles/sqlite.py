"""Selectors in the SQL of SQLite."""

from __future__ import annotations

import json
import sqlite3

from tamis.language.expr import Attribute, Like
from tamis.values import Timestamp, Type
from tests.oracles.columns import COLUMNS, NAN, NUL, Event
from tests.oracles.generate import OBJECTS, REGEX, UNICODE_LOWER
from tests.oracles.sql import Printer, by_cases

WITHOUT = frozenset(
    [
        NAN,  # a NaN becomes NULL when it is stored and when it is computed
        NUL,  # text functions stop at it, as the manual warns
        OBJECTS,  # there are none; the fields of `user` are columns of their own
        REGEX,  # the operator REGEXP has no function behind it
        UNICODE_LOWER,  # lower() and LIKE know the case of ASCII letters only
    ]
)


class SqlitePrinter(Printer):
    types = {  # noqa: RUF012
        Type.BOOL: "INTEGER",
        Type.INT: "INTEGER",
        Type.DBL: "REAL",
        Type.STR: "TEXT",
        Type.TIMESTAMP: "TEXT",
    }

    def at_least(self, k: int, operands: list[str]) -> str:
        return by_cases(k, operands)

    def attribute(self, e: Attribute) -> str:
        return '"' + ".".join(e.path) + '"'

    def integer(self, value: int) -> str:
        return str(value)

    def double(self, value: float) -> str:
        return repr(value)

    def timestamp(self, value: Timestamp) -> str:
        return self.string(iso(value))

    def like(self, e: Like, operand: str) -> str:
        # PRAGMA case_sensitive_like is on; there is no escape character unless one is named.
        pattern = self.string(e.pattern)
        if e.ignore_case:
            operand, pattern = f"lower({operand})", f"lower({pattern})"
        return f"{operand} LIKE {pattern} ESCAPE {self.string(e.escape)}"

    def string_test(self, function: str, text: str, part: str) -> str:
        if function == "contains":
            return f"instr({text}, {part}) > 0"
        if function == "startswith":
            return f"substr({text}, 1, length({part})) = {part}"
        start = f"length({text}) - length({part}) + 1"
        return f"({start} > 0 AND substr({text}, {start}) = {part})"

    def array_contains(self, array: str, item: str) -> str:
        # Lists are JSON. `NULL IN (nothing)` would be false.
        return (
            f"CASE WHEN {array} IS NOT NULL AND {item} IS NOT NULL "
            f"THEN {item} IN (SELECT value FROM json_each({array})) END"
        )

    def arithmetic(self, op: str, left: str, right: str, kind: Type) -> str:
        if op == "/":
            return f"(CAST({left} AS REAL) / {right})"
        if op == "%" and kind is Type.DBL:
            return f"mod({left}, nullif({right}, 0))"
        return self.fitting(f"({left} {op} {right})", kind)

    def negate(self, operand: str, kind: Type) -> str:
        return self.fitting(f"(-({operand}))", kind)

    def absolute(self, operand: str, kind: Type) -> str:
        # abs of the least integer is an error.
        if kind is Type.INT:
            operand = f"nullif({operand}, -9223372036854775808)"
        return f"abs({operand})"

    def fitting(self, text: str, kind: Type) -> str:
        # Beyond 64 bits SQLite goes on in REAL.
        return f"iif(typeof{text} = 'integer', {text}, NULL)" if kind is Type.INT else text

    def extreme(self, function: str, parts: list[str]) -> str:
        # min and max of one argument are aggregates, and of more they are NULL if one is.
        word = "min" if function == "least" else "max"
        if len(parts) == 1:
            parts = parts * 2
        turns = [", ".join(parts[n:] + parts[:n]) for n in range(len(parts))]
        return f"{word}({', '.join(f'coalesce({turn})' for turn in turns)})"


def iso(value: Timestamp) -> str:
    """An instant as text of one length, so that text order is the order of time."""
    date_and_time, _, fraction = str(value).removesuffix("Z").partition(".")
    return f"{date_and_time}.{fraction:0<6}"


def load(connection: sqlite3.Connection, events: list[Event]) -> None:
    """Make the table `events`."""
    types = SqlitePrinter.types
    columns = ", ".join(
        f'"{".".join(path)}" {types.get(column.type, "TEXT")}' for path, column in COLUMNS.items()
    )
    connection.execute("PRAGMA case_sensitive_like = ON")
    connection.execute(f"CREATE TABLE events (id INTEGER PRIMARY KEY, {columns})")
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    rows = ([n, *(_stored(event, path) for path in COLUMNS)] for n, event in enumerate(events))
    connection.executemany(f"INSERT INTO events VALUES ({marks})", rows)


def _stored(event: Event, path: tuple[str, ...]) -> object:
    found: object = event
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if isinstance(found, Timestamp):
        return iso(found)
    return json.dumps(found, ensure_ascii=False) if isinstance(found, list) else found
