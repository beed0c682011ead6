"""Comparisons of one operand with constants are merged into as few intervals as possible.

`a > 1 AND a > 5` is `a > 5`; `a >= 1 AND a <= 5` is `a BETWEEN 1 AND 5`; `a < 3 OR a < 5` is
`a < 5`; `a IN (1, 7) AND a > 5` is `a = 7`. This is exact as long as all the constants belong to
one family (numbers, texts, timestamps): then all tests are known for the values of the family, and
unknown for all other values.

An empty intersection stays as it is. It is false where the operand has a value of the family and
unknown elsewhere, and there is no shorter way to write that. The same holds for a union that covers
all values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tamis.language.evaluate import compare
from tamis.language.expr import (
    And,
    Between,
    BoolExpr,
    Comparison,
    In,
    Literal,
    Or,
    ValueExpr,
    map_structure,
    with_operands,
)
from tamis.values import Type

_FAMILIES = {
    Type.INT: "number",
    Type.DBL: "number",
    Type.STR: "text",
    Type.TIMESTAMP: "timestamp",
}


class _Interval(NamedTuple):
    """An interval from `low` to `high`; None is unbounded."""

    low: Literal | None
    low_closed: bool
    high: Literal | None
    high_closed: bool


def merge_ranges(expr: BoolExpr) -> BoolExpr:
    """Merge tests of one operand against constants, under AND and under OR."""
    expr = map_structure(expr, merge_ranges)
    if not isinstance(expr, (And, Or)) or not _repeats(expr):
        return expr
    groups: dict[tuple[ValueExpr, str], list[BoolExpr]] = {}
    others: list[BoolExpr] = []
    for operand in expr.operands:
        key = _key(operand)
        if key is None:
            others.append(operand)
        else:
            groups.setdefault(key, []).append(operand)
    operands = list(others)
    for (value, _), tests in groups.items():
        operands.extend(_merge_tests(value, tests, expr) if len(tests) > 1 else tests)
    if len(operands) == 1:
        return operands[0]
    if set(operands) == set(expr.operands):
        return expr
    return with_operands(expr, tuple(operands))


def _repeats(expr: And | Or) -> bool:
    keys = [key for operand in expr.operands if (key := _key(operand))]
    return len(set(keys)) < len(keys)


def _key(expr: BoolExpr) -> tuple[ValueExpr, str] | None:
    """Return the operand of a test and the family of its constants; None if it has no interval."""
    constants: tuple[ValueExpr, ...]
    if isinstance(expr, Comparison):
        if expr.op == "<>":
            return None
        operand, constants = expr.left, (expr.right,)
    elif isinstance(expr, Between):
        operand, constants = expr.operand, (expr.low, expr.high)
    elif isinstance(expr, In):
        operand, constants = expr.operand, expr.items
    else:
        return None
    family = _family(constants[0])
    if family is None or any(_family(constant) != family for constant in constants[1:]):
        return None
    return operand, family


def _family(constant: ValueExpr) -> str | None:
    if isinstance(constant, Literal) and constant.type is not None:
        return _FAMILIES.get(constant.type)
    return None


def _merge_tests(value: ValueExpr, tests: list[BoolExpr], where: And | Or) -> list[BoolExpr]:
    if isinstance(where, And):
        return _intersection(value, tests, where)
    return _union(value, tests, where)


def _intersection(value: ValueExpr, tests: list[BoolExpr], where: And) -> list[BoolExpr]:
    at = {"start": where.start, "end": where.end}
    sets = [test for test in tests if isinstance(test, In)]
    intervals = [_interval(test) for test in tests if not isinstance(test, In)]
    if sets:
        # INT and DBL of equal value are equal in Python; other types cannot mix within one family.
        common = set.intersection(*({item.value for item in other.items} for other in sets))
        kept = [
            item
            for item in sets[0].items
            if item.value in common and all(_contains(interval, item) for interval in intervals)
        ]
        if not kept:
            return tests
        if len(kept) == 1:
            return [Comparison("=", value, kept[0], **at)]
        return [In(value, tuple(kept), **at)]
    low, low_closed = _tightest_bound([(i.low, i.low_closed) for i in intervals], 1)
    high, high_closed = _tightest_bound([(i.high, i.high_closed) for i in intervals], -1)
    merged = _Interval(low, low_closed, high, high_closed)
    return tests if _is_empty(merged) else _interval_tests(value, merged, tests, at)


def _union(value: ValueExpr, tests: list[BoolExpr], where: Or) -> list[BoolExpr]:
    at = {"start": where.start, "end": where.end}
    sets = [test for test in tests if isinstance(test, In)]
    intervals = [_interval(test) for test in tests if not isinstance(test, In)]
    if any(_is_empty(interval) for interval in intervals):
        return tests
    pending = intervals + [_Interval(i, True, i, True) for s in sets for i in s.items]
    joined: list[_Interval] = []
    for interval in sorted(pending, key=_LowEnd):
        if joined and _touch(joined[-1], interval):
            last = joined[-1]
            high, closed = _widest_high(last, interval)
            joined[-1] = _Interval(last.low, last.low_closed, high, closed)
        else:
            joined.append(interval)
    if any(i.low is None and i.high is None for i in joined):
        return tests
    points = [i.low for i in joined if i.low is not None and _is_same(i.low, i.high)]
    written: list[BoolExpr] = []
    for interval in joined:
        if not (interval.low is not None and _is_same(interval.low, interval.high)):
            written.extend(_interval_operand(value, interval, at))
    if len(points) == 1:
        written.append(Comparison("=", value, points[0], **at))
    elif points:
        written.append(In(value, tuple(points), **at))
    return written if len(written) < len(tests) or len(pending) > len(joined) else tests


# -- intervals ------------------------------------------------------------------------------------


def _interval(test: BoolExpr) -> _Interval:
    if isinstance(test, Between):
        return _Interval(test.low, True, test.high, True)  # type: ignore[arg-type]
    assert isinstance(test, Comparison) and isinstance(test.right, Literal)
    constant = test.right
    if test.op == "=":
        return _Interval(constant, True, constant, True)
    if test.op in ("<", "<="):
        return _Interval(None, False, constant, test.op == "<=")
    return _Interval(constant, test.op == ">=", None, False)


def _order(left: Literal, right: Literal) -> int:
    order = compare(left.value, right.value)
    assert order is not None  # of one family, by _key
    return order


def _is_same(left: Literal | None, right: Literal | None) -> bool:
    return left is not None and right is not None and _order(left, right) == 0


def _tightest_bound(
    bounds: Iterable[tuple[Literal | None, bool]], direction: int
) -> tuple[Literal | None, bool]:
    best: Literal | None = None
    closed = False
    for bound, bound_closed in bounds:
        if bound is None:
            continue
        order = 1 if best is None else _order(bound, best) * direction
        if order > 0:
            best, closed = bound, bound_closed
        elif order == 0:
            closed = closed and bound_closed
    return best, closed


def _is_empty(interval: _Interval) -> bool:
    if interval.low is None or interval.high is None:
        return False
    order = _order(interval.low, interval.high)
    return order > 0 or (order == 0 and not (interval.low_closed and interval.high_closed))


def _contains(interval: _Interval, item: Literal) -> bool:
    if interval.low is not None:
        order = _order(item, interval.low)
        if order < 0 or (order == 0 and not interval.low_closed):
            return False
    if interval.high is not None:
        order = _order(item, interval.high)
        if order > 0 or (order == 0 and not interval.high_closed):
            return False
    return True


def _touch(left: _Interval, right: _Interval) -> bool:
    """Whether the right interval, which begins no earlier, overlaps or adjoins the left one."""
    if left.high is None or right.low is None:
        return True
    order = _order(right.low, left.high)
    return order < 0 or (order == 0 and (left.high_closed or right.low_closed))


def _widest_high(left: _Interval, right: _Interval) -> tuple[Literal | None, bool]:
    if left.high is None or right.high is None:
        return None, False
    order = _order(right.high, left.high)
    if order == 0:
        return left.high, left.high_closed or right.high_closed
    return (right.high, right.high_closed) if order > 0 else (left.high, left.high_closed)


class _LowEnd:
    """A sort key by the low end; unbounded first, closed before open."""

    def __init__(self, interval: _Interval) -> None:
        self.interval = interval

    def __lt__(self, other: _LowEnd) -> bool:
        mine, theirs = self.interval, other.interval
        if mine.low is None or theirs.low is None:
            return mine.low is None and theirs.low is not None
        order = _order(mine.low, theirs.low)
        return order < 0 or (order == 0 and mine.low_closed and not theirs.low_closed)


# -- intervals as tests ---------------------------------------------------------------------------


def _bounds(value: ValueExpr, interval: _Interval, at: dict[str, int]) -> list[BoolExpr]:
    tests: list[BoolExpr] = []
    if interval.low is not None:
        tests.append(Comparison(">=" if interval.low_closed else ">", value, interval.low, **at))
    if interval.high is not None:
        tests.append(Comparison("<=" if interval.high_closed else "<", value, interval.high, **at))
    return tests


def _interval_tests(
    value: ValueExpr, interval: _Interval, tests: list[BoolExpr], at: dict[str, int]
) -> list[BoolExpr]:
    """Return an intersection as one test, or as two for an interval that is not closed."""
    if _is_same(interval.low, interval.high):
        assert interval.low is not None
        return [Comparison("=", value, interval.low, **at)]
    if interval.low_closed and interval.high_closed:
        assert interval.low is not None and interval.high is not None
        return [Between(value, interval.low, interval.high, **at)]
    written = _bounds(value, interval, at)
    return tests if set(written) == set(tests) else written


def _interval_operand(value: ValueExpr, interval: _Interval, at: dict[str, int]) -> list[BoolExpr]:
    """Return a member of a union as one operand of OR."""
    if interval.low is not None and interval.high is not None:
        if interval.low_closed and interval.high_closed:
            return [Between(value, interval.low, interval.high, **at)]
        return [And(tuple(_bounds(value, interval, at)), **at)]
    return _bounds(value, interval, at)
