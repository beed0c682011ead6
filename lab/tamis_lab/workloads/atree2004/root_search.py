"""Where a function that is measured, and grows, has a wanted value."""

from __future__ import annotations

from collections.abc import Callable

_STEPS = 30


def crossing(above: Callable[[float], float], low: float, high: float, near: float) -> float:
    """Where a function that grows from `low` to `high` is zero, or the end that is nearest.

    By regula falsi; the end that stays is halved in weight, so that it moves too (Illinois).
    """
    at_low, at_high = above(low), above(high)
    if at_low >= 0:
        return low
    if at_high <= 0:
        return high
    for _ in range(_STEPS):
        place = (low * at_high - high * at_low) / (at_high - at_low)
        found = above(place)
        if abs(found) <= near:
            break
        if found < 0:
            low, at_low, at_high = place, found, at_high / 2
        else:
            high, at_high, at_low = place, found, at_low / 2
    return place
