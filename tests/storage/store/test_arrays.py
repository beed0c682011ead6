"""Folders of arrays survive a round trip, memory-mapped, or raise an error."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from tamis.errors import IndexCorrupt, InputError
from tamis.storage.store.arrays import open_arrays, write_arrays

DTYPES = st.one_of(
    hn.boolean_dtypes(),
    hn.integer_dtypes(endianness="?"),
    hn.floating_dtypes(endianness="?"),
    hn.complex_number_dtypes(),
    hn.datetime64_dtypes(),
    hn.timedelta64_dtypes(),
    hn.unicode_string_dtypes(max_len=5),
    hn.byte_string_dtypes(max_len=5),
)
ARRAYS = hn.arrays(DTYPES, hn.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
METAS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Equal to the bit: NaN, NaT and the padding of text included."""
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
    )


@given(
    arrays=st.dictionaries(st.text(max_size=5), ARRAYS, max_size=5),
    meta=st.dictionaries(st.text(max_size=5), METAS, max_size=3),
    backwards=st.booleans(),
)
def test_arrays_survive_a_round_trip(tmp_path_factory, arrays, meta, backwards: bool) -> None:
    folder = tmp_path_factory.mktemp("arrays") / "x"
    if backwards:
        arrays = {name: array.T for name, array in arrays.items()}
    write_arrays(folder, arrays, meta)
    found, found_meta = open_arrays(folder)
    assert list(found) == list(arrays) and found_meta == meta
    for name, array in arrays.items():
        assert same(found[name], array)
        assert found[name].flags.writeable  # for Numba; the file never changes
        assert found[name].nbytes == 0 or found[name].ctypes.data % 64 == 0
    shutil.rmtree(folder)


def test_no_unfinished_files_are_left(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", {"a": np.arange(3)}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_the_folder_appears_when_it_is_complete(tmp_path: Path, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append((tmp_path / "x").exists()))
    write_arrays(tmp_path / "x", {"a": np.arange(3)}, {})
    # The two files and their folder; then the parent of the folder.
    assert seen == [False, False, False, True]


def test_leftovers_of_an_unfinished_write_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "x.tmp").mkdir()
    (tmp_path / "x.tmp" / "arrays").write_bytes(b"half")
    write_arrays(tmp_path / "x", {"a": np.arange(3)}, {})
    assert open_arrays(tmp_path / "x")[0]["a"].tolist() == [0, 1, 2]


def test_a_removed_folder_stays_readable(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", {"a": np.arange(100_000)}, {})
    arrays, _ = open_arrays(tmp_path / "x")
    shutil.rmtree(tmp_path / "x")
    assert arrays["a"].sum() == 4_999_950_000


@pytest.mark.parametrize(
    "array",
    [
        np.array([object()]),
        np.array(["text"], dtype=np.dtypes.StringDType()),
        np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    ],
)
def test_arrays_without_a_fixed_form_are_refused(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(InputError, match="array 'bad'"):
        write_arrays(tmp_path / "x", {"bad": array}, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [(1, 2), b"x", float("nan"), {1: 2}, object(), {"a"}, "\ud800"])
def test_meta_that_is_not_json_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(InputError, match="meta"):
        write_arrays(tmp_path / "x", {}, {"a": value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("file", ["header", "arrays"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    write_arrays(tmp_path / "x", {"a": np.arange(3)}, {})
    (tmp_path / "x" / file).unlink()
    with pytest.raises(IndexCorrupt, match="is missing") as caught:
        open_arrays(tmp_path / "x")
    assert caught.value.path == str(tmp_path / "x" / file)


@pytest.mark.parametrize("file", ["header", "arrays"])
def test_every_truncation_is_detected(tmp_path: Path, file: str) -> None:
    write_arrays(tmp_path / "x", {"a": np.arange(9), "b": np.arange(3)}, {"k": "v"})
    path = tmp_path / "x" / file
    size = path.stat().st_size
    for wrong in [size + 1, *range(size - 1, -1, -1)]:
        os.truncate(path, wrong)
        with pytest.raises(IndexCorrupt) as caught:
            open_arrays(tmp_path / "x")
        assert caught.value.path == str(path)


def test_another_format_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", {"a": np.arange(9)}, {})
    header = tmp_path / "x" / "header"
    header.write_bytes(header.read_bytes().replace(b"tamis-index 1 ", b"tamis-index 23 ", 1))
    with pytest.raises(IndexCorrupt, match="has format 23; this version of Tamis reads format 1"):
        open_arrays(tmp_path / "x")


def test_the_array_that_is_damaged_is_named(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", {"a": np.zeros(64, "u1"), "b": np.zeros(64, "u1")}, {})
    (tmp_path / "x" / "arrays").write_bytes(bytes(64) + b"\1" + bytes(63))
    with pytest.raises(IndexCorrupt, match="array 'b'"):
        open_arrays(tmp_path / "x")
