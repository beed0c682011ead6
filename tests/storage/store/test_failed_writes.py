"""Writes that fail half-way, and their leftovers."""

import os
from pathlib import Path

import pytest

from tamis.errors import InputError
from tamis.storage.store import Store
from tamis.storage.store.manifest import switch_current
from tests.storage.store.contents import check_tidy, contents, on_disk, small


@pytest.mark.parametrize("broken", ["fsync", "write"])
def test_after_a_failed_append_nothing_more_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    store = Store.create(path)
    store.append([(1,)])
    with monkeypatch.context() as patch:
        if broken == "fsync":
            patch.setattr(os, "fsync", _fail)
        else:
            patch.setattr(store._writer._log, "_file", _Full(store._writer._log._file))
        with pytest.raises(OSError):
            store.append([(2,)])
    for call in (lambda: store.append([(3,)]), lambda: store.commit(covers=1)):
        with pytest.raises(InputError, match="a write failed half-way"):
            call()
    store.close()
    with Store.open(path) as store:
        # It is unknown whether it was written.
        assert store.changes in ([(1,)], [(1,), (2,)])
        store.append([(3,)])
    assert on_disk(path).changes[-1] == (3,)


def _fail(*_: object) -> None:
    raise OSError("no")


class _Full:
    """A file on a full disk: it writes a part of the data, and then nothing."""

    def __init__(self, file) -> None:
        self.file = file
        self.taken = False

    def write(self, part) -> int:
        if self.taken:
            raise OSError("full")
        self.taken = True
        return self.file.write(part[: len(part) // 2])

    def __getattr__(self, name: str):
        return getattr(self.file, name)


@pytest.mark.parametrize("step", ["write_arrays", "open_segment", "create_log", "write_manifest"])
def test_a_commit_that_fails_before_the_switch_changes_nothing(
    path: Path, monkeypatch, step: str
) -> None:
    with Store.create(path) as store:
        store.append([(1,)])
        with monkeypatch.context() as patch:
            patch.setattr(f"tamis.storage.store.writer.{step}", _fail)
            with pytest.raises(OSError):
                store.commit(add=[small(1)], covers=1)
        check_tidy(path)
        store.append([(2,)])
        assert on_disk(path) == (1, 0, {}, [], [], [(1,), (2,)])
        store.commit(add=[small(1)], covers=1)
        assert on_disk(path).changes == [(2,)]


def test_a_failed_switch_leaves_the_store_in_doubt(path: Path, monkeypatch) -> None:
    store = Store.create(path)
    store.append([(1,)])
    with monkeypatch.context() as patch:
        patch.setattr("tamis.storage.store.writer.switch_current", _fail)
        with pytest.raises(OSError):
            store.commit(add=[small(1)], covers=1)
    with pytest.raises(InputError, match="a write failed half-way"):
        store.append([(2,)])
    store.close()
    with Store.open(path) as store:
        assert contents(store) == (1, 0, {}, [], [], [(1,)])
        check_tidy(path)


def test_a_switch_that_fails_after_it_is_done_keeps_its_files(path: Path, monkeypatch) -> None:
    """Then the files of the new version must not be removed."""

    def late(*arguments) -> None:
        switch_current(*arguments)
        raise OSError("no")

    with Store.create(path) as store, monkeypatch.context() as patch:
        store.append([(1,)])
        patch.setattr("tamis.storage.store.writer.switch_current", late)
        with pytest.raises(OSError):
            store.commit(add=[small(1)], covers=1)
    with Store.open(path) as store:
        assert store.version == 2 and store.changes == []
        check_tidy(path)


def test_leftovers_are_removed_by_the_next_writer(path: Path) -> None:
    Store.create(path).close()
    for folder in ("segment-000007", "segment-000008.tmp", "removed-000009"):
        (path / folder).mkdir()
        (path / folder / "arrays").write_bytes(b"half")
    for file in ("log-000010", "manifest-000002", "manifest-000003.tmp", "CURRENT.tmp"):
        (path / file).write_bytes(b"half")
    (path / "notes.txt").write_text("not ours to remove")
    Store.open(path).close()
    assert (path / "notes.txt").exists()
    (path / "notes.txt").unlink()
    check_tidy(path)
