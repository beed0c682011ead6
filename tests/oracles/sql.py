"""Selectors to SQL: the part that all dialects share, and methods that each one fills in.

The less the translation does, the more the comparison tests: comparison, BETWEEN, IN, LIKE, IS
NULL, AND, OR and NOT are the database's own.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations

from tamis.language.expr import (
    And,
    Arithmetic,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Call,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RLike,
    StringTest,
    ValueExpr,
    Xor,
)
from tamis.values import Timestamp, Type
from tests.oracles.static_types import common_type, static_type


class Printer:
    """Writes selectors in one dialect; subclasses fill in what differs."""

    types: dict[Type, str]

    # -- Booleans ---------------------------------------------------------------------------------

    def boolean(self, e: BoolExpr) -> str:
        """Write a Boolean; precedence in databases is as in Tamis: tests, then NOT, AND, OR."""
        if isinstance(e, And):
            return " AND ".join(self.within(o, And, Or) for o in e.operands)
        if isinstance(e, Or):
            return " OR ".join(self.within(o, Or) for o in e.operands)
        if isinstance(e, Not):
            return f"NOT {self.within(e.operand, And, Or, Not)}"
        if isinstance(e, Xor):
            # No dialect has XOR of Booleans; <> of Booleans is the same.
            first, *others = (self.enclosed(o) for o in e.operands)
            return reduce(lambda left, right: f"({left} <> {right})", others, first)
        if isinstance(e, AtLeast):
            return self.at_least(e.k, [self.enclosed(o) for o in e.operands])
        if isinstance(e, Attribute):
            return self.attribute(e)
        if isinstance(e, Literal):
            return self.literal(e)
        return self.predicate(e)

    def within(self, e: BoolExpr, *loose: type) -> str:
        return f"({self.boolean(e)})" if isinstance(e, loose) else self.boolean(e)

    def enclosed(self, e: BoolExpr) -> str:
        bare = isinstance(e, Attribute | Literal | Xor | AtLeast)
        return self.boolean(e) if bare else f"({self.boolean(e)})"

    def predicate(self, e: BoolExpr) -> str:
        if isinstance(e, Comparison):
            left, right = self.beside(e.left, e.right)
            return f"{left} {e.op} {right}"
        if isinstance(e, Between):
            operand, low, high = self.beside(e.operand, e.low, e.high)
            return f"{operand} BETWEEN {low} AND {high}"
        if isinstance(e, In):
            operand, *items = self.beside(e.operand, *e.items)
            return f"{operand} IN ({', '.join(items)})"
        if isinstance(e, IsNull):
            return f"{self.value(e.operand)} IS NULL"
        if isinstance(e, Like):
            return self.like(e, self.value(e.operand, Type.STR))
        if isinstance(e, RLike):
            return self.rlike(self.value(e.operand, Type.STR), self.string(e.pattern))
        if isinstance(e, StringTest):
            text, part = self.value(e.text, Type.STR), self.value(e.part, Type.STR)
            return self.string_test(e.function, text, part)
        assert isinstance(e, ArrayContains)
        kind = Type.STR if static_type(e.array) is Type.STR_LIST else Type.INT
        return self.array_contains(self.value(e.array), self.value(e.item, kind))

    def beside(self, *values: ValueExpr) -> list[str]:
        """Write values to be compared: a NULL literal needs no type there, least(NULL) does."""
        kind = common_type(values)
        return [self.value(e, None if isinstance(e, Literal) else kind) for e in values]

    def at_least(self, k: int, operands: list[str]) -> str:
        """By counting: the true ones, and those that are not false."""
        true = " + ".join(f"CASE WHEN {o} THEN 1 ELSE 0 END" for o in operands)
        possible = " + ".join(f"CASE WHEN NOT {o} THEN 0 ELSE 1 END" for o in operands)
        return (
            f"(CASE WHEN {true} >= {k} THEN TRUE WHEN {possible} >= {k} THEN NULL ELSE FALSE END)"
        )

    # -- values -----------------------------------------------------------------------------------

    def value(self, e: ValueExpr, wanted: Type | None = None) -> str:
        """A value; NULL is given the type that is wanted where the dialect must know it."""
        if isinstance(e, Literal):
            return self.null(wanted) if e.value is None and wanted else self.literal(e)
        if isinstance(e, Attribute):
            return self.attribute(e)
        if isinstance(e, Negate):
            kind = static_type(e) or Type.INT
            return self.negate(self.value(e.operand, kind), kind)
        if isinstance(e, Arithmetic):
            left, right = self.value(e.left, Type.INT), self.value(e.right, Type.INT)
            kind = common_type((e.left, e.right)) or Type.INT
            return self.arithmetic(e.op, left, right, kind)
        assert isinstance(e, Call)
        return self.call(e.function, e.arguments, static_type(e) or wanted or Type.INT)

    def call(self, function: str, arguments: tuple[ValueExpr, ...], kind: Type) -> str:
        if function == "avg":
            return self.average([self.value(a, Type.INT) for a in arguments])
        parts = [self.value(a, kind) for a in arguments]
        if function == "abs":
            return self.absolute(parts[0], kind)
        if function == "sum":
            return self.total(parts, [static_type(a) or Type.INT for a in arguments])
        return self.extreme(function, parts)

    def total(self, parts: list[str], kinds: list[Type]) -> str:
        """Write SUM, which skips NULL: a NULL counts as 0, and only NULLs give NULL."""
        text, so_far = f"coalesce({parts[0]}, {self.zero(kinds[0])})", kinds[0]
        for part, kind in zip(parts[1:], kinds[1:], strict=True):
            so_far = Type.DBL if Type.DBL in (so_far, kind) else Type.INT
            text = self.arithmetic("+", text, f"coalesce({part}, {self.zero(kind)})", so_far)
        return f"(CASE WHEN {' OR '.join(f'{p} IS NOT NULL' for p in parts)} THEN {text} END)"

    def average(self, parts: list[str]) -> str:
        double = self.types[Type.DBL]
        text = " + ".join(f"coalesce(CAST({p} AS {double}), {self.zero(Type.DBL)})" for p in parts)
        count = " + ".join(f"CASE WHEN {p} IS NULL THEN 0 ELSE 1 END" for p in parts)
        return f"(({text}) / nullif({count}, 0))"

    def zero(self, kind: Type) -> str:
        return self.literal(Literal.of(0.0 if kind is Type.DBL else 0))

    def null(self, kind: Type) -> str:
        return f"CAST(NULL AS {self.types[kind]})"

    def string(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def literal(self, e: Literal) -> str:
        if e.value is None:
            return "NULL"
        if isinstance(e.value, bool):
            return "TRUE" if e.value else "FALSE"
        if isinstance(e.value, str):
            return self.string(e.value)
        if isinstance(e.value, Timestamp):
            return self.timestamp(e.value)
        return self.double(e.value) if isinstance(e.value, float) else self.integer(e.value)

    def attribute(self, e: Attribute) -> str:
        return ".".join(f'"{name}"' for name in e.path)

    # -- what each dialect writes its own way -----------------------------------------------------

    def integer(self, value: int) -> str:
        raise NotImplementedError

    def double(self, value: float) -> str:
        raise NotImplementedError

    def timestamp(self, value: Timestamp) -> str:
        raise NotImplementedError

    def like(self, e: Like, operand: str) -> str:
        raise NotImplementedError

    def rlike(self, operand: str, pattern: str) -> str:
        raise NotImplementedError

    def string_test(self, function: str, text: str, part: str) -> str:
        raise NotImplementedError

    def array_contains(self, array: str, item: str) -> str:
        raise NotImplementedError

    def arithmetic(self, op: str, left: str, right: str, kind: Type) -> str:
        raise NotImplementedError

    def negate(self, operand: str, kind: Type) -> str:
        raise NotImplementedError

    def absolute(self, operand: str, kind: Type) -> str:
        raise NotImplementedError

    def extreme(self, function: str, parts: list[str]) -> str:
        raise NotImplementedError


def by_cases(k: int, operands: list[str]) -> str:
    """AT LEAST k as the OR over all choices of k operands: the database's own AND and OR."""
    choices = ("(" + " AND ".join(choice) + ")" for choice in combinations(operands, k))
    return "(" + " OR ".join(choices) + ")"
