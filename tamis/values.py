"""The types of attributes, and the conversion of Python values to them.

Inside Tamis a value is None, bool, int (64 bits), float, str, Timestamp, a list of int or of
str (which may contain None), or OPAQUE: present, but no predicate can inspect it.
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import math
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1


class Type(Enum):
    """The type of a value; NULL is not a type but the absence of a value."""

    BOOL = "BOOL"
    INT = "INT"
    DBL = "DBL"
    STR = "STR"
    TIMESTAMP = "TIMESTAMP"
    INT_LIST = "LIST<INT>"
    STR_LIST = "LIST<STR>"
    OPAQUE = "OPAQUE"

    def __repr__(self) -> str:
        """Short, for trees of expressions."""
        return self.value


class Opaque(Enum):
    """An object, bytes, a list of lists: not NULL, but no predicate can inspect it."""

    OPAQUE = "OPAQUE"


OPAQUE = Opaque.OPAQUE

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_FIRST_INSTANT = (dt.datetime.min.replace(tzinfo=dt.UTC) - _EPOCH) // _MICROSECOND
_LAST_INSTANT = (dt.datetime.max.replace(tzinfo=dt.UTC) - _EPOCH) // _MICROSECOND
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(.*)", re.ASCII
)
_OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d))?", re.ASCII)


@dataclass(frozen=True, order=True, slots=True)
class Timestamp:
    """An instant, in microseconds since 1970-01-01T00:00:00Z."""

    micros: int

    @classmethod
    def parse(cls, text: str) -> Timestamp:
        """Parse `YYYY-MM-DD[( |T)HH:MM[:SS[.fraction]]][zone]`; without a zone it is UTC.

        Raises:
            ValueError: The text has another form; the message says what was expected.
        """
        found = _TIMESTAMP.fullmatch(text)
        if not found:
            raise ValueError("expected YYYY-MM-DD HH:MM:SS[.fraction][zone]")
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        moment = dt.datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
            tzinfo=_zone(zone),
        )
        instant = cls.from_datetime(moment)
        if not _FIRST_INSTANT <= instant.micros <= _LAST_INSTANT:  # 0001-01-01 00:00+02:00
            raise ValueError("outside the years 1 to 9999, UTC")
        return instant

    @classmethod
    def parse_date(cls, text: str) -> Timestamp:
        """Parse `YYYY-MM-DD` as midnight, UTC."""
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            raise ValueError("expected YYYY-MM-DD")
        return cls.parse(text)

    @classmethod
    def from_datetime(cls, moment: dt.datetime) -> Timestamp:
        """Convert a datetime; a naive one is UTC."""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return cls((moment - _EPOCH) // _MICROSECOND)

    def to_datetime(self) -> dt.datetime:
        """Return a datetime, in UTC.

        Raises:
            OverflowError: It is outside the years 1 to 9999; columns may hold such instants.
        """
        return _EPOCH + self.micros * _MICROSECOND

    def __str__(self) -> str:
        """Return the text as in a selector, in UTC."""
        try:
            moment = self.to_datetime()
        except OverflowError:
            return f"{self.micros}us"
        text = moment.strftime("%m-%d %H:%M:%S")
        fraction = f".{moment.microsecond:06d}" if moment.microsecond else ""
        return f"{moment.year:04d}-{text}{fraction}Z"


def _zone(text: str) -> dt.tzinfo:
    if text in ("", "Z", "UTC", " UTC"):
        return dt.UTC
    offset = _OFFSET.fullmatch(text)
    if offset:
        sign, hours, minutes = offset.groups()
        # ±18:00 is the widest offset that Spark and Java accept.
        if int(minutes or 0) > 59 or int(hours) * 60 + int(minutes or 0) > 18 * 60:
            raise ValueError(f"zone offset {text} is out of range")
        span = dt.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return dt.timezone(-span if sign == "-" else span)
    if not text.startswith(" "):
        raise ValueError(f"unknown time zone {text[:40]!r}")
    # ZoneInfo alone would also accept files such as posixrules.
    if text[1:] not in _regions():
        raise ValueError(f"unknown time zone {text[1:41]!r}")
    return zoneinfo.ZoneInfo(text[1:])


@functools.cache
def _regions() -> set[str]:
    return zoneinfo.available_timezones()


Scalar = bool | int | float | str | Timestamp
Value = Scalar | list[int | None] | list[str | None] | Opaque | None


def type_of(value: Value) -> Type | None:
    """Return the type of a value that `to_value` returned; None for NULL."""
    if isinstance(value, list):
        strings = any(isinstance(element, str) for element in value)
        return Type.STR_LIST if strings else Type.INT_LIST
    return _TYPES[type(value)]


_TYPES: dict[type, Type | None] = {
    type(None): None,
    bool: Type.BOOL,
    int: Type.INT,
    float: Type.DBL,
    str: Type.STR,
    Timestamp: Type.TIMESTAMP,
    Opaque: Type.OPAQUE,
}


def plain_value(value: object) -> object:
    """Return a value as JSON can hold it.

    A timestamp becomes text, and so do NaN and the infinities, which JSON lacks. An opaque value
    becomes an empty object.
    """
    if isinstance(value, Timestamp):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return {} if value is OPAQUE else value


def to_value(raw: object) -> Value:
    """Convert a Python object to one of the types of Tamis.

    Raises:
        ValueError: An integer beyond 64 bits, or text that is not valid Unicode.
    """
    kind = type(raw)
    if kind is int:
        return _checked_int(raw)  # type: ignore[arg-type]
    if kind is str:
        return _checked_str(raw)  # type: ignore[arg-type]
    if kind in _TYPES:
        return raw  # type: ignore[return-value]
    if isinstance(raw, list | tuple):
        return _to_list(list(raw))
    if isinstance(raw, dt.datetime):
        # pandas' NaT passes for a datetime; like NaN it is not equal to itself.
        return Timestamp.from_datetime(raw) if raw == raw else None
    if isinstance(raw, dt.date):
        return Timestamp.from_datetime(dt.datetime(raw.year, raw.month, raw.day))
    # An Arrow scalar. Looked up in the type: an object may answer to any attribute name.
    if callable(getattr(kind, "as_py", None)):
        inner = raw.as_py()  # type: ignore[attr-defined]
        return OPAQUE if hasattr(type(inner), "as_py") else to_value(inner)
    if isinstance(raw, Mapping):
        return OPAQUE
    if isinstance(raw, decimal.Decimal):
        return _from_decimal(raw)
    if hasattr(raw, "dtype"):
        return _from_numpy(raw)
    # Subclasses: an IntEnum is its integer, a str subclass its text (str() of an Enum is its name).
    if isinstance(raw, str):
        return _checked_str(str.__str__(raw))
    for base in (int, float):
        if isinstance(raw, base):
            return to_value(base(raw))
    return None if kind.__name__ == "NAType" else OPAQUE  # pandas' NA


def _checked_int(raw: int) -> int:
    if INT_MIN <= raw <= INT_MAX:
        return raw
    raise ValueError(f"integer {_short_text(raw)} does not fit into 64 bits")


def _short_text(number: int) -> str:
    # str() of an enormous int is slow, and refused by Python beyond 4300 digits.
    return str(number) if abs(number) < 10**40 else f"of {number.bit_length()} bits"


def _checked_str(raw: str) -> str:
    if raw.isascii():
        return raw
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise ValueError("text holds a lone surrogate, which is not valid Unicode") from None
    return raw


def _to_list(raw: list[object]) -> Value:
    # A list of lists is opaque; recursion would never end for one that contains itself.
    if any(isinstance(element, list | tuple | Mapping) for element in raw):
        return OPAQUE
    values = [to_value(element) for element in raw]
    kinds = {type(element) for element in values} - {type(None)}
    if kinds <= {int} or kinds <= {str}:
        return values  # type: ignore[return-value]
    return OPAQUE


def _from_decimal(raw: decimal.Decimal) -> Value:
    if raw.is_finite() and raw == raw.to_integral_value() and INT_MIN <= raw <= INT_MAX:
        return int(raw)
    return float(raw)


def _from_numpy(raw: object) -> Value:
    import numpy as np

    if isinstance(raw, np.ndarray):
        # tolist() would turn instants into integers.
        return _to_list(raw.tolist()) if raw.ndim == 1 and raw.dtype.kind not in "mM" else OPAQUE
    if isinstance(raw, np.datetime64):
        if np.isnat(raw):
            return None
        # Beyond this, NumPy overflows when it converts to microseconds.
        if abs(int(raw.astype("datetime64[Y]").astype(np.int64))) > 290_000:
            raise ValueError("instant is out of range")
        return Timestamp(int(raw.astype("datetime64[us]").astype(np.int64)))
    if isinstance(raw, np.generic) and not isinstance(raw, np.timedelta64):
        inner = raw.item()
        return OPAQUE if isinstance(inner, np.generic) else to_value(inner)
    return OPAQUE
