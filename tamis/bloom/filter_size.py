"""The required size of a filter (DEBS 2008, Equations 10 and 11)."""

from __future__ import annotations

import math

from tamis.bloom.hashing import MOST_BITS, MOST_HASHES, Shape
from tamis.errors import InputError


def false_positive_rate(m: int, k: int, n: float) -> float:
    """Return how often a filter with n elements claims to contain another one (Equation 10).

    >>> round(false_positive_rate(16384, 4, 1000), 4)
    0.0022
    """
    # log1p and expm1, because 1 - 1/m rounds to 1 for a large m.
    set_bits = -math.expm1(k * n * math.log1p(-1 / m)) if m > 1 else float(n > 0)
    return float(set_bits**k)


def best_hashes(m: int, n: float) -> int:
    """Return the integer k with the lowest false-positive rate (Equation 11).

    >>> best_hashes(16384, 1000)
    11
    """
    if n <= 0:
        return 1
    exact = m / n * math.log(2)
    low = min(max(1, math.floor(exact)), MOST_HASHES)
    high = min(low + 1, MOST_HASHES)
    return min(low, high, key=lambda k: false_positive_rate(m, k, n))


def optimal_shape(n: int, p: float) -> Shape:
    """Return the smallest filter for n elements with a false-positive rate of at most p.

    >>> optimal_shape(1000, 0.01)
    Shape(m=9594, k=7)

    Raises:
        InputError: n or p is out of range, or the filter would be too large.
    """
    if n < 1 or not 0 < p < 1:
        raise InputError(f"n must be at least 1 and p between 0 and 1, not n={n!r}, p={p!r}")

    def is_enough(m: int) -> bool:
        return false_positive_rate(m, best_hashes(m, n), n) <= p

    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
        if low >= MOST_BITS:
            raise InputError(f"a filter for n={n:,} and p={p} has more than {MOST_BITS:,} bits")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return Shape(high, best_hashes(high, n))
