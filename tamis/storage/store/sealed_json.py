"""Small JSON files with a checksum, the seal, in the first line.

    tamis-index 1 6c8d9f0a1b2c3d4e
    {"version":12, …}

The first line holds the version of the format and the xxh3 checksum of the rest. The files are
readable text, and no byte of them can change unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
import xxhash

from tamis.errors import IndexCorrupt, InputError
from tamis.storage.store.durable_files import write_file

# The version of all files of an index: it changes with the layout of any of them.
FORMAT = 1
_NAME = b"tamis-index "

Body = TypeVar("Body", bound=msgspec.Struct)


def write_sealed(path: Path, body: msgspec.Struct) -> None:
    """Create or replace a sealed file atomically."""
    write_file(path, sealed_bytes(body))


def sealed_bytes(body: msgspec.Struct) -> bytes:
    """Return the bytes of a sealed file."""
    text = msgspec.json.encode(body)
    return _seal(text) + text


def read_sealed(path: Path, kind: type[Body]) -> Body:
    """Read a sealed file.

    Raises:
        IndexCorrupt: It is missing, damaged, or of another format.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexCorrupt(path, "is missing") from None
    head, newline, text = content.partition(b"\n")
    check_format(path, head)
    if head + newline != _seal(text):
        raise IndexCorrupt(path, "is damaged: its checksum is wrong")
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise IndexCorrupt(path, f"has unexpected content: {error}") from error


def check_format(path: Path, head: bytes) -> None:
    """Reject files of another format, before anything is reported as damaged."""
    if not head.startswith(_NAME):
        raise IndexCorrupt(path, "is damaged, or not a file of a Tamis index")
    version = head[len(_NAME) :].partition(b" ")[0]
    if version.isdigit() and version != b"%d" % FORMAT:
        raise IndexCorrupt(
            path, f"has format {version.decode()}; this version of Tamis reads format {FORMAT}"
        )


def check_meta(meta: Mapping[str, object]) -> dict[str, object]:
    """Return a copy of metadata that survives a round trip through JSON.

    Raises:
        InputError: It does not: tuples, bytes, NaN and keys that are not text are not JSON.
    """
    try:
        copy = msgspec.json.decode(msgspec.json.encode(meta), type=dict[str, object])
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"meta cannot be written as JSON: {error}") from error
    if copy != meta:
        raise InputError("meta is not JSON: it would be read back as something else")
    return copy


def _seal(text: bytes) -> bytes:
    return _NAME + b"%d %016x\n" % (FORMAT, xxhash.xxh3_64_intdigest(text))
