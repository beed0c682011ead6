"""Exact arithmetic and comparison over columns, equivalent to `language/evaluate.py`.

An operand may be INT in one event and DBL in the next, and each operator depends on the types of
both operands, event by event. So a column of numbers carries both types, with a mask each. A result
that cannot be computed (overflow of INT, division by zero, an operand that is not a number) is
NULL: neither mask is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.values import INT_MIN

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


class NumberColumn(NamedTuple):
    """Numbers of both types, one slot per event; a value under an unset mask is meaningless.

    Attributes:
        ints: The values of type INT.
        is_int: The mask of `ints`.
        doubles: The values of type DBL.
        is_double: The mask of `doubles`.
        other: Where there is a value that is not a number: NULL for `+`, but not for SUM.
    """

    ints: Ints
    is_int: Bools
    doubles: Doubles
    is_double: Bools
    other: Bools

    def as_doubles(self) -> Doubles:
        """Return all values as DBL."""
        return np.where(self.is_int, self.ints.astype(np.float64), self.doubles)

    def present(self) -> Bools:
        """Return where there is a number."""
        return self.is_int | self.is_double


def apply(op: str, left: NumberColumn, right: NumberColumn) -> NumberColumn:
    """Compute `left op right`, with op one of + - * / %."""
    both = left.present() & right.present()
    in_ints = left.is_int & right.is_int if op != "/" else np.zeros_like(both)
    if op in "/%":
        both &= np.where(right.is_int, right.ints != 0, right.doubles != 0)
    ints, fits = _INTEGERS[op](left.ints, right.ints)
    with np.errstate(all="ignore"):
        doubles = _doubles(op, left.as_doubles(), right.as_doubles())
    nowhere = np.zeros_like(both)
    return NumberColumn(ints, both & in_ints & fits, doubles, both & ~in_ints, nowhere)


def _doubles(op: str, left: Doubles, right: Doubles) -> Doubles:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    return left / right if op == "/" else np.fmod(left, right)


# -- 64-bit integers, with overflow ---------------------------------------------------------------


def _sum(left: Ints, right: Ints) -> tuple[Ints, Bools]:
    result = left + right
    # It overflowed if both operands have the opposite sign of the result.
    return result, ((left ^ result) & (right ^ result)) >= 0


def _difference(left: Ints, right: Ints) -> tuple[Ints, Bools]:
    result = left - right
    return result, ((left ^ right) & (left ^ result)) >= 0


def _product(left: Ints, right: Ints) -> tuple[Ints, Bools]:
    result = left * right
    size = np.abs(left.astype(np.float64) * right.astype(np.float64))
    fits = size < 2.0**63
    # Two roundings and a product have a relative error below 2^-50: near the limit, compute
    # exactly.
    for i in np.flatnonzero(np.abs(size - 2.0**63) < 2.0**20):
        fits[i] = int(left[i]) * int(right[i]) == int(result[i])
    return result, fits


def _remainder(left: Ints, right: Ints) -> tuple[Ints, Bools]:
    # Division by 0 is already NULL; the least integer modulo -1 is 0 but traps on some processors.
    safe = np.where((right == 0) | (right == -1), 1, right)
    return np.fmod(left, safe), np.ones(len(left), np.bool_)


_INTEGERS: dict[str, Callable[[Ints, Ints], tuple[Ints, Bools]]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "%": _remainder,
    "/": lambda left, right: (left, left == left),
}


# -- functions ------------------------------------------------------------------------------------


def negate(n: NumberColumn) -> NumberColumn:
    """Compute `-n`."""
    fits = n.is_int & (n.ints != INT_MIN)
    return NumberColumn(-n.ints, fits, -n.doubles, n.is_double, np.zeros_like(fits))


def absolute(n: NumberColumn) -> NumberColumn:
    """Compute `abs(n)`."""
    fits = n.is_int & (n.ints != INT_MIN)
    return NumberColumn(np.abs(n.ints), fits, np.abs(n.doubles), n.is_double, np.zeros_like(fits))


def total(arguments: list[NumberColumn]) -> NumberColumn:
    """Compute `SUM` of the values that are not NULL, from left to right."""
    result = arguments[0]
    started, failed = result.present(), result.other
    for n in arguments[1:]:
        added = apply("+", result, n)
        both = started & n.present()
        # A sum that has overflowed stays NULL: `started` is set, but the result has no number.
        result = _choose(both, added, _choose(started, result, n))
        started, failed = started | n.present(), failed | n.other
    return _clear_failed(result, failed)


def average(arguments: list[NumberColumn]) -> NumberColumn:
    """Compute `AVG` of the values that are not NULL."""
    size = len(arguments[0].ints)
    result, count = np.zeros(size), np.zeros(size, np.int64)
    failed = np.zeros(size, np.bool_)
    with np.errstate(all="ignore"):
        for n in arguments:
            result = np.where(n.present(), result + n.as_doubles(), result)
            count += n.present()
            failed |= n.other
        result /= count
    nowhere = np.zeros(size, np.bool_)
    return NumberColumn(np.zeros(size, np.int64), nowhere, result, (count > 0) & ~failed, nowhere)


def extreme(sign: int, arguments: list[NumberColumn]) -> NumberColumn:
    """Compute `least` (-1) or `greatest` (+1) of numbers and NULL; the first of equal ones."""
    best = arguments[0]
    for n in arguments[1:]:
        better = n.present() & (~best.present() | (order(n, best) * sign > 0))
        best = _choose(better, n, best)
    return best


def order(left: NumberColumn, right: NumberColumn) -> NDArray[np.int8]:
    """Return -1, 0 or 1 as left is less, equal or greater, compared exactly; NaN is greatest."""
    mixed = np.where(
        left.is_int,
        _int_to_double(left.ints, right.doubles),
        -_int_to_double(right.ints, left.doubles),
    )
    ints = _sign(left.ints, right.ints)
    nan_left, nan_right = np.isnan(left.doubles), np.isnan(right.doubles)
    doubles = np.where(
        nan_left | nan_right,
        nan_left.astype(np.int8) - nan_right.astype(np.int8),
        _sign(left.doubles, right.doubles),
    )
    result: NDArray[np.int8] = np.where(
        left.is_int & right.is_int, ints, np.where(left.is_double & right.is_double, doubles, mixed)
    )
    return result


def _int_to_double(ints: Ints, doubles: Doubles) -> NDArray[np.int8]:
    floor = np.floor(doubles)
    inside = (floor >= -(2.0**63)) & (floor < 2.0**63)
    whole = np.where(inside, floor, 0.0).astype(np.int64)
    sign = _sign(ints, whole)
    # Equal to the floor, so less than a double with a fraction.
    sign = np.where((sign == 0) & (doubles > floor), np.int8(-1), sign)
    outside = np.where(doubles < 0, np.int8(1), np.int8(-1))  # NaN: the greatest
    result: NDArray[np.int8] = np.where(inside, sign, outside)
    return result


def _sign(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int8]:
    above, below = np.greater(left, right), np.less(left, right)
    sign: NDArray[np.int8] = above.astype(np.int8) - below.astype(np.int8)
    return sign


def _choose(where: Bools, this: NumberColumn, that: NumberColumn) -> NumberColumn:
    return NumberColumn(*(np.where(where, a, b) for a, b in zip(this, that, strict=True)))


def _clear_failed(n: NumberColumn, failed: Bools) -> NumberColumn:
    nowhere = np.zeros_like(failed)
    return n._replace(is_int=n.is_int & ~failed, is_double=n.is_double & ~failed, other=nowhere)
