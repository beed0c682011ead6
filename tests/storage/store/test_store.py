"""The calls of the store, on disk and for the caller."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tamis.errors import IndexCorrupt, InputError
from tamis.storage.store import Store
from tests.storage.store.contents import check_tidy, contents, on_disk, small


def test_a_new_store_is_empty(path: Path) -> None:
    with Store.create(path, {"schema": [1, None]}) as store:
        assert contents(store) == (1, 0, {"schema": [1, None]}, [], [], [])
        assert store.version == 1 and store.meta == {"schema": [1, None]}
        assert store.position == 0 and store.path == path
    check_tidy(path)
    assert [file.name for file in path.parent.iterdir()] == ["store"]


def test_a_store_can_be_created_in_empty_and_missing_folders(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Store.create(tmp_path / "empty").close()
    Store.create(tmp_path / "a" / "b").close()
    assert on_disk(tmp_path / "empty") == on_disk(tmp_path / "a" / "b")


def test_create_never_replaces(path: Path) -> None:
    Store.create(path, {"mine": 1}).close()
    file = path.parent / "file"
    file.write_text("text")
    for taken in (path, file):
        with pytest.raises(InputError, match="already exists; choose another path"):
            Store.create(taken)
    assert on_disk(path).meta == {"mine": 1}
    assert {entry.name for entry in path.parent.iterdir()} == {"store", "file"}


def test_a_missing_store_cannot_be_opened(path: Path) -> None:
    with pytest.raises(InputError, match="there is no index here"):
        Store.open(path)
    path.mkdir()
    with pytest.raises(IndexCorrupt, match="CURRENT: is missing"):
        Store.open(path)


def test_changes_survive_reopening(path: Path) -> None:
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


def test_a_commit_covers_some_changes(path: Path) -> None:
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


def test_covered_changes_are_no_longer_listed(path: Path) -> None:
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


def test_a_commit_drops_segments_and_records_removals(path: Path) -> None:
    with Store.create(path) as store:
        store.commit(add=[small(1, 2), small(3), small(4)])
        a, b, c = (segment.name for segment in store.segments)
        store.commit(removed={a: np.array([0]), b: np.array([True])})
        store.commit(add=[small(3, 4)], drop=[b, c], removed={a: np.array([0, 1])})
        assert contents(store) == on_disk(path)
        assert [segment.arrays["n"].tolist() for segment in store.segments] == [[1, 2], [3, 4]]
        assert store.removals[a].tolist() == [0, 1]
        assert store.removals[store.segments[1].name] is None
        check_tidy(path)


def test_invalid_commits_change_nothing(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,), (2,)])
        store.commit(add=[small(1)], covers=1)
        (name,) = store.removals
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


def test_a_closed_store_refuses_writes(path: Path) -> None:
    store = Store.create(path)
    store.commit(add=[small(1)])
    store.close()
    store.close()
    assert store.segments[0].arrays["n"].tolist() == [1]
    for call in (lambda: store.append([(1,)]), lambda: store.commit()):
        with pytest.raises(InputError, match="it is closed"):
            call()


def test_a_store_can_be_copied(path: Path) -> None:
    with Store.create(path) as store:
        store.append([(1,)])
        store.commit(add=[small(1)], covers=0)
    copy = path.parent / "copy"
    shutil.copytree(path, copy)
    with Store.open(copy) as store:
        assert contents(store) == on_disk(path)
