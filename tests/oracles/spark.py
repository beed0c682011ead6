"""Selectors in the SQL of Spark 4, whose ANSI mode needs try_ functions where it may fail."""

from __future__ import annotations

from tamis.language.expr import Attribute, Like
from tamis.values import Timestamp, Type
from tests.oracles.generate import BMP_ESCAPE, JAVA_REGEX
from tests.oracles.sql import Printer
from tests.oracles.terms import MIXED

WITHOUT = frozenset(
    [
        MIXED,  # an INT is converted to DBL, and beyond 2^53 loses digits
        JAVA_REGEX,  # RLIKE is java.util.regex
        BMP_ESCAPE,  # an escape character is one UTF-16 unit
    ]
)

_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod"}


class SparkPrinter(Printer):
    types = {  # noqa: RUF012
        Type.BOOL: "BOOLEAN",
        Type.INT: "BIGINT",
        Type.DBL: "DOUBLE",
        Type.STR: "STRING",
        Type.TIMESTAMP: "TIMESTAMP",
    }

    def at_least(self, k: int, operands: list[str]) -> str:
        # CASE WHEN wants to know that it is a Boolean.
        null = self.null(Type.BOOL)
        return super().at_least(k, [null if o == "NULL" else o for o in operands])

    def attribute(self, e: Attribute) -> str:
        return ".".join(f"`{name}`" for name in e.path)

    def string(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def integer(self, value: int) -> str:
        return f"{value}L"

    def double(self, value: float) -> str:
        return f"{value!r}D"

    def timestamp(self, value: Timestamp) -> str:
        return f"TIMESTAMP '{value}'"

    def like(self, e: Like, operand: str) -> str:
        word = "ILIKE" if e.ignore_case else "LIKE"
        escape = "" if e.escape == "\\" else f" ESCAPE {self.string(e.escape)}"
        return f"{operand} {word} {self.string(e.pattern)}{escape}"

    def rlike(self, operand: str, pattern: str) -> str:
        return f"{operand} RLIKE {pattern}"

    def string_test(self, function: str, text: str, part: str) -> str:
        return f"{function}({text}, {part})"

    def array_contains(self, array: str, item: str) -> str:
        return f"array_contains({array}, {item})"

    def arithmetic(self, op: str, left: str, right: str, kind: Type) -> str:
        return f"{_TRY[op]}({left}, {right})"

    def negate(self, operand: str, kind: Type) -> str:
        return f"try_subtract(0L, {operand})" if kind is Type.INT else f"(-({operand}))"

    def absolute(self, operand: str, kind: Type) -> str:
        if kind is Type.INT:
            operand = f"nullif({operand}, -9223372036854775808L)"  # there is no try_abs
        return f"abs({operand})"

    def extreme(self, function: str, parts: list[str]) -> str:
        # They want two arguments at least.
        return f"{function}({', '.join(parts if len(parts) > 1 else parts * 2)})"
