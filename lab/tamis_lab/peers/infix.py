"""Translate selectors to languages with similar syntax: a base class, and SQL on top of it."""

from __future__ import annotations

import math
from functools import reduce

from tamis.errors import UnsupportedExpression
from tamis.language.expr import (
    And,
    Arithmetic,
    AtLeast,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    StringTest,
    ValueExpr,
    Xor,
)
from tamis.values import Type
from tamis_lab.peers.forms import push_not_to_leaves
from tamis_lab.peers.peer import Kinds, Texts, attribute_kind

EXACT = 2**53  # up to this an INT is exact as a DBL
NUMBERS = (Type.INT, Type.DBL)


class Infix:
    """Writes one selector. NOT is pushed to the leaves first; subclasses override the details.

    Attributes:
        peer: The peer, for errors.
        conjunction, disjunction, negation: The keywords.
        operators: Its comparison operators, by ours.
    """

    peer = ""
    conjunction, disjunction, negation = "AND", "OR", "NOT"
    operators = {op: op for op in ("=", "<>", "<", "<=", ">", ">=")}  # noqa: RUF012

    def __init__(self, kinds: Kinds) -> None:
        """Translate for these attributes."""
        self.kinds = kinds

    @classmethod
    def translate(cls, expr: BoolExpr, kinds: Kinds) -> Texts:
        """Translate a selector to this language.

        Raises:
            UnsupportedExpression: The language cannot express it with the same meaning.
        """
        return [cls(kinds).boolean(push_not_to_leaves(expr))]

    def refuse(self, what: object) -> UnsupportedExpression:
        """Return the error to raise."""
        return UnsupportedExpression(str(what), self.peer)

    # -- structure --------------------------------------------------------------------------------

    def boolean(self, e: BoolExpr) -> str:
        """Write a Boolean expression; it is true exactly where the selector is."""
        if isinstance(e, And):
            return f" {self.conjunction} ".join(map(self.parenthesize, e.operands))
        if isinstance(e, Or):
            return f" {self.disjunction} ".join(map(self.parenthesize, e.operands))
        if isinstance(e, Xor):
            return self.xor(e)
        if isinstance(e, AtLeast):
            return self.at_least(e)
        if isinstance(e, Not):
            return self.negate(e.operand)
        return self.leaf(e)

    def parenthesize(self, e: BoolExpr) -> str:
        """Write the same, in parentheses where precedence requires them."""
        text = self.boolean(e)
        return f"({text})" if isinstance(e, (And, Or, Not, Xor, AtLeast, Between)) else text

    def negate(self, leaf: BoolExpr) -> str:
        """Write the negation of a leaf."""
        return f"{self.negation} ({self.leaf(leaf)})"

    def xor(self, e: Xor) -> str:
        """Unsupported unless a subclass overrides it."""
        raise self.refuse("XOR")

    def at_least(self, e: AtLeast) -> str:
        """Unsupported unless a subclass overrides it."""
        raise self.refuse("AT LEAST")

    # -- leaves -----------------------------------------------------------------------------------

    def leaf(self, e: BoolExpr) -> str:
        """Write a predicate."""
        if isinstance(e, Comparison):
            self.check_comparable(e.left, e.right)
            return self.comparison(e.op, e.left, e.right)
        if isinstance(e, Between):
            self.check_comparable(e.operand, e.low, e.high)
            return self.between(e)
        if isinstance(e, In):
            self.check_comparable(e.operand, *e.items)
            return self.membership(e)
        if isinstance(e, IsNull) and isinstance(e.operand, Attribute):
            return self.is_null(self.value(e.operand))
        if isinstance(e, StringTest):
            if {self.type_of(e.text), self.type_of(e.part)} != {Type.STR}:
                raise self.refuse(f"{e.function} of a value that is not a text")
            return self.text_test(e)
        if isinstance(e, Like):
            if self.type_of(e.operand) is not Type.STR:
                raise self.refuse("LIKE of a value that is not a text")
            return self.like(e)
        if isinstance(e, Attribute) and self.type_of(e) is Type.BOOL:
            return self.value(e)
        raise self.refuse(e)

    def comparison(self, op: str, left: ValueExpr, right: ValueExpr) -> str:
        """Write `left op right`."""
        return f"{self.value(left)} {self.operators[op]} {self.value(right)}"

    def between(self, e: Between) -> str:
        """Write `operand BETWEEN low AND high`."""
        operand, low, high = map(self.value, (e.operand, e.low, e.high))
        return f"{operand} BETWEEN {low} AND {high}"

    def membership(self, e: In) -> str:
        """Write `operand IN (items)`."""
        return f"{self.value(e.operand)} IN ({', '.join(map(self.literal, e.items))})"

    def is_null(self, operand: str) -> str:
        """Write `operand IS NULL`."""
        return f"{operand} IS NULL"

    def text_test(self, e: StringTest) -> str:
        """Unsupported unless a subclass overrides it."""
        raise self.refuse(e.function)

    def like(self, e: Like) -> str:
        """Unsupported unless a subclass overrides it."""
        raise self.refuse("LIKE")

    # -- values -----------------------------------------------------------------------------------

    def check_comparable(self, first: ValueExpr, *others: ValueExpr) -> None:
        """Reject what cannot be compared exactly: languages differ in that."""
        types = {self.type_of(value) for value in (first, *others)}
        if len(types) > 1 and not types <= set(NUMBERS):
            raise self.refuse("a comparison of different types")
        constants = [v.value for v in (first, *others) if isinstance(v, Literal)]
        if len(types) > 1 and len(constants) < len(others):
            raise self.refuse("a comparison of an INT with a DBL attribute")
        for value in constants:
            if isinstance(value, int | float) and not abs(value) <= EXACT:
                raise self.refuse(f"the number {value}")

    def type_of(self, e: ValueExpr) -> Type:
        """Return the type of a value."""
        if isinstance(e, Attribute):
            return attribute_kind(e, self.kinds, self.peer)[1].type
        if isinstance(e, Literal) and e.type in (*NUMBERS, Type.STR, Type.BOOL):
            assert e.type is not None
            return e.type
        if isinstance(e, Arithmetic):
            types = {self.type_of(e.left), self.type_of(e.right)}
            if types <= set(NUMBERS):
                return Type.DBL if e.op == "/" or Type.DBL in types else Type.INT
        raise self.refuse(e)

    def nullable(self, *values: ValueExpr) -> bool:
        """Return whether one of the values may be missing."""
        return any(
            attribute_kind(v, self.kinds, self.peer)[1].nullable
            for v in values
            if isinstance(v, Attribute)
        )

    def value(self, e: ValueExpr) -> str:
        """Write a value."""
        if isinstance(e, Attribute):
            return attribute_kind(e, self.kinds, self.peer)[0]
        if isinstance(e, Arithmetic):
            return self.arithmetic(e)
        if isinstance(e, Literal):
            return self.literal(e)
        raise self.refuse(e)

    def arithmetic(self, e: Arithmetic) -> str:
        """Unsupported unless a subclass overrides it."""
        raise self.refuse("arithmetic")

    def literal(self, e: Literal) -> str:
        """Write a constant."""
        if isinstance(e.value, bool):
            return self.truth(e.value)
        if isinstance(e.value, str):
            return self.text(e.value)
        if isinstance(e.value, float) and not math.isfinite(e.value):
            raise self.refuse(f"the number {e.value}")
        if isinstance(e.value, int | float):
            return self.number(e.value)
        raise self.refuse(e)

    def truth(self, value: bool) -> str:
        """Write TRUE or FALSE."""
        return "TRUE" if value else "FALSE"

    def number(self, value: int | float) -> str:
        """Write a number."""
        return repr(value)

    def text(self, value: str) -> str:
        """Write a quoted text."""
        return "'" + value.replace("'", "''") + "'"


class Sql(Infix):
    """What DuckDB, Polars and Spark have in common: all of them have a third truth value.

    Integer overflow is not handled: no workload comes near it.
    """

    def xor(self, e: Xor) -> str:
        """Write `<>` of Booleans, which is unknown if an operand is."""
        if any(isinstance(below, AtLeast) for below in e.operands):
            raise self.refuse("AT LEAST within XOR")
        first, *others = (f"({self.boolean(operand)})" for operand in e.operands)
        return reduce(lambda left, right: f"({left} <> {right})", others, first)

    def at_least(self, e: AtLeast) -> str:
        """Count the operands that are certainly true."""
        ones = (f"CASE WHEN {self.boolean(o)} THEN 1 ELSE 0 END" for o in e.operands)
        return f"({' + '.join(ones)}) >= {e.k}"

    def arithmetic(self, e: Arithmetic) -> str:
        """Division by zero is NULL; `%` differs between all of them."""
        if e.op == "%":
            raise self.refuse("%")
        left, right = self.value(e.left), self.value(e.right)
        if e.op == "/":
            left, right = self.double(left), f"NULLIF({self.double(right)}, 0)"
        return f"({left} {e.op} {right})"

    def double(self, operand: str) -> str:
        """Convert to DBL."""
        return f"CAST({operand} AS DOUBLE)"
