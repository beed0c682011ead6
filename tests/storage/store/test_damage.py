"""Files that are missing, exchanged or changed: always an error that names a file."""

from pathlib import Path

import numpy as np
import pytest

from tamis.errors import IndexCorrupt
from tamis.storage.store import Store
from tamis.storage.store.manifest import current_file
from tests.storage.store.contents import on_disk, put, small


def test_a_missing_file_is_named(path: Path) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1)], removed={})
        store.commit(removed={store.segments[0].name: np.array([1])})
    for file in sorted(path.iterdir()):
        if file.name == "LOCK":
            continue
        aside = path.parent / "aside"
        file.rename(aside)
        for writable in (True, False):
            with pytest.raises(IndexCorrupt, match="is missing") as caught:
                Store.open(path, writable=writable)
            assert caught.value.path.startswith(str(file))
        aside.rename(file)
    Store.open(path).close()


def test_a_manifest_under_another_name_is_corrupt(path: Path) -> None:
    with Store.create(path) as store:
        old = (path / current_file(path)).read_bytes()
        store.commit()
    (path / current_file(path)).write_bytes(old)
    with pytest.raises(IndexCorrupt, match="is manifest-000001 under another name"):
        Store.open(path)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_flipped_bit_in_any_file_is_detected(path: Path, mask: int) -> None:
    """A flip raises an error that names a file; in the padding between arrays it is harmless."""
    with Store.create(path, {"schema": "x"}) as store:
        store.append([(1, "one"), (2, "two")])
        store.append([(3, "three")])
        store.commit(add=[({"a": np.arange(5), "b": np.array([True])}, {"k": [1]})], covers=1)
        store.commit(removed={store.segments[0].name: np.array([2, 4])})
        store.append([(4, "four")])
    whole = on_disk(path)
    noticed = 0
    files = [file for file in path.rglob("*") if file.is_file()]
    assert len(files) == 3 + 2 + 4  # CURRENT, LOCK, manifest; logs; two folders of arrays
    for file in files:
        for place, byte in enumerate(file.read_bytes()):
            put(file, place, byte ^ mask)
            try:
                assert on_disk(path) == whole
            except IndexCorrupt as error:
                assert error.path.startswith(str(path)) and Path(error.path) != path
                noticed += 1
            put(file, place, byte)
    assert on_disk(path) == whole
    total = sum(file.stat().st_size for file in files)
    assert noticed > total - 64
