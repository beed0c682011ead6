"""Values of each type that tests can distinguish: enough of them that no cell is missing.

Values that read well come first, because the first value of a cell is its witness.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations, pairwise

from tamis.values import INT_MAX, INT_MIN, Opaque, Scalar, Timestamp, Value

# Up to this many distinct items, every combination is generated.
_ITEMS = 8

_DAY = 86_400_000_000
_SECOND = 1_000_000
_NEW_YEAR = Timestamp.parse_date("2024-01-01").micros


def numbers(constants: list[int | float], ints: bool, floats: bool) -> Iterator[int | float]:
    """Iterate over each constant, and a number between each two neighbours, if there is one.

    This is complete: the tests are comparisons, so a cell is a constant or the interval between
    two. NaN is above all others, and a test of NaN itself has it too.
    """
    ordered: list[int | float] = sorted({c for c in constants if not math.isnan(c)})
    for constant in ordered:
        if ints and _is_whole(constant):
            yield int(constant)
        elif floats and float(constant) == constant:
            yield float(constant)
    for low, high in pairwise((None, *ordered, None)):
        between: int | float | None = _whole_between(low, high) if ints else None
        if between is None and floats:
            between = _float_between(low, high)
        if between is not None:
            yield between
    if floats:
        yield math.nan


def _whole_between(low: int | float | None, high: int | float | None) -> int | None:
    """Return an INT between two numbers; None is no bound."""
    if low is None and high is None:
        return 0
    # The least one above `low` is enough; if there is none, the bounds are infinite or adjacent to
    # it.
    tries: list[int] = []
    if high is not None and math.isfinite(high):
        tries.append(math.ceil(high) - 1)
    if low is not None and math.isfinite(low):
        tries.insert(0, math.floor(low) + 1)
    for number in (*tries, 0):
        if INT_MIN <= number <= INT_MAX and _is_between(low, number, high):
            return number
    return None


def _float_between(low: int | float | None, high: int | float | None) -> float | None:
    """Return a DBL between two numbers, preferably a short one; None is no bound."""
    tries = [0.0]
    for bound, side in ((high, -math.inf), (low, math.inf)):
        if bound is not None:
            near = float(bound)
            # An INT is rounded to one of the two nearest DBL, so one of these is the next one.
            tries = [near + math.copysign(1.0, side), near, math.nextafter(near, side), *tries]
    if low is not None and high is not None:
        tries.insert(1, float(low) / 2 + float(high) / 2)
    tries += [math.inf, -math.inf]
    return next((number for number in tries if _is_between(low, number, high)), None)


def _is_between(low: int | float | None, number: int | float, high: int | float | None) -> bool:
    return (low is None or low < number) and (high is None or number < high)


def instants(constants: list[Timestamp]) -> Iterator[Timestamp]:
    """Iterate over each constant, and an instant between each two; complete as for numbers."""
    micros = sorted({c.micros for c in constants})
    yield from map(Timestamp, micros)
    for low, high in pairwise((None, *micros, None)):
        tries = [_NEW_YEAR]
        if high is not None:
            tries = [high - _DAY, high - _SECOND, high - 1]
        if low is not None:
            tries = [low + _DAY, low + _SECOND, low + 1]
        for number in tries:
            if INT_MIN <= number <= INT_MAX and _is_between(low, number, high):
                yield Timestamp(number)
                break


def lists(items: list[Scalar | Opaque], ints: bool, texts: bool) -> tuple[list[Value], bool]:
    """Return lists with combinations of the items, and whether every combination is included.

    This is complete: a list matters only by which items are in it, whether NULL is, and whether it
    has an element of another type, or any element at all.
    """
    result: list[Value] = [[], [None]]  # type: ignore[list-item]
    complete = True
    if ints:
        int_items = sorted({int(i) for i in items if _is_whole(i)})  # type: ignore[arg-type]
        other_int = next(n for n in range(len(int_items) + 1) if n not in int_items)
        complete &= len(int_items) <= _ITEMS
        result += _item_lists(int_items, other_int)
    if texts:
        text_items = sorted({i for i in items if isinstance(i, str)})
        other_text = next(
            t for t in ("a" * n for n in range(1, len(text_items) + 2)) if t not in text_items
        )
        complete &= len(text_items) <= _ITEMS
        result += _item_lists(text_items, other_text)
    return result, complete


def _is_whole(item: Scalar | Opaque) -> bool:
    if isinstance(item, bool) or not isinstance(item, int | float):
        return False
    return math.isfinite(item) and item == math.floor(item) and INT_MIN <= item <= INT_MAX


def _item_lists(items: list, other: object) -> Iterator[list]:  # type: ignore[type-arg]
    sizes = range(1, len(items) + 1) if len(items) <= _ITEMS else (1, len(items))
    chosen = chain(([other],), *(map(list, combinations(items, size)) for size in sizes))
    for combination in chosen:
        yield combination
        yield [*combination, None]
