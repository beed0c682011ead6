"""A folder of arrays that is written once and then memory-mapped by its readers.

    header   sealed: name, type, shape, offset and checksum of every array, and `meta`
    arrays   the arrays, one after the other, each at a multiple of 64 bytes

All arrays are one mapping, so that opening takes one system call, however many there are; processes
that open the same folder share its pages. The folder gets its name when it is complete.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from tamis.errors import IndexCorrupt, InputError
from tamis.storage.store.durable_files import UNFINISHED, remove, sync_folder, write_synced
from tamis.storage.store.sealed_json import check_meta, read_sealed, sealed_bytes

HEADER = "header"
DATA = "arrays"
# A cache line, and the widest vector that kernels load.
_ALIGNMENT = 64

Array: TypeAlias = NDArray[Any]


class _Entry(msgspec.Struct, frozen=True):
    name: str
    dtype: str
    shape: list[int]
    offset: int
    bytes: int
    checksum: str


class _Header(msgspec.Struct, frozen=True):
    arrays: list[_Entry]
    bytes: int
    meta: dict[str, object]


def write_arrays(folder: Path, arrays: Mapping[str, Array], meta: Mapping[str, object]) -> None:
    """Write arrays into a new folder; they are on disk when this returns.

    Args:
        folder: The folder, which must not exist; its parent must.
        arrays: Arrays of fixed-size elements: numbers, booleans, times, text of fixed width.
        meta: Any value that JSON can hold.

    Raises:
        InputError: An array or `meta` has a type that cannot be written.
    """
    flat = {name: _flat_array(name, array) for name, array in arrays.items()}
    header = _build_header(flat, check_meta(meta))
    unfinished = folder.with_name(folder.name + UNFINISHED)
    if unfinished.exists():
        remove(unfinished)
    unfinished.mkdir()
    write_synced(unfinished / DATA, _padded_chunks(flat))
    write_synced(unfinished / HEADER, [sealed_bytes(header)])
    sync_folder(unfinished)
    os.rename(unfinished, folder)
    sync_folder(folder.parent)


def open_arrays(folder: Path) -> tuple[dict[str, Array], dict[str, object]]:
    """Map the arrays of a folder, and verify the checksum of each.

    The arrays are writable copies on write, which never reach the file: to Numba a read-only array
    is another type, for which every kernel would be compiled again.

    Returns:
        The arrays in the order in which they were written, and `meta`.

    Raises:
        IndexCorrupt: A file is missing, truncated, damaged, or of another format.
    """
    header = read_sealed(folder / HEADER, _Header)
    path = folder / DATA
    data = _map_file(path, header.bytes)
    return {entry.name: _open_array(path, data, entry) for entry in header.arrays}, header.meta


# -- Writing --------------------------------------------------------------------------------------


def _flat_array(name: str, array: Array) -> Array:
    """Return the array as contiguous memory, if its type can be written."""
    array = np.asarray(array, order="C")
    dtype = array.dtype
    if dtype.hasobject or dtype.names is not None or np.dtype(dtype.str) != dtype:
        raise InputError(f"array {name!r} has the type {dtype}, which has no fixed form on disk")
    return array


def _build_header(arrays: Mapping[str, Array], meta: dict[str, object]) -> _Header:
    entries = []
    end = 0
    for name, array in arrays.items():
        offset = _align(end)
        checksum = xxhash.xxh3_64_hexdigest(_bytes(array))
        entries.append(
            _Entry(name, array.dtype.str, list(array.shape), offset, array.nbytes, checksum)
        )
        end = offset + array.nbytes
    return _Header(entries, end, meta)


def _padded_chunks(arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    end = 0
    for array in arrays.values():
        yield bytes(_align(end) - end)
        yield _bytes(array)
        end = _align(end) + array.nbytes


def _bytes(array: Array) -> memoryview:
    # Through a view: arrays of times do not export a buffer, and an empty array has no bytes.
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


def _align(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


# -- Reading --------------------------------------------------------------------------------------


def _map_file(path: Path, size: int) -> mmap.mmap | bytearray:
    try:
        with path.open("rb") as file:
            actual = os.fstat(file.fileno()).st_size
            if actual != size:
                raise IndexCorrupt(path, f"holds {actual:,} bytes instead of {size:,}")
            # An empty file cannot be mapped.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else bytearray()
    except FileNotFoundError:
        raise IndexCorrupt(path, "is missing") from None


def _open_array(path: Path, data: mmap.mmap | bytearray, entry: _Entry) -> Array:
    with memoryview(data)[entry.offset : entry.offset + entry.bytes] as content:
        if xxhash.xxh3_64_hexdigest(content) != entry.checksum:
            raise IndexCorrupt(path, f"is damaged: the checksum of array {entry.name!r} is wrong")
    array: Array = np.ndarray(entry.shape, np.dtype(entry.dtype), data, entry.offset)
    return array
