"""Random values over the columns: attributes, literals, and arithmetic with bounds.

In two cases SQL decides by the type of the column and Tamis by the value. A bound on every number
expression keeps selectors where both agree. First, an INT beside a DBL: if it may lie beyond 2^53
it is not compared with one (`MIXED`). Second, `SUM(i, d)` of a NULL `d` is an INT to Tamis and a
DBL to SQL: `Number.integer` bounds the integers that a DBL expression may hold, and arithmetic
keeps them below 2^53, where INT and DBL arithmetic agree.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from tamis.language.expr import Arithmetic, Attribute, Call, Literal, Negate, ValueExpr
from tamis.values import Type
from tests.oracles.columns import COLUMNS, EXACT, NAN, Path, draw

MIXED = "INT beyond 2^53 against DBL"


@dataclass(frozen=True)
class Number:
    """A number expression: its static type, and bounds on what it may hold.

    Attributes:
        integer: Bounds its value where that is an INT; 0 if it never is.
        size: Bounds its value, infinity if it may be infinite or NaN.
    """

    expr: ValueExpr
    type: Type | None
    integer: float
    size: float


class Terms:
    """Generates values for a dialect that lacks some constructs."""

    def __init__(self, rng: random.Random, without: frozenset[str]) -> None:
        self.rng = rng
        self.without = without

    def paths(self, kind: Type) -> list[Path]:
        return [path for path, column in COLUMNS.items() if column.type is kind]

    def literal(self, kind: Type) -> Literal:
        while True:
            value = draw(self.rng, self.rng.choice(self.paths(kind)), self.without)
            if isinstance(value, float) and not math.isfinite(value):
                continue  # the language has no such literal
            if isinstance(value, str) and "\0" in value:
                continue
            return Literal.of(value)  # type: ignore[arg-type]

    def plain(self, kind: Type) -> ValueExpr:
        """Generate a value other than a number: an attribute, a literal, least or greatest."""
        chance = self.rng.random()
        if chance < 0.03:
            return Literal.of(None)
        if chance < 0.45:
            return self.literal(kind)
        if chance < 0.9:
            return Attribute(self.rng.choice(self.paths(kind)))
        function = self.rng.choice(("least", "greatest"))
        return Call(function, tuple(self.plain(kind) for _ in range(self.rng.randint(1, 3))))

    def text(self, path: Path) -> ValueExpr:
        chance = self.rng.random()
        if chance < 0.03:
            return Literal.of(None)
        if chance < 0.1:
            return Call("greatest", (Attribute(path), Attribute(path)))
        return Attribute(path)

    def number(self, kind: Type, depth: int) -> Number:
        """Generate a number of this static type, with arithmetic nested at most `depth` deep."""
        if depth == 0:
            return self.operand(kind)
        while True:
            found = self.computed(kind, depth)
            if found is not None:
                return found

    def operand(self, kind: Type) -> Number:
        chance = self.rng.random()
        if chance < 0.03:
            return Number(Literal.of(None), None, 0, 0)
        if chance < 0.4:
            return self.number_literal(kind)
        path = self.rng.choice(self.paths(kind))
        bound = COLUMNS[path].bound
        return Number(Attribute(path), kind, bound if kind is Type.INT else 0, bound)

    def number_literal(self, kind: Type) -> Number:
        literal = self.literal(kind)
        size = abs(literal.value)  # type: ignore[arg-type]
        return Number(literal, kind, size if kind is Type.INT else 0, size)

    def computed(self, kind: Type, depth: int) -> Number | None:
        """Generate arithmetic of this type; None if the bounds rule it out."""
        rng = self.rng
        function = rng.choice(
            ("+", "-", "*", "%", "/", "neg", "abs", "least", "greatest", "sum", "avg")
        )
        if function in ("/", "avg"):
            if kind is Type.INT:
                return None
            count = 2 if function == "/" else rng.randint(1, 3)
            parts = [self.number(rng.choice((Type.INT, Type.DBL)), depth - 1) for _ in range(count)]
            return self.division(parts) if function == "/" else self.average(parts)
        if function in ("neg", "abs"):
            part = self.number(kind, depth - 1)
            expr = Negate(part.expr) if function == "neg" else Call("abs", (part.expr,))
            return self.checked(expr, [part], part.integer, part.size)
        count = 2 if function in "+-*%" else rng.randint(1, 3)
        parts = [self.number(kind, depth - 1)]
        for _ in range(count - 1):
            parts.append(self.number(rng.choice((kind, Type.INT)), depth - 1))
        rng.shuffle(parts)
        return self.combined(function, parts)

    def combined(self, function: str, parts: list[Number]) -> Number | None:
        exprs = tuple(part.expr for part in parts)
        integers, sizes = [p.integer for p in parts], [p.size for p in parts]
        if function == "*":
            integer, size = math.prod(integers), math.prod(sizes) if min(sizes) else max(sizes)
        elif function == "%":
            # fmod of finite numbers is no larger than either; of an infinite left it is NaN.
            integer, size = integers[0], sizes[0] if math.isinf(sizes[0]) else max(sizes)
        elif function in ("least", "greatest"):
            if not self.may_meet(parts):
                return None
            integer, size = max(integers), max(sizes)
        else:
            integer, size = sum(integers), sum(sizes)
        if function in "+-*%":
            return self.checked(Arithmetic(function, *exprs), parts, integer, size)
        return self.checked(Call(function, exprs), parts, integer, size)

    def checked(
        self, expr: ValueExpr, parts: list[Number], integer: float, size: float
    ) -> Number | None:
        kind = Type.DBL if any(p.type is Type.DBL for p in parts) else Type.INT
        if kind is Type.DBL and self.may_be_integer(expr, parts):
            if integer >= EXACT:
                return None
        elif kind is Type.DBL:
            integer = 0
        else:
            integer = min(integer, 2.0**63)
        if NAN in self.without and kind is Type.DBL:
            ordered = isinstance(expr, Call) and expr.function in ("least", "greatest")
            if not ordered and not size < 1e300:
                return None
        return Number(expr, kind, integer, size)

    def may_be_integer(self, expr: ValueExpr, parts: list[Number]) -> bool:
        """Whether a DBL expression may hold an INT at run time."""
        integers = [p.integer > 0 or p.type is not Type.DBL for p in parts]
        if isinstance(expr, Call) and expr.function != "abs":
            return any(integers)  # the others may be NULL, and skipped
        return all(integers)

    def division(self, parts: list[Number]) -> Number | None:
        if NAN in self.without and any(math.isinf(p.size) for p in parts):
            return None
        # A small divisor makes a large quotient; never NaN, of finite operands.
        return Number(Arithmetic("/", parts[0].expr, parts[1].expr), Type.DBL, 0, math.inf)

    def average(self, parts: list[Number]) -> Number | None:
        size = sum(p.size for p in parts)
        if NAN in self.without and not size < 1e300:
            return None
        return Number(Call("avg", tuple(p.expr for p in parts)), Type.DBL, 0, size)

    def may_meet(self, numbers: list[Number]) -> bool:
        if MIXED not in self.without or all(n.type is not Type.DBL for n in numbers):
            return True
        return all(n.integer < EXACT for n in numbers)
