"""Frames of a log, one for each batch of changes, and the detection of torn writes.

    length of the payload      8 bytes    ┐
    position of first change   8 bytes    ├ the header
    checksum of these two      8 bytes    ┘
    payload                    msgpack, padded with zeros to a multiple of 8
    checksum of the payload    8 bytes

A frame is a batch, so that a batch is complete or absent. Frames are only appended, so a bad frame
may be the last write, which did not finish. It is *torn*, and ignored, if

1. the file ends before the frame does: a process that is killed leaves a prefix of its last write;
2. or the frame is bad, and there are only zeros from the last sector of its bad part (the header,
   or all of it) to the end of the file: a power cut may leave a file with its new length but
   without its last sectors, which then read as zeros.

One unfinished write has no other outcome, so everything else is corruption. The header has its own
checksum; otherwise a wrong length would look like the first case. A complete frame ends with a
checksum, so a damaged byte does not make it look like the second. Frames start at multiples of 8,
so that no sector boundary splits a checksum. A torn frame was never acknowledged: in the first case
because the process was killed during its write, in the second if every append is synced.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import xxhash

from tamis.errors import IndexCorrupt, InputError

Change: TypeAlias = tuple[Any, ...]

_HEADER = struct.Struct("<QQQ")
_CHECKSUM = struct.Struct("<Q")
_SECTOR = 512
_DECODER = msgspec.msgpack.Decoder(list[tuple[Any, ...]])


class Frame(NamedTuple):
    """A batch of changes, and where its frame ends in the log."""

    changes: list[Change]
    end: int


def encode(changes: Sequence[Change], position: int) -> bytes:
    """Encode a batch whose first change has this position.

    Raises:
        InputError: A change is not a tuple, or does not survive msgpack.
    """
    payload = _payload(changes)
    header = _HEADER.pack(len(payload), position, _header_checksum(len(payload), position))
    padded = payload + bytes(-len(payload) % 8)
    return b"".join([header, padded, _CHECKSUM.pack(xxhash.xxh3_64_intdigest(padded))])


def decode(path: Path, log: bytes, start: int, position: int) -> Frame | None:
    """Decode the frame at `start`, which is before the end of the log; None if it is torn.

    Raises:
        IndexCorrupt: The frame is neither valid nor torn.
    """
    body = start + _HEADER.size
    if body > len(log):
        return None
    length, found, checksum = _HEADER.unpack_from(log, start)
    if checksum != _header_checksum(length, found):
        _check_torn(path, log, start, body)
        return None
    if found != position:
        raise IndexCorrupt(path, f"at byte {start}: found change {found}, expected {position}")
    padded = body + length + -length % 8
    end = padded + _CHECKSUM.size
    if end > len(log):
        return None
    view = memoryview(log)
    if _CHECKSUM.unpack_from(log, padded)[0] != xxhash.xxh3_64_intdigest(view[body:padded]):
        _check_torn(path, log, start, end)
        return None
    return Frame(_changes(path, view[body : body + length], start), end)


def _payload(changes: Sequence[Change]) -> bytes:
    for change in changes:
        if not isinstance(change, tuple):
            raise InputError(f"a change must be a tuple, not {type(change).__name__}")
    try:
        payload = msgspec.msgpack.encode(changes)
        # An acknowledged change must be readable, so decode it before it is written.
        _DECODER.decode(payload)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"a change cannot be written as msgpack: {error}") from error
    return payload


def _header_checksum(length: int, position: int) -> int:
    return xxhash.xxh3_64_intdigest(struct.pack("<QQ", length, position))


def _check_torn(path: Path, log: bytes, start: int, end: int) -> None:
    """Raise IndexCorrupt for bytes from `start` to `end`, unless their last sector is unwritten."""
    sector = max(start, (end - 1) // _SECTOR * _SECTOR)
    if log.count(0, sector) < len(log) - sector:
        raise IndexCorrupt(path, f"is damaged: the checksum of the batch at byte {start} is wrong")


def _changes(path: Path, payload: memoryview, start: int) -> list[Change]:
    try:
        return _DECODER.decode(payload)
    except msgspec.DecodeError as error:
        raise IndexCorrupt(path, f"at byte {start}: {error}") from error
