"""Keys of attributes with a value: equal in every process, and for equal values.

3 and 3.0 are equal in the language, so they have the same key; text and a number never have.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from tamis.events.batch import Column, EventBatch
from tamis.paths import Path
from tamis.values import Scalar, Timestamp, Type, type_of

Keys = npt.NDArray[np.uint64]

_FAMILY = {
    Type.INT: b"number",
    Type.DBL: b"number",
    Type.STR: b"text",
    Type.BOOL: b"truth",
    Type.TIMESTAMP: b"instant",
}
_ARROW = {
    Type.INT: pa.int64(),
    Type.DBL: pa.float64(),
    Type.STR: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us", "UTC"),
}


def key_of(path: Path, value: Scalar) -> int:
    """Return the key of an attribute and a value."""
    kind = type_of(value)
    if kind is None or kind not in _FAMILY:
        raise ValueError(f"{value!r} has no key")
    plain = value.micros if isinstance(value, Timestamp) else value
    return int(_keys(path, kind, pa.array([plain], _ARROW[kind]))[0])


def keys_of(
    batch: EventBatch, paths: frozenset[Path]
) -> Iterator[tuple[npt.NDArray[np.int64], Keys]]:
    """Yield the keys of all values of some attributes: positions of events, and their keys."""
    for path in paths:
        for column in batch.columns.get(path, ()):
            if column.type in _FAMILY:
                yield _valid_rows(column), _keys(path, column.type, column.data.drop_null())


def _valid_rows(column: Column) -> npt.NDArray[np.int64]:
    if not column.data.null_count:
        return np.arange(len(column.data))
    valid: npt.NDArray[np.bool_] = column.data.is_valid().to_numpy(zero_copy_only=False)
    return np.flatnonzero(valid)


def _keys(path: Path, kind: Type, values: pa.Array) -> Keys:
    seed = _digest(b"\x00".join([_FAMILY[kind], *(part.encode() for part in path)]))
    return _mix(_raw_keys(kind, values) ^ np.uint64(seed))


def _raw_keys(kind: Type, values: pa.Array) -> Keys:
    """Return a number for each value, before mixing."""
    if kind is Type.STR:
        encoded = values.dictionary_encode()
        texts = [_digest(text.encode()) for text in encoded.dictionary.to_pylist()]
        numbers: Keys = np.array(texts, np.uint64)[encoded.indices.to_numpy(zero_copy_only=False)]
        return numbers
    if kind is Type.DBL:
        doubles = values.to_numpy(zero_copy_only=False)
        whole = (np.abs(doubles) < 2.0**63) & (doubles == np.floor(doubles))
        bits = np.where(np.isnan(doubles), np.nan, doubles).view(np.uint64)
        as_int = np.where(whole, doubles, 0.0).astype(np.int64).view(np.uint64)
        return np.where(whole, as_int, bits ^ np.uint64(0x9E3779B97F4A7C15))
    if kind is Type.TIMESTAMP:
        values = values.cast(pa.int64())
    plain: Keys = values.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    return plain


def _digest(data: bytes) -> int:
    return xxhash.xxh3_64_intdigest(data)


def _mix(x: Keys) -> Keys:
    """Mix the bits so that each depends on all others (splitmix64)."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
