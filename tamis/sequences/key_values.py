"""Keys and times from the values of the PER attribute and the time attribute."""

from __future__ import annotations

from collections.abc import Hashable

from tamis.values import INT_MAX, INT_MIN, OPAQUE, Timestamp, Value

# Equal if and only if the values are equal under `=`: 5 and 5.0 are, TRUE and 1 are not.
Key = Hashable

_NAN = ("NaN",)
_SECOND = 1_000_000


def key_of(value: Value) -> Key | None:
    """Return the key of a PER value; None if the value equals nothing, not even itself."""
    if isinstance(value, bool):
        return ("BOOL", value)
    if isinstance(value, float) and value != value:
        return _NAN
    # Nothing equals NULL, a list or an object.
    return None if value is OPAQUE or isinstance(value, list | tuple) else value


def micros_of(value: Value) -> int | None:
    """Return the microseconds of a time value, an instant or a number of seconds.

    None if the value is neither, or does not fit into 64 bits.
    """
    if isinstance(value, Timestamp):
        return value.micros
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The comparison is false for NaN and infinities, for which round() would raise.
    if not INT_MIN <= value * _SECOND <= INT_MAX:
        return None
    return round(value * _SECOND)
