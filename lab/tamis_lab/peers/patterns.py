"""Selectors as patterns in JSON, the language of Event Ruler and of quamina.

A pattern names fields and, for each, values or tests of which one must hold; all fields must hold.
A missing field matches nothing but `exists: false`. A selector with OR becomes several patterns
under one name.
"""

from __future__ import annotations

import json

from tamis.errors import UnsupportedExpression
from tamis.language.expr import (
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    StringTest,
)
from tamis.values import Type
from tamis_lab.peers.forms import conjunctions, push_not_to_leaves, text_test
from tamis_lab.peers.peer import Kinds, Texts, attribute_kind

Tests = list[object]
# Ruler compares numbers as text with a fixed number of digits.
LARGEST = 5_000_000_000


class Patterns:
    """What both languages have in common; `quamina.py` restricts it.

    Attributes:
        peer: The peer, for errors.
    """

    peer = ""

    def __init__(self, kinds: Kinds) -> None:
        """Translate for these attributes."""
        self.kinds = kinds

    @classmethod
    def translate(cls, expr: BoolExpr, kinds: Kinds) -> Texts:
        """Translate a selector to patterns, one of which must match.

        Raises:
            UnsupportedExpression: The language cannot express it.
        """
        writer = cls(kinds)
        found = conjunctions(push_not_to_leaves(expr), cls.peer)
        return [json.dumps(writer.pattern(leaves)) for leaves in found]

    def pattern(self, leaves: list[BoolExpr]) -> dict[str, Tests]:
        """Return one pattern; two bounds of the same field become one test."""
        fields: dict[str, Tests] = {}
        bounds: dict[str, list[object]] = {}
        for leaf in leaves:
            name, tests = self.field(leaf)
            bound = _bound(tests)
            before = bounds.get(name, [])
            if bound and len(before) == 2 and _is_lower(before) != _is_lower(bound):
                # The language requires the lower bound first.
                bounds[name] = before + bound if _is_lower(before) else bound + before
                fields[name] = self.between_bounds(bounds[name])
            elif name in fields:
                raise self.refuse(f"two tests of {name}")
            else:
                fields[name] = tests
                if bound:
                    bounds[name] = bound
        return fields

    def between_bounds(self, bounds: list[object]) -> Tests:
        """Return a test with a lower and an upper bound."""
        if bounds[1] >= bounds[3]:  # type: ignore[operator]
            raise self.refuse("a range of one value, or an empty one")
        return [{"numeric": bounds}]

    def refuse(self, what: object) -> UnsupportedExpression:
        """Return the error to raise."""
        return UnsupportedExpression(str(what), self.peer)

    def field(self, leaf: BoolExpr) -> tuple[str, Tests]:
        """Return the field that a leaf tests, and the tests of which one must hold."""
        negated = isinstance(leaf, Not)
        e: BoolExpr = leaf.operand if isinstance(leaf, Not) else leaf
        if isinstance(e, Like):
            e = text_test(e, self.peer)
        if isinstance(e, IsNull):
            return self.name(e.operand), [{"exists": negated}]
        if isinstance(e, Attribute):
            return self.name(e, Type.BOOL), [not negated]
        if isinstance(e, In):
            values = [self.constant(item, e.operand) for item in e.items]
            return self.name(e.operand), self.other_than(values) if negated else values
        if isinstance(e, Comparison) and not negated:
            return self.name(e.left), self.comparison(e)
        if isinstance(e, Between) and not negated:
            low, high = (self.number(v, e.operand) for v in (e.low, e.high))
            return self.name(e.operand), self.between(low, high)
        if isinstance(e, StringTest) and not negated and isinstance(e.part, Literal):
            assert isinstance(e.part.value, str)
            return self.name(e.text, Type.STR), [self.text_test(e.function, e.part.value)]
        raise self.refuse(leaf)

    def name(self, e: Expr, wanted: Type | None = None) -> str:
        """Return the name of a field."""
        if not isinstance(e, Attribute):
            raise self.refuse(e)
        name, kind = attribute_kind(e, self.kinds, self.peer)
        if wanted and kind.type is not wanted:
            raise self.refuse(f"{name}, which is not {wanted}")
        return name

    def constant(self, e: Expr, operand: Expr) -> object:
        """Return a constant, with the type of the operand it is compared with."""
        self.name(operand)
        assert isinstance(operand, Attribute)
        kind = attribute_kind(operand, self.kinds, self.peer)[1].type
        if not isinstance(e, Literal) or e.type is not kind:
            whole = isinstance(e, Literal) and e.type is Type.INT and kind is Type.DBL
            if not whole:
                raise self.refuse(f"a comparison of {operand} with {e}")
        assert isinstance(e, Literal)
        value = float(e.value) if kind is Type.DBL else e.value  # type: ignore[arg-type]
        if isinstance(value, int | float) and not abs(value) < LARGEST:
            raise self.refuse(f"the number {value}")
        return value

    def number(self, e: Expr, operand: Expr) -> object:
        """Return a numeric constant."""
        value = self.constant(e, operand)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(f"the order of {operand}")
        return value

    def comparison(self, e: Comparison) -> Tests:
        """Translate equality to a value, order to a numeric test."""
        if e.op == "=":
            return [self.constant(e.right, e.left)]
        if e.op == "<>":
            return self.other_than([self.constant(e.right, e.left)])
        return self.bound_tests(e.op, self.number(e.right, e.left))

    def bound_tests(self, op: str, bound: object) -> Tests:
        """Return a test for one bound."""
        return [{"numeric": [op, bound]}]

    def between(self, low: object, high: object) -> Tests:
        """Return a test for two bounds."""
        if low == high:
            return [low]
        return self.between_bounds([">=", low, "<=", high])

    def other_than(self, values: list[object]) -> Tests:
        """Return a test for any value except these."""
        if any(isinstance(value, bool) for value in values):
            raise self.refuse("<> of a BOOL")
        return [{"anything-but": values}]

    def text_test(self, function: str, part: str) -> object:
        """Return a test of a text."""
        if not part:
            raise self.refuse(f"{function} of an empty text")
        if function == "contains":
            escaped = part.replace("\\", "\\\\").replace("*", "\\*")
            return {"wildcard": f"*{escaped}*"}
        return {"prefix" if function == "startswith" else "suffix": part}


def _bound(tests: Tests) -> list[object]:
    """Return the bound of a test that has a single one; else an empty list."""
    first = tests[0]
    found = first.get("numeric") if isinstance(first, dict) else None
    return found if found and len(found) == 2 else []


def _is_lower(bound: list[object]) -> bool:
    return bound[0] in (">", ">=")
