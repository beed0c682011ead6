"""Sets of values of one family as half-open spans, in a unique normal form.

The values of a family are totally ordered, and each has a successor: for numbers it is the next
double or the next 64-bit integer, whichever comes first; for texts, the text followed by U+0000. So
`> 5` is `>= 5.000000000000001`, `<= 3` is less than the successor, and every set that comparisons
can express is a list of spans [low, high), independent of whether its bounds were open or closed.
Two lists are equal if and only if the sets are, also for integers above 2^53.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from tamis.predicates.shapes import Family, Interval
from tamis.values import INT_MAX, INT_MIN, Scalar, Timestamp

# A value in a form that Python orders as the language does: an int, a float or a str. Only bounds
# of one family are compared, which mypy cannot know. NaN is above all other numbers, infinity above
# all finite ones: as integers beyond 64 bits they compare exactly with both int and float.
Bound: TypeAlias = Any
INFINITE: Final = 1 << 1024
NAN: Final = 1 << 1025

# From the first value inside to the first value after it; None is unbounded.
Span = tuple[Bound | None, Bound | None]
Spans = tuple[Span, ...]

NONE: Final[Spans] = ()
ALL: Final[Spans] = ((None, None),)

_LEAST: dict[Family, Bound | None] = {
    Family.NUMBER: -math.inf,
    Family.TEXT: "",
    Family.INSTANT: None,
    Family.TRUTH: 0,
}
_LAST_LETTER = chr(0x10FFFF)


def bound_of(value: Scalar) -> Bound:
    """Return a value as a bound."""
    if isinstance(value, float):
        return NAN if math.isnan(value) else INFINITE if value == math.inf else value
    if isinstance(value, Timestamp):
        return value.micros
    return int(value) if isinstance(value, bool) else value


def value_of_bound(family: Family, bound: Bound) -> Scalar:
    """Return the value of a bound; for equal numbers always the same one."""
    if family is Family.NUMBER:
        if bound >= INFINITE:
            return math.inf if bound == INFINITE else math.nan
        return int(bound) if INT_MIN <= bound <= INT_MAX and bound == int(bound) else float(bound)
    if family is Family.INSTANT:
        return Timestamp(bound)
    value: Scalar = bool(bound) if family is Family.TRUTH else bound
    return value


def next_bound(family: Family, bound: Bound) -> Bound | None:
    """Return the successor of a bound; None if there is none."""
    if isinstance(bound, str):
        return bound + "\0"
    if family is Family.NUMBER:
        return _next_number(bound)
    if family is Family.TRUTH:
        return 1 if bound == 0 else None
    return bound + 1


def _next_number(bound: int | float) -> int | float | None:
    if bound >= INFINITE:
        return NAN if bound == INFINITE else None
    nearest = float(bound)
    double = nearest if nearest > bound else math.nextafter(nearest, math.inf)
    if math.isinf(double) and double > 0:
        double = INFINITE
    if bound >= INT_MAX:
        return double
    return min(double, INT_MIN if bound < INT_MIN else math.floor(bound) + 1)


def spans_of(family: Family, intervals: Iterable[Interval]) -> Spans:
    """Return the values in one or more of the intervals."""
    return union(span for each in intervals if (span := _span(family, each)) is not None)


def spans_of_points(family: Family, points: Iterable[Scalar]) -> Spans:
    """Return the set of the points."""
    return spans_of(family, (Interval(point, True, point, True) for point in points))


def _span(family: Family, interval: Interval) -> Span | None:
    low = None if interval.low is None else bound_of(interval.low)
    high = None if interval.high is None else bound_of(interval.high)
    if low is not None and not interval.low_closed:
        low = next_bound(family, low)
        if low is None:
            return None
    if high is not None and interval.high_closed:
        high = next_bound(family, high)
    least = _LEAST[family]
    if high is not None and (high == least or (low is not None and low >= high)):
        return None
    return (None if low == least else low, high)


def prefix_spans(prefix: str) -> Spans:
    """Return the texts with a prefix."""
    return ((prefix or None, text_after_prefix(prefix)),)


def text_after_prefix(prefix: str) -> str | None:
    """Return the least text above all texts with a prefix; None if there is none."""
    stem = prefix.rstrip(_LAST_LETTER)
    if not stem:
        return None
    letter = ord(stem[-1]) + 1
    # Texts contain no surrogates.
    return stem[:-1] + chr(0xE000 if letter == 0xD800 else letter)


def prefix_of(span: Span) -> str:
    """Return the longest prefix that all texts of a span share."""
    low, high = span
    if not isinstance(low, str):
        return ""
    if high == low + "\0":
        return low
    for length in range(len(low), 0, -1):
        end = text_after_prefix(low[:length])
        if end is None or (isinstance(high, str) and high <= end):
            return low[:length]
    return ""


def union(spans: Iterable[Span]) -> Spans:
    """Return the values in one or more of the spans."""
    joined: list[Span] = []
    for low, high in sorted(spans, key=_low_key):
        if joined and _reaches(joined[-1][1], low):
            joined[-1] = (joined[-1][0], _later_bound(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def _low_key(span: Span) -> tuple[bool, Bound]:
    return (False, 0) if span[0] is None else (True, span[0])


def _reaches(high: Bound | None, low: Bound | None) -> bool:
    return high is None or low is None or high >= low


def _later_bound(one: Bound | None, other: Bound | None) -> Bound | None:
    return None if one is None or other is None else max(one, other)


def intersection(left: Spans, right: Spans) -> Spans:
    """Return the values in both sets."""
    if left == ALL:
        return right
    if right == ALL:
        return left
    shared: list[Span] = []
    mine = theirs = 0
    while mine < len(left) and theirs < len(right):
        (a, b), (c, d) = left[mine], right[theirs]
        low = c if a is None else a if c is None else max(a, c)
        high = d if b is None else b if d is None else min(b, d)
        if low is None or high is None or low < high:
            shared.append((low, high))
        if d is None or (b is not None and b <= d):
            mine += 1
        else:
            theirs += 1
    return tuple(shared)


def complement(spans: Spans) -> Spans:
    """Return the values in none of the spans."""
    gaps: list[Span] = []
    begin: Bound | None = None
    for low, high in spans:
        if low is not None:
            gaps.append((begin, low))
        if high is None:
            return tuple(gaps)
        begin = high
    return (*gaps, (begin, None))


def includes(outer: Spans, inner: Spans) -> bool:
    """Return whether every value of the inner set is in the outer set."""
    if outer == ALL:
        return True
    if len(outer) == len(inner) == 1:
        return _holds(outer[0], inner[0])
    # Spans do not touch, so each inner span must lie in a single outer span.
    lows = [_low_key(span) for span in outer]
    for span in inner:
        place = bisect_right(lows, _low_key(span)) - 1
        if place < 0 or not _holds(outer[place], span):
            return False
    return True


def _holds(outer: Span, inner: Span) -> bool:
    low, high = outer
    if low is not None and (inner[0] is None or inner[0] < low):
        return False
    return high is None or (inner[1] is not None and inner[1] <= high)


def contains(spans: Spans, bound: Bound) -> bool:
    """Return whether a value is in one of the spans."""
    for low, high in spans:
        if (low is None or low <= bound) and (high is None or bound < high):
            return True
    return False


def point_of(family: Family, span: Span) -> Bound | None:
    """Return the only value of a span; None if there are others."""
    low = _LEAST[family] if span[0] is None else span[0]
    return low if low is not None and next_bound(family, low) == span[1] else None
