"""Selectors in DuckDB's SQL."""

from __future__ import annotations

from tamis.language.expr import Like
from tamis.values import Timestamp, Type
from tests.oracles.generate import ASCII_ESCAPE, LOWER, UPPER_ESCAPE
from tests.oracles.sql import Printer
from tests.oracles.terms import MIXED

WITHOUT = frozenset(
    [
        MIXED,  # an INT is converted to DBL, and beyond 2^53 loses digits
        LOWER,  # lower() maps one letter to one letter
        UPPER_ESCAPE,  # it is lowered together with the pattern
        ASCII_ESCAPE,  # an escape character is one byte
    ]
)


class DuckdbPrinter(Printer):
    types = {  # noqa: RUF012
        Type.BOOL: "BOOLEAN",
        Type.INT: "BIGINT",
        Type.DBL: "DOUBLE",
        Type.STR: "VARCHAR",
        Type.TIMESTAMP: "TIMESTAMPTZ",
    }

    def integer(self, value: int) -> str:
        return f"({value})::BIGINT"

    def double(self, value: float) -> str:
        text = repr(value)  # with an exponent it is a DOUBLE, else a DECIMAL
        return f"({text if 'e' in text else text + 'e0'})"

    def timestamp(self, value: Timestamp) -> str:
        return f"TIMESTAMPTZ '{value}'"

    def like(self, e: Like, operand: str) -> str:
        word = "ILIKE" if e.ignore_case else "LIKE"
        return f"{operand} {word} {self.string(e.pattern)} ESCAPE {self.string(e.escape)}"

    def rlike(self, operand: str, pattern: str) -> str:
        return f"regexp_matches({operand}, {pattern})"

    def string_test(self, function: str, text: str, part: str) -> str:
        word = {"startswith": "starts_with", "endswith": "ends_with"}.get(function, function)
        return f"{word}({text}, {part})"

    def array_contains(self, array: str, item: str) -> str:
        # list_contains is false where the element looked for may be the NULL one.
        nulls = f"len(list_filter({array}, lambda e: e IS NULL))"
        return f"(list_contains({array}, {item}) OR CASE WHEN {nulls} > 0 THEN NULL ELSE FALSE END)"

    def arithmetic(self, op: str, left: str, right: str, kind: Type) -> str:
        if op in "/%":
            # By zero, / and DOUBLE % are infinite or NaN.
            right = f"nullif({right}, 0)"
        if op == "%" and kind is Type.INT:
            # The least integer % -1 is taken for an overflow.
            return f"(CASE WHEN {right} = -1 THEN {left} * 0 ELSE {left} % {right} END)"
        text = f"({left} {op} {right})"
        return f"TRY{text}" if kind is Type.INT and op != "/" else text

    def negate(self, operand: str, kind: Type) -> str:
        # The - of a constant is taken into the constant, and that may be wider than BIGINT.
        return f"TRY(0 - {operand})" if kind is Type.INT else f"(-({operand}))"

    def absolute(self, operand: str, kind: Type) -> str:
        return f"TRY(abs({operand}))" if kind is Type.INT else f"abs({operand})"

    def extreme(self, function: str, parts: list[str]) -> str:
        return f"{function}({', '.join(parts)})"

    def average(self, parts: list[str]) -> str:
        return f"list_avg([{', '.join(f'CAST({p} AS DOUBLE)' for p in parts)}])"
