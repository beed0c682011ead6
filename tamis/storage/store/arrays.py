"""A folder of arrays that is written once and then memory-mapped by whoever needs it.

    header   sealed: name, type, shape, place and checksum of every array, and `meta`
    arrays   the arrays, one after the other, each at a multiple of 64 bytes

All arrays are one mapping, so that opening costs one system call however many there are; processes
that open the same folder share its pages. The folder appears under its name when it is whole.
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
    """Write arrays into a new folder; when this returns they are on disk.

    Args:
        folder: Must not be there yet; what it lies in must.
        arrays: Of fixed-size elements: numbers, truth values, times, text of fixed width.
        meta: Anything that JSON can hold.

    Raises:
        InputError: An array or `meta` is of a kind that cannot be written.
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
    """Map the arrays of a folder, and check every byte of them.

    They may be written to, which the file never sees: what is read-only is another type to Numba,
    and would have every kernel compiled again.

    Returns:
        The arrays in the order in which they were given, and `meta`.

    Raises:
        IndexCorrupt: A file is missing, cut off, damaged, or of another format.
    """
    header = read_sealed(folder / HEADER, _Header)
    path = folder / DATA
    data = _map_file(path, header.bytes)
    return {entry.name: _open_array(path, data, entry) for entry in header.arrays}, header.meta


# -- Writing --------------------------------------------------------------------------------------


def _flat_array(name: str, array: Array) -> Array:
    """The array with its elements in a row, if a file can hold them."""
    array = np.asarray(array, order="C")
    dtype = array.dtype
    if dtype.hasobject or dtype.names is not None or np.dtype(dtype.str) != dtype:
        raise InputError(f"array {name!r} is of {dtype}, which has no fixed form on disk")
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
    # By way of a view: times have no buffer of their own, and nothing has no bytes to look at.
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")


def _align(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


# -- Reading --------------------------------------------------------------------------------------


def _map_file(path: Path, size: int) -> mmap.mmap | bytearray:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise IndexCorrupt(path, f"holds {found:,} bytes instead of {size:,}")
            # There is no mapping of nothing.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else bytearray()
    except FileNotFoundError:
        raise IndexCorrupt(path, "is missing") from None


def _open_array(path: Path, data: mmap.mmap | bytearray, entry: _Entry) -> Array:
    with memoryview(data)[entry.offset : entry.offset + entry.bytes] as found:
        if xxhash.xxh3_64_hexdigest(found) != entry.checksum:
            raise IndexCorrupt(path, f"is damaged: the checksum of array {entry.name!r} is wrong")
    array: Array = np.ndarray(entry.shape, np.dtype(entry.dtype), data, entry.offset)
    return array
