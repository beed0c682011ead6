"""Guess attribute values that give a derived value; the caller must verify the guess.

If `a + b` should be 9 and b is known to be 2, a is 7; with neither known, one is assumed.
"""

from __future__ import annotations

from collections.abc import Callable

from tamis.language.evaluate import apply
from tamis.language.expr import (
    Arithmetic,
    ArrayContains,
    Attribute,
    Call,
    Literal,
    Negate,
    Predicate,
    StringTest,
    ValueExpr,
    children,
)
from tamis.paths import Path
from tamis.values import Timestamp, Value

Known = dict[Path, Value]


def invert(term: ValueExpr, target: Value, known: Known) -> None:
    """Add values to `known` so that the term may have the target as its value."""
    if isinstance(term, Attribute):
        if known.get(term.path) is None:
            known[term.path] = target
    elif isinstance(term, Negate):
        invert(term.operand, apply("-", 0, target), known)
    elif isinstance(term, Arithmetic):
        _INVERTED[term.op](term.left, term.right, target, known)
    elif isinstance(term, Call):
        _invert_call(term, target, known)


def invert_order(left: ValueExpr, right: ValueExpr, order: int | None, known: Known) -> None:
    """Add values to `known` so that two terms may compare with this order."""
    if order is None:
        return
    first = guess(left, known)
    second = guess(right, known)
    if first is None and second is None:
        invert(right, 0, known)
        second = guess(right, known)
    if first is None:
        invert(left, _adjacent_value(second, order), known)
    else:
        invert(right, _adjacent_value(first, -order), known)


def invert_test(test: Predicate, known: Known) -> None:
    """Add values to `known` so that a test of several terms may be true: often if all are equal."""
    terms = [part for part in children(test) if not isinstance(part, Literal)]
    values = [guess(term, known) for term in terms]  # type: ignore[arg-type]
    value = next((v for v in values if v is not None), "a" if isinstance(test, StringTest) else 0)
    for term in terms:
        if isinstance(test, ArrayContains) and term == test.array:
            invert(test.array, [value], known)  # type: ignore[arg-type]
        else:
            invert(term, value, known)  # type: ignore[arg-type]


def guess(term: ValueExpr, known: Known) -> Value:
    """Return the value of a term if it follows from `known`; else None."""
    if isinstance(term, Literal):
        return term.value
    if isinstance(term, Attribute):
        return known.get(term.path)
    if isinstance(term, Negate):
        return apply("-", 0, guess(term.operand, known))
    if isinstance(term, Arithmetic):
        return apply(term.op, guess(term.left, known), guess(term.right, known))
    return None


def _adjacent_value(value: Value, order: int) -> Value:
    """Return a value that is less than, equal to or greater than another."""
    if order == 0 or value is None:
        return value
    if isinstance(value, bool):
        return order > 0
    if isinstance(value, str):
        return value + "a" if order > 0 else value[:-1]
    if isinstance(value, Timestamp):
        return Timestamp(value.micros + order * 1_000_000)
    return apply("+", value, order)


def _assume(term: ValueExpr, value: Value, known: Known) -> Value:
    """Return the value of a term; if it is unknown, assume the given value."""
    found = guess(term, known)
    if found is None:
        invert(term, value, known)
        found = guess(term, known)
    return found if found is not None else value


def _invert_sum(left: ValueExpr, right: ValueExpr, target: Value, known: Known) -> None:
    if guess(left, known) is not None:
        left, right = right, left
    invert(left, apply("-", target, _assume(right, 0, known)), known)


def _invert_difference(left: ValueExpr, right: ValueExpr, target: Value, known: Known) -> None:
    first = guess(left, known)
    if first is not None:
        invert(right, apply("-", first, target), known)
    else:
        invert(left, apply("+", target, _assume(right, 0, known)), known)


def _invert_product(left: ValueExpr, right: ValueExpr, target: Value, known: Known) -> None:
    if guess(left, known) is not None:
        left, right = right, left
    factor = _assume(right, 1, known)
    quotient = apply("/", target, factor)
    if isinstance(quotient, float) and quotient.is_integer() and abs(quotient) < 2**53:
        quotient = int(quotient)
    invert(left, quotient, known)


def _invert_quotient(left: ValueExpr, right: ValueExpr, target: Value, known: Known) -> None:
    first = guess(left, known)
    if first is not None:
        invert(right, apply("/", first, target), known)
    else:
        invert(left, apply("*", target, _assume(right, 1, known)), known)


def _invert_remainder(left: ValueExpr, right: ValueExpr, target: Value, known: Known) -> None:
    if guess(right, known) is None:
        invert(right, apply("+", target, 1), known)
    invert(left, target, known)


_INVERTED: dict[str, Callable[[ValueExpr, ValueExpr, Value, Known], None]] = {
    "+": _invert_sum,
    "-": _invert_difference,
    "*": _invert_product,
    "/": _invert_quotient,
    "%": _invert_remainder,
}


def _invert_call(term: Call, target: Value, known: Known) -> None:
    if term.function in ("least", "greatest"):
        for argument in term.arguments:
            invert(argument, target, known)
    elif term.function == "sum":
        unknown = [each for each in term.arguments if guess(each, known) is None]
        rest = target
        for argument in term.arguments:
            if not unknown or argument is not unknown[0]:
                rest = apply("-", rest, _assume(argument, 0, known))
        if unknown:
            invert(unknown[0], rest, known)
    else:  # abs, avg: equal arguments give the target
        for argument in term.arguments:
            invert(argument, target, known)
