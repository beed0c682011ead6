"""Find where a measured, increasing function has a given value."""

from __future__ import annotations

from collections.abc import Callable

_STEPS = 30


def crossing(above: Callable[[float], float], low: float, high: float, near: float) -> float:
    """Return where an increasing function is zero between `low` and `high`, or the nearer end.

    Regula falsi; the weight of the end that stays is halved, so that it moves too (Illinois).
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
