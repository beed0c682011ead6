"""A store that is shared by processes, forks and threads, one of which may write."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tamis.errors import IndexCorrupt, IndexLocked, InputError
from tamis.storage.store import Store
from tamis.storage.store.manifest import read_manifest
from tests.storage.store.contents import on_disk, small


def test_a_store_has_one_writer(path: Path) -> None:
    with Store.create(path) as store:
        with pytest.raises(IndexLocked, match="another writer has it open") as caught:
            Store.open(path)
        assert caught.value.path == str(path)
        script = "import sys; from tamis.storage.store import Store; Store.open(sys.argv[1])"
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


def test_a_reader_retries_when_a_commit_interferes(path: Path, monkeypatch) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1)])

        def late(folder: Path, file: str):
            manifest = read_manifest(folder, file)
            if store.version < 5:
                store.commit(add=[small(2)], drop=list(store.removals))
            return manifest

        monkeypatch.setattr("tamis.storage.store.view.read_manifest", late)
        assert on_disk(path).version == 5


def test_a_fork_cannot_write(path: Path) -> None:
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


def test_spawned_processes_can_read(path: Path) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1, 2, 3)])
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(on_disk, (path,)) == on_disk(path)


def test_close_waits_for_a_commit(path: Path, monkeypatch) -> None:
    """Otherwise the next writer would remove files of the commit."""
    from tamis.storage.store import writer

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
    # Appending does not wait for the commit: the segment is not written yet.
    assert store.append([(1,)]) == 1
    with pytest.raises(IndexLocked):
        Store.open(path)
    go_on.set()
    commit.join()
    close.join()
    assert on_disk(path).version == 2 and on_disk(path).changes == [(1,)]


def test_threads_lose_and_duplicate_no_change(path: Path) -> None:
    """Two threads append, one commits, one reads: no change is lost or duplicated."""
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
    """Check that batches are complete, and that those of each thread are in order."""
    assert [part for _, _, part in changes] == [0, 1, 2] * (len(changes) // 3)
    for who in range(2):
        numbers = [n for one, n, part in changes if one == who and part == 0]
        assert numbers == list(range(len(numbers)))
