"""The store: what each call does, on disk and for others that have it open."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tamis.errors import IndexCorrupt, IndexLocked, InputError
from tamis.index import Store
from tamis.index.manifest import current_file, read_manifest, switch_to
from tests.index.contents import check_tidy, contents, on_disk, put


def small(*numbers: int) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    return {"n": np.array(numbers)}, {"count": len(numbers)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_a_new_store_is_empty(path: Path) -> None:
    with Store.create(path, {"schema": [1, None]}) as store:
        assert contents(store) == (1, 0, {"schema": [1, None]}, [], [], [])
        assert store.version == 1 and store.meta == {"schema": [1, None]}
        assert store.position == 0 and store.path == path
    check_tidy(path)
    assert [file.name for file in path.parent.iterdir()] == ["store"]


def test_create_in_an_empty_folder_and_below_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Store.create(tmp_path / "empty").close()
    Store.create(tmp_path / "a" / "b").close()
    assert on_disk(tmp_path / "empty") == on_disk(tmp_path / "a" / "b")


def test_create_never_replaces(path: Path) -> None:
    Store.create(path, {"mine": 1}).close()
    file = path.parent / "file"
    file.write_text("text")
    for taken in (path, file):
        with pytest.raises(InputError, match="something is there already"):
            Store.create(taken)
    assert on_disk(path).meta == {"mine": 1}
    assert {entry.name for entry in path.parent.iterdir()} == {"store", "file"}


def test_nothing_to_open(path: Path) -> None:
    with pytest.raises(InputError, match="there is no index here"):
        Store.open(path)
    path.mkdir()
    with pytest.raises(IndexCorrupt, match="CURRENT: is missing"):
        Store.open(path)


def test_changes_come_back(path: Path) -> None:
    with Store.create(path) as store:
        assert store.append([("add", 1, "a = 1"), ("remove", b"\0", None)]) == 2
        assert store.append([]) == 2
        assert store.append(("add", n) for n in range(3)) == 5
        assert store.changes == []
    with Store.open(path) as store:
        assert store.changes == [
            ("add", 1, "a = 1"), ("remove", b"\0", None), ("add", 0), ("add", 1), ("add", 2)
        ]  # fmt: skip
        assert store.position == 5


def test_commit_covers_some_changes(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,), (2,), (3,)])
        store.append([(4,)])
        assert store.commit(add=[small(1, 2)], covers=2, meta={"m": 1}) == 2
        check_tidy(path)
        store.append([(5,)])
        assert store.commit(covers=2) == 3
        assert len(list(path.glob("log-*"))) == 2
        assert store.commit(add=[small(3, 4), small()], covers=4) == 4
        assert len(list(path.glob("log-*"))) == 2
        check_tidy(path)
    found = on_disk(path)
    assert found[:3] == (4, 4, {"m": 1})
    assert [segment[1:] for segment in found.segments] == [
        ({"n": [1, 2]}, {"count": 2}), ({"n": [3, 4]}, {"count": 2}), ({"n": []}, {"count": 0})
    ]  # fmt: skip
    assert found.changes == [(5,)]


def test_the_changes_that_were_found_go_as_they_are_covered(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,), (2,), (3,)])
    with Store.open(path) as store:
        store.append([(4,)])
        assert store.changes == [(1,), (2,), (3,)]
        store.commit(covers=1)
        assert store.changes == [(2,), (3,)]
        store.commit(covers=4)
        assert store.changes == []
        assert len(list(path.glob("log-*"))) == 1


def test_drop_and_removed(path: Path) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1, 2), small(3), small(4)])
        a, b, c = (segment.name for segment in store.segments)
        store.commit(removed={a: np.array([0]), b: np.array([True])})
        store.commit(add=[small(3, 4)], drop=[b, c], removed={a: np.array([0, 1])})
        assert contents(store) == on_disk(path)
        assert [segment.arrays["n"].tolist() for segment in store.segments] == [[1, 2], [3, 4]]
        assert store.removed[a].tolist() == [0, 1]
        assert store.removed[store.segments[1].name] is None
        check_tidy(path)


def test_wrong_commits_change_nothing(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,), (2,)])
        store.commit(add=[small(1)], covers=1)
        (name,) = store.removed
        before = on_disk(path)
        files = sorted(path.iterdir())
        wrong = [
            {"drop": ["other"]},
            {"removed": {"other": np.array([1])}},
            {"drop": [name], "removed": {name: np.array([1])}},
            {"covers": 0},
            {"covers": 3},
            {"meta": {"a": (1,)}},
            {"add": [small(5), ({"n": np.array([object()])}, {})]},
            {"add": [({"n": np.arange(3)}, {"a": b""})]},
        ]
        for arguments in wrong:
            with pytest.raises(InputError):
                store.commit(**arguments)
        with pytest.raises(InputError):
            store.append(["text"])
        assert on_disk(path) == before and sorted(path.iterdir()) == files
        assert store.append([(3,)]) == 3


def test_one_writer(path: Path) -> None:
    with Store.create(path) as store:
        with pytest.raises(IndexLocked, match="another writer has it open") as caught:
            Store.open(path)
        assert caught.value.path == str(path)
        script = "import sys; from tamis.index import Store; Store.open(sys.argv[1])"
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True
        )
        assert "IndexLocked" in done.stderr
        store.append([(1,)])
    Store.open(path).close()


def test_a_store_that_cannot_be_opened_is_not_locked(path: Path) -> None:
    Store.create(path).close()
    good = (path / "CURRENT").read_bytes()
    (path / "CURRENT").write_bytes(b"bad")
    with pytest.raises(IndexCorrupt):
        Store.open(path)
    (path / "CURRENT").write_bytes(good)
    Store.open(path).close()


def test_readers_take_no_lock_and_write_nothing(path: Path) -> None:
    with Store.create(path) as store, Store.open(path, writable=False) as reader:
        for call in (lambda: reader.append([(1,)]), lambda: reader.commit()):
            with pytest.raises(InputError, match="for reading only"):
                call()
        store.append([(1,)])
        log = path / "log-000001"
        log.write_bytes(log.read_bytes() + b"torn")
        (path / "segment-000099").mkdir()
        files = {file: file.stat().st_size for file in path.iterdir()}
        assert on_disk(path).changes == [(1,)]
        assert {file: file.stat().st_size for file in path.iterdir()} == files


def test_a_reader_keeps_its_version(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,)])
        store.commit(add=[({"n": np.arange(100_000)}, {})], removed={}, covers=1)
        name = store.segments[0].name
        store.append([(2,)])
        reader, view = Store.open(path, writable=False), store.view
        store.commit(drop=[name], covers=2, meta={"new": True})
        assert not (path / name).exists()
        for old in (reader.view, view):
            assert old.version == 2 and old.meta == {}
            assert old.segments[0].arrays["n"].sum() == 4_999_950_000
        assert reader.changes == [(2,)] and reader.position == 2


def test_closed(path: Path) -> None:
    store = Store.create(path)
    store.commit(add=[small(1)])
    store.close()
    store.close()
    assert store.segments[0].arrays["n"].tolist() == [1]
    for call in (lambda: store.append([(1,)]), lambda: store.commit()):
        with pytest.raises(InputError, match="it is closed"):
            call()


def test_a_fork_has_no_right_to_write(path: Path) -> None:
    with Store.create(path) as store:
        said = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                store.append([(1,)])
            except InputError as error:
                os.write(said[1], str(error).encode())
            store.close()
            os._exit(0)
        os.waitpid(child, 0)
        os.close(said[1])
        assert b"a fork of" in os.read(said[0], 1000)
        os.close(said[0])
        with pytest.raises(IndexLocked):
            Store.open(path)
        store.append([(2,)])
    assert on_disk(path).changes == [(2,)]


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
        # Nobody said whether it was written.
        assert store.changes in ([(1,)], [(1,), (2,)])
        store.append([(3,)])
    assert on_disk(path).changes[-1] == (3,)


def _fail(*_: object) -> None:
    raise OSError("no")


class _Full:
    """A file on a full disk: it takes a part of what it is given, and then no more."""

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


def test_a_failed_switch_leaves_the_store_in_doubt(path: Path, monkeypatch) -> None:
    store = Store.create(path)
    store.append([(1,)])
    with monkeypatch.context() as patch:
        patch.setattr("tamis.index.writer.switch_to", _fail)
        with pytest.raises(OSError):
            store.commit(add=[small(1)], covers=1)
    with pytest.raises(InputError, match="a write failed half-way"):
        store.append([(2,)])
    store.close()
    with Store.open(path) as store:
        assert contents(store) == (1, 0, {}, [], [], [(1,)])
        check_tidy(path)


def test_a_switch_that_is_done_before_it_fails(path: Path, monkeypatch) -> None:
    """Then the files of the new version must not be removed."""

    def late(*arguments) -> None:
        switch_to(*arguments)
        raise OSError("no")

    with Store.create(path) as store, monkeypatch.context() as patch:
        store.append([(1,)])
        patch.setattr("tamis.index.writer.switch_to", late)
        with pytest.raises(OSError):
            store.commit(add=[small(1)], covers=1)
    with Store.open(path) as store:
        assert store.version == 2 and store.changes == []
        check_tidy(path)


def test_a_reader_tries_again_when_a_commit_comes_between(path: Path, monkeypatch) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1)])

        def late(folder: Path, file: str):
            manifest = read_manifest(folder, file)
            if store.version < 5:
                store.commit(add=[small(2)], drop=list(store.removed))
            return manifest

        monkeypatch.setattr("tamis.index.view.read_manifest", late)
        assert on_disk(path).version == 5


@pytest.mark.parametrize("step", ["write_arrays", "open_segment", "create_log", "write_manifest"])
def test_a_commit_that_fails_before_the_switch_changes_nothing(
    path: Path, monkeypatch, step: str
) -> None:
    with Store.create(path) as store:
        store.append([(1,)])
        with monkeypatch.context() as patch:
            patch.setattr(f"tamis.index.writer.{step}", _fail)
            with pytest.raises(OSError):
                store.commit(add=[small(1)], covers=1)
        check_tidy(path)
        store.append([(2,)])
        assert on_disk(path) == (1, 0, {}, [], [], [(1,), (2,)])
        store.commit(add=[small(1)], covers=1)
        assert on_disk(path).changes == [(2,)]


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


def test_files_that_vanish_without_a_new_version(path: Path) -> None:
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


def test_a_manifest_under_another_name(path: Path) -> None:
    with Store.create(path) as store:
        old = (path / current_file(path)).read_bytes()
        store.commit()
    (path / current_file(path)).write_bytes(old)
    with pytest.raises(IndexCorrupt, match="is manifest-000001 under another name"):
        Store.open(path)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_flip_of_every_file(path: Path, mask: int) -> None:
    """An error that names a file; or, in the padding between arrays, nothing at all."""
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


def test_many_threads(path: Path) -> None:
    """Two append, one commits, one opens for reading meanwhile: no change is lost or doubled."""
    store = Store.create(path, sync=False)
    appended = [0, 0]
    end = time.monotonic() + 60
    done = threading.Event()
    errors: list[BaseException] = []

    def guarded(work) -> threading.Thread:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                errors.append(error)

        return threading.Thread(target=run)

    def append(who: int) -> None:
        while store.version < 12 and not errors and time.monotonic() < end:
            store.append([(who, appended[who], part) for part in range(3)])
            appended[who] += 1

    def commit() -> None:
        while not done.is_set():
            with Store.open(path, writable=False) as reader:
                held, changes = reader.view, reader.changes
            if held.covered == store.view.covered:
                arrays = {"changes": np.array(changes, np.int64).reshape(-1, 3)}
                store.commit(add=[(arrays, {})], covers=held.covered + len(changes))

    def read() -> None:
        while not done.is_set():
            with Store.open(path, writable=False) as reader:
                _check_order(_all_changes(reader))

    appenders = [guarded(lambda who=who: append(who)) for who in range(2)]
    others = [guarded(commit), guarded(read)]
    for thread in appenders + others:
        thread.start()
    for thread in appenders:
        thread.join()
    done.set()
    for thread in others:
        thread.join()
    store.close()
    assert not errors
    with Store.open(path) as store:
        assert store.version >= 12
        found = _all_changes(store)
    _check_order(found)
    assert len(found) == store.position == sum(appended) * 3


def _all_changes(store: Store) -> list[tuple[int, ...]]:
    rows = [tuple(row) for one in store.segments for row in one.arrays["changes"].tolist()]
    return rows + store.changes


def _check_order(changes: list[tuple[int, ...]]) -> None:
    """Batches are whole, and each thread's are in the order in which it appended them."""
    assert [part for _, _, part in changes] == [0, 1, 2] * (len(changes) // 3)
    for who in range(2):
        numbers = [n for one, n, part in changes if one == who and part == 0]
        assert numbers == list(range(len(numbers)))


def test_close_waits_for_a_commit(path: Path, monkeypatch) -> None:
    """Else the next writer would clean up under its hands."""
    from tamis.index import writer

    store = Store.create(path)
    begun, go_on = threading.Event(), threading.Event()
    write = writer.write_arrays

    def slow(*arguments) -> None:
        begun.set()
        go_on.wait(10)
        write(*arguments)

    monkeypatch.setattr(writer, "write_arrays", slow)
    commit = threading.Thread(target=lambda: store.commit(add=[small(1)]))
    commit.start()
    begun.wait(10)
    close = threading.Thread(target=store.close)
    close.start()
    # Appending does not wait: the segment is not there yet.
    assert store.append([(1,)]) == 1
    with pytest.raises(IndexLocked):
        Store.open(path)
    go_on.set()
    commit.join()
    close.join()
    assert on_disk(path).version == 2 and on_disk(path).changes == [(1,)]


def test_spawned_processes_read(path: Path) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1, 2, 3)])
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(on_disk, (path,)) == on_disk(path)


def test_a_store_can_be_copied(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,)])
        store.commit(add=[small(1)], covers=0)
    copy = path.parent / "copy"
    shutil.copytree(path, copy)
    with Store.open(copy) as store:
        assert contents(store) == on_disk(path)
