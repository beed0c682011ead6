"""Trees to text: parse(to_text(e)) == e for every tree that the parser produces."""

from __future__ import annotations

from collections.abc import Callable

from tamis.language.expr import (
    And,
    Arithmetic,
    ArrayContains,
    AtLeast,
    Attribute,
    Between,
    Call,
    Comparison,
    Custom,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    RLike,
    Sequence,
    StringTest,
    Xor,
)
from tamis.language.parser import MICROSECONDS
from tamis.paths import path_text
from tamis.values import Timestamp

# Precedence levels: an operand of a lower level than its parent requires gets parentheses. A
# negated test (`a NOT IN …`) has the level of a test.
_OR, _XOR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _ATOM = range(1, 9)


def to_text(expr: Expr) -> str:
    """Return an expression as selector text."""
    return _WRITERS[type(expr)](expr)


def literal_text(value: object) -> str:
    """Return a constant as selector text."""
    return _CONSTANTS[type(value)](value)


_CONSTANTS: dict[type, Callable[..., str]] = {
    int: repr,
    float: repr,
    str: lambda value: _quote(value, "'"),
    bool: lambda value: "TRUE" if value else "FALSE",
    type(None): lambda _: "NULL",
    Timestamp: lambda value: f"TIMESTAMP '{value}'",
}


def _quote(text: str, quote: str) -> str:
    return quote + text.replace(quote, quote * 2) + quote


def _operand_text(expr: Expr, level: int) -> str:
    text = to_text(expr)
    return f"({text})" if _level(expr) < level else text


def _level(expr: Expr) -> int:
    if isinstance(expr, Arithmetic):
        return _SUM if expr.op in "+-" else _PRODUCT
    if isinstance(expr, Not) and _negated_test(expr):
        return _TEST
    return _LEVELS.get(type(expr), _ATOM)


_LEVELS: dict[type, int] = {
    Or: _OR, Xor: _XOR, And: _AND, Not: _NOT,
    Comparison: _TEST, Between: _TEST, In: _TEST, Like: _TEST, RLike: _TEST, IsNull: _TEST,
}  # fmt: skip


def _junction(word: str, level: int) -> Callable[..., str]:
    # level + 1: a chain inside a chain of the same kind had parentheses.
    return lambda e: f" {word} ".join(_operand_text(operand, level + 1) for operand in e.operands)


def _negated_test(e: Not) -> str:
    inner = e.operand
    if isinstance(inner, IsNull):
        return f"{_operand_text(inner.operand, _SUM)} IS NOT NULL"
    if isinstance(inner, Between | In | Like | RLike):
        return _test(inner, "NOT ")
    return ""


def _test(e: Between | In | Like | RLike, negation: str = "") -> str:
    operand = _operand_text(e.operand, _SUM)
    if isinstance(e, Between):
        low, high = _operand_text(e.low, _SUM), _operand_text(e.high, _SUM)
        return f"{operand} {negation}BETWEEN {low} AND {high}"
    if isinstance(e, In):
        return f"{operand} {negation}IN ({', '.join(to_text(item) for item in e.items)})"
    pattern = _quote(e.pattern, "'")
    if isinstance(e, RLike):
        return f"{operand} {negation}RLIKE {pattern}"
    word = "ILIKE" if e.ignore_case else "LIKE"
    escape = "" if e.escape == "\\" else f" ESCAPE {_quote(e.escape, chr(39))}"
    return f"{operand} {negation}{word} {pattern}{escape}"


def _arithmetic(e: Arithmetic) -> str:
    # Left-associative: a right operand of the same level had parentheses.
    level = _level(e)
    return f"{_operand_text(e.left, level)} {e.op} {_operand_text(e.right, level + 1)}"


def _negate(e: Negate) -> str:
    # `-5` is a literal, `-(5)` a negation, and `--` begins a comment.
    inner = to_text(e.operand)
    if isinstance(e.operand, Negate):
        return f"- {inner}"
    return f"-{inner}" if isinstance(e.operand, Attribute | Call | Custom) else f"-({inner})"


def _sequence(e: Sequence) -> str:
    text = "FIRST " + " THEN ".join(to_text(step) for step in e.steps)
    if _needs_parentheses(to_text(e.steps[0])):
        text = "FIRST (" + " THEN ".join([to_text(e.steps[0]) + ")", *map(to_text, e.steps[1:])])
    if e.within is not None:
        text += f" WITHIN {duration_text(e.within)}"
    if e.per is not None:
        text += f" PER {to_text(e.per)}"
    return text


def duration_text(micros: int) -> str:
    """Return a duration as written after WITHIN, in the largest unit that divides it."""
    unit, size = next((u, s) for u, s in MICROSECONDS.items() if micros % s == 0)
    amount = micros // size
    return f"{amount} {unit}{'S' * (amount != 1)}"


def _needs_parentheses(step: str) -> bool:
    # `FIRST -x > 1` would be parsed as `first - x > 1`.
    return step.startswith("-")


_WRITERS: dict[type, Callable[..., str]] = {
    Attribute: lambda e: path_text(e.path),
    Literal: lambda e: literal_text(e.value),
    Arithmetic: _arithmetic,
    Negate: _negate,
    Call: lambda e: f"{e.function}({', '.join(map(to_text, e.arguments))})",
    Custom: lambda e: f"{e.name}({', '.join(map(to_text, e.arguments))})",
    Comparison: lambda e: f"{_operand_text(e.left, _SUM)} {e.op} {_operand_text(e.right, _SUM)}",
    Between: _test,
    In: _test,
    Like: _test,
    RLike: _test,
    StringTest: lambda e: f"{e.function}({to_text(e.text)}, {to_text(e.part)})",
    ArrayContains: lambda e: f"array_contains({to_text(e.array)}, {to_text(e.item)})",
    IsNull: lambda e: f"{_operand_text(e.operand, _SUM)} IS NULL",
    And: _junction("AND", _AND),
    Or: _junction("OR", _OR),
    Xor: _junction("XOR", _XOR),
    Not: lambda e: _negated_test(e) or f"NOT {_operand_text(e.operand, _NOT)}",
    AtLeast: lambda e: f"AT LEAST {e.k} OF ({', '.join(map(to_text, e.operands))})",
    Sequence: _sequence,
}
