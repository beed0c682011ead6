"""Values as keys and as times: what of an event a sequence goes by, besides its steps."""

from __future__ import annotations

from collections.abc import Hashable

from tamis.values import INT_MAX, INT_MIN, OPAQUE, Timestamp, Value

# Equal where the values are, as `=` has it: 5 and 5.0 are, TRUE and 1 are not.
Key = Hashable

_NAN = ("NaN",)
_SECOND = 1_000_000


def key_of(value: Value) -> Key | None:
    """What a value of the PER attribute counts as; None if it equals nothing, not even itself."""
    if isinstance(value, bool):
        return ("BOOL", value)
    if isinstance(value, float) and value != value:
        return _NAN
    # Nothing equals NULL, a list or an object.
    return None if value is OPAQUE or isinstance(value, list | tuple) else value


def micros_of(value: Value) -> int | None:
    """A value of the time attribute in microseconds: an instant, or a number of seconds.

    None if it is neither, or does not fit into 64 bits.
    """
    if isinstance(value, Timestamp):
        return value.micros
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The comparison fails for NaN, and spares the infinities a conversion that would.
    if not INT_MIN <= value * _SECOND <= INT_MAX:
        return None
    return round(value * _SECOND)
