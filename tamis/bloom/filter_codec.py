"""The wire format of filters: the same from every process, and readable by every version.

```
   1 byte    form: 1 sparse, 2 dense; another number is another version
   varint    m
   varint    k
   sparse:   varint: the number of set bits; for each, ascending, a varint: the number of bits
             between it and the one before it
   dense:    m bits, the lowest first, in as few bytes as possible
```

A varint has seven bits per byte, the lowest first; the high bit is set if another byte follows. The
shorter form is used, or sparse if both have the same length, so equal filters have equal bytes. A
filter in any other encoding is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from tamis.bloom.bit_sets import BitSet, DenseBits, SparseBits
from tamis.bloom.hashing import MOST_BITS, MOST_HASHES, Shape
from tamis.errors import InputError
from tamis.kernels.bloom.deltas import deltas_size, put_deltas, take_deltas, take_filters

SPARSE, DENSE = 1, 2


def encode_filter(shape: Shape, bits: BitSet) -> bytes:
    """Return a filter as bytes."""
    places = bits.places
    head = _varint(shape.m) + _varint(shape.k)
    count = _varint(len(places))
    size, dense = deltas_size(places), (shape.m + 7) // 8
    if len(count) + size <= dense:
        out = np.empty(size, np.uint8)
        put_deltas(places, out)
        return bytes([SPARSE]) + head + count + out.tobytes()
    words = bits.words.astype("<u8").tobytes()
    return bytes([DENSE]) + head + words[:dense]


def encoded_size(shape: Shape, bits: BitSet) -> int:
    """Return how many bytes a filter takes on the wire."""
    return _form_and_size(shape, bits)[1]


def _form_and_size(shape: Shape, bits: BitSet) -> tuple[int, int]:
    places = bits.places
    head = 1 + len(_varint(shape.m)) + len(_varint(shape.k))
    sparse, dense = len(_varint(len(places))) + deltas_size(places), (shape.m + 7) // 8
    return (SPARSE, head + sparse) if sparse <= dense else (DENSE, head + dense)


def decode_filter(data: bytes) -> tuple[Shape, BitSet]:
    """Read a filter from bytes.

    Raises:
        InputError: It is not a filter, or has another version.
    """
    if not data or data[0] not in (SPARSE, DENSE):
        reason = f"the first byte is {data[0]}" if data else "it is empty"
        raise InputError(f"not a Bloom filter of this version: {reason}")
    m, at = _take_varint(data, 1, MOST_BITS)
    k, at = _take_varint(data, at, MOST_HASHES)
    shape = Shape(m, k)
    bits = _decode_sparse(shape, data, at) if data[0] == SPARSE else _decode_dense(shape, data, at)
    # A form has only one encoding of minimal length, so comparing the length is enough.
    if (data[0], len(data)) != _form_and_size(shape, bits):
        raise InputError("damaged Bloom filter: not in the shortest encoding")
    return shape, bits


def decode_filters(shape: Shape, filters: Sequence[bytes]) -> list[BitSet | None]:
    """Read filters of one shape from bytes; None for invalid data and for other shapes."""
    head = bytes([SPARSE]) + _varint(shape.m) + _varint(shape.k)
    data = np.frombuffer(b"".join(filters), np.uint8)
    out = np.empty(len(data), shape.dtype)
    begins, is_sparse = take_filters(
        data,
        np.array([0, *accumulate(map(len, filters))]),
        np.frombuffer(head, np.uint8),
        shape.m,
        (shape.m + 7) // 8,
        out,
    )
    result: list[BitSet | None] = [
        SparseBits(shape, out[begin:end]) for begin, end in pairwise(begins.tolist())
    ]
    for i in np.flatnonzero(~is_sparse).tolist():
        try:
            of, bits = decode_filter(filters[i])
            result[i] = bits if of == shape else None
        except InputError:
            result[i] = None
    return result


def _decode_sparse(shape: Shape, data: bytes, at: int) -> BitSet:
    count, at = _take_varint(data, at, shape.m)
    if count > len(data) - at:  # check before allocating the array
        raise InputError("damaged Bloom filter: it is truncated")
    places = np.empty(count, shape.dtype)
    size = take_deltas(np.frombuffer(data, np.uint8)[at:], shape.m, places)
    if size != len(data) - at:
        raise InputError("damaged Bloom filter: bits are out of range or missing")
    return SparseBits(shape, places)  # readers use the places


def _decode_dense(shape: Shape, data: bytes, at: int) -> BitSet:
    body = data[at:]
    if len(body) != (shape.m + 7) // 8:
        raise InputError("damaged Bloom filter: bits are missing")
    words = np.frombuffer(body.ljust(8 * shape.words, b"\0"), "<u8").astype(np.uint64)
    if shape.m % 64 and int(words[-1]) >> shape.m % 64:
        raise InputError("damaged Bloom filter: bits are out of range")
    return DenseBits(shape, words)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(128 | number & 127)
        number >>= 7
    return bytes([*out, number])


def _take_varint(data: bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number and the offset of its end."""
    number, shift = 0, 0
    while at < len(data) and shift <= 28:
        number |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            if number > most:
                break
            return number, at
        shift += 7
    raise InputError("damaged Bloom filter: it is truncated, or a number is out of range")
