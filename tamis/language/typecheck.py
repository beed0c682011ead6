"""Type check: refuse selectors with tests that a schema makes undecidable for every event.

Without a schema every attribute may hold any type, and a test on the wrong type is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.errors import SelectorTypeError
from tamis.language.expr import (
    STRUCTURE,
    Arithmetic,
    ArrayContains,
    Attribute,
    Between,
    BoolExpr,
    Comparison,
    Custom,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    RLike,
    Selector,
    Sequence,
    StringTest,
    ValueExpr,
    children,
)
from tamis.language.lexer import spelling_hint
from tamis.paths import path_text
from tamis.schema import Schema
from tamis.values import Type

_NUMBERS = (Type.INT, Type.DBL)
_LISTS = {Type.INT_LIST: Type.INT, Type.STR_LIST: Type.STR}


def check(selector: Selector, schema: Schema, text: str) -> None:
    """Check a selector against a schema.

    Raises:
        SelectorTypeError: It names an unknown attribute, or has a test that is unknown for every
            event.
    """
    _Checker(schema, text).boolean(selector)


class _Checker:
    """Computes the type of each value expression; None stands for any type."""

    def __init__(self, schema: Schema, text: str) -> None:
        self.schema = schema
        self.text = text

    def boolean(self, expr: BoolExpr | Sequence) -> None:
        if isinstance(expr, Sequence):
            for step in expr.steps:
                self.boolean(step)
            if expr.per:
                self.value(expr.per)
        elif isinstance(expr, STRUCTURE):
            for operand in children(expr):
                self.boolean(operand)  # type: ignore[arg-type]
        else:
            _TESTS[type(expr)](self, expr)

    # -- tests ------------------------------------------------------------------------------------

    def bare_boolean(self, expr: Attribute) -> None:
        kind = self.value(expr)
        if kind not in (None, Type.BOOL):
            raise self.error(
                f"{expr} is {_name(kind)}, not BOOL", expr, "compare it with something"
            )

    def custom(self, expr: Custom) -> None:
        self.value(expr)

    def comparison(self, expr: Comparison) -> None:
        for operand in (expr.left, expr.right):
            if isinstance(operand, Literal) and operand.value is None:
                raise self.error("a comparison with NULL is never true", operand, "write IS NULL")
        self.comparable_types(expr.left, expr.right)

    def between(self, expr: Between) -> None:
        self.comparable_types(expr.operand, expr.low, expr.high)

    def membership(self, expr: In) -> None:
        self.comparable_types(expr.operand, *expr.items)

    def comparable_types(self, left: ValueExpr, *others: ValueExpr) -> list[Type | None]:
        """Return the types of values, all of which must be comparable with the first.

        Each value is checked once.
        """
        types = [self.orderable_type(operand) for operand in (left, *others)]
        first = types[0]
        for other, kind in zip(others, types[1:], strict=True):
            if first and kind and _family(first) is not _family(kind):
                raise self.error(
                    f"{_name(first)} and {_name(kind)} never compare",
                    other,
                    _fix_hint(first, other, kind) or _fix_hint(kind, left, first),
                )
        return types

    def orderable_type(self, operand: ValueExpr) -> Type | None:
        kind = self.value(operand)
        if kind in _LISTS:
            raise self.error(f"{operand} is a list", operand, "use array_contains(list, x)")
        return kind

    def text_test(self, expr: Like | RLike) -> None:
        self.require_type(expr.operand, (Type.STR,), "text")

    def string_test(self, expr: StringTest) -> None:
        self.require_type(expr.text, (Type.STR,), "text")
        self.require_type(expr.part, (Type.STR,), "text")

    def array_contains(self, expr: ArrayContains) -> None:
        array = self.require_type(expr.array, tuple(_LISTS), "a list")
        item = self.value(expr.item)
        if array and item and _family(_LISTS[array]) is not _family(item):
            raise self.error(
                f"a list of {_LISTS[array].value} cannot hold {_name(item)}", expr.item, ""
            )

    def null_test(self, expr: IsNull) -> None:
        self.value(expr.operand)

    # -- values -----------------------------------------------------------------------------------

    def value(self, expr: ValueExpr) -> Type | None:
        if isinstance(expr, Attribute):
            return self.attribute(expr)
        if isinstance(expr, Literal):
            return expr.type
        if isinstance(expr, Negate):
            return self.require_type(expr.operand, _NUMBERS, "a number")
        if isinstance(expr, Arithmetic):
            left = self.require_type(expr.left, _NUMBERS, "a number")
            right = self.require_type(expr.right, _NUMBERS, "a number")
            return Type.DBL if expr.op == "/" else _common_type([left, right])
        if isinstance(expr, Custom):
            for argument in expr.arguments:
                self.value(argument)
            return None
        if expr.function in ("least", "greatest"):
            return _common_type(self.comparable_types(*expr.arguments))
        kinds = [self.require_type(argument, _NUMBERS, "a number") for argument in expr.arguments]
        return Type.DBL if expr.function == "avg" else _common_type(kinds)

    def attribute(self, expr: Attribute) -> Type | None:
        declared = self.schema.types.get(expr.path)
        if declared or self.schema.open:
            return declared
        name = path_text(expr.path)
        within = [path_text(p) for p in self.schema.types if p[: len(expr.path)] == expr.path]
        if within:
            raise self.error(f"{name} is an object", expr, f"name a field of it, e.g. {within[0]}")
        known = [path_text(path) for path in self.schema.types]
        hint = spelling_hint(name, known) or f"known attributes: {', '.join(known[:12])}"
        raise self.error(f"unknown attribute {name}", expr, hint)

    def require_type(self, expr: ValueExpr, kinds: tuple[Type, ...], what: str) -> Type | None:
        kind = self.value(expr)
        if kind is None or kind in kinds:
            return kind
        raise self.error(f"{expr} is {_name(kind)}; expected {what}", expr, "")

    def error(self, reason: str, at: Expr, hint: str) -> SelectorTypeError:
        return SelectorTypeError(reason, self.text, at.start, at.end, hint)


_TESTS: dict[type, Callable[..., None]] = {
    Attribute: _Checker.bare_boolean,
    Literal: lambda checker, expr: None,
    Custom: _Checker.custom,
    Comparison: _Checker.comparison,
    Between: _Checker.between,
    In: _Checker.membership,
    Like: _Checker.text_test,
    RLike: _Checker.text_test,
    StringTest: _Checker.string_test,
    ArrayContains: _Checker.array_contains,
    IsNull: _Checker.null_test,
}


def _family(kind: Type) -> Type:
    return Type.DBL if kind is Type.INT else kind


def _common_type(kinds: list[Type | None]) -> Type | None:
    if None in kinds:
        return None
    return Type.DBL if Type.DBL in kinds else kinds[0]


def _name(kind: Type | None) -> str:
    return kind.value if kind else "any type"


def _fix_hint(expected: Type, operand: ValueExpr, kind: Type) -> str:
    if not isinstance(operand, Literal):
        return ""
    if expected is Type.STR and kind is not Type.TIMESTAMP:
        return f"write text in quotes: '{operand}'"
    if kind is Type.STR and expected is Type.TIMESTAMP:
        return f"write TIMESTAMP {operand}"
    if kind is Type.STR and expected in _NUMBERS:
        return "write a number without quotes"
    return ""
