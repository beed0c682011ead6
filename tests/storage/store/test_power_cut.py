"""A power cut at every step: what was acknowledged is there, whatever was not synced is lost.

A model of a disk remembers what a file held when it was last synced, and which names a folder had
when it was. At every call that touches the disk it draws three pictures of what may be found after
a crash: all that was done (a process was killed); all names, but only contents that were synced;
only names and contents that were synced. A file that was written over since it was synced is empty
then. Every picture must open as the store before or after the call that was going on.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tamis.storage.store import Store
from tests.storage.store.contents import Contents, check_tidy, contents, on_disk

# The inode of a file or folder, and whether it is a folder.
Place = tuple[int, bool]


class Disk:
    """Pictures of a folder, each with the number of the step that was going on."""

    def __init__(self, root: Path, pictures: Path) -> None:
        self.root, self.pictures = root, pictures
        self.step = 0
        self.taken: list[tuple[int, Path]] = []
        self.contents: dict[int, bytes] = {}
        self.names: dict[int, dict[str, Place]] = {}
        # Descriptors of all that was synced: as long as they are open, no inode comes twice.
        self.open: dict[int, int] = {}

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        for name in ("replace", "rename", "unlink", "rmdir", "mkdir"):
            patch.setattr(os, name, self.before(getattr(os, name)))
        patch.setattr(os, "fsync", self.sync)

    def before(self, call):
        def watched(*arguments, **named):
            self.take()
            return call(*arguments, **named)

        return watched

    def sync(self, descriptor: int) -> None:
        self.take()
        inode = os.fstat(descriptor).st_ino
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_dir():
            self.names[inode] = {file.name: _place(file) for file in path.iterdir()}
        else:
            self.contents[inode] = path.read_bytes()
        if inode not in self.open:
            self.open[inode] = os.dup(descriptor)
        self.take()

    def take(self) -> None:
        with pytest.MonkeyPatch.context() as real:
            for name, call in REAL.items():
                real.setattr(os, name, call)
            shutil.copytree(self.root, self._new())
            self._draw(self.root, self._new())
            self._draw_synced(self.root.stat().st_ino, self._new())

    def _new(self) -> Path:
        picture = self.pictures / f"{len(self.taken):05d}"
        self.taken.append((self.step, picture))
        return picture

    def _draw(self, folder: Path, copy: Path) -> None:
        copy.mkdir()
        for file in folder.iterdir():
            if file.is_dir():
                self._draw(file, copy / file.name)
            else:
                (copy / file.name).write_bytes(self._synced(file.stat().st_ino))

    def _draw_synced(self, folder: int, copy: Path) -> None:
        copy.mkdir()
        for name, (inode, is_folder) in self.names.get(folder, {}).items():
            if is_folder:
                self._draw_synced(inode, copy / name)
            else:
                (copy / name).write_bytes(self._synced(inode))

    def _synced(self, inode: int) -> bytes:
        if inode not in self.contents:
            return b""
        synced = self.contents[inode]
        now = Path(f"/proc/self/fd/{self.open[inode]}").read_bytes()
        return synced if now.startswith(synced) else b""


def _place(path: Path) -> Place:
    return path.stat().st_ino, path.is_dir()


REAL = {name: getattr(os, name) for name in ("replace", "rename", "unlink", "rmdir", "mkdir")}


def segment(*numbers: int):
    return {"n": np.array(numbers), "more": np.arange(1000)}, {"of": len(numbers)}


def script(path: Path, sync: bool):
    """The life of a store, step by step."""
    store = Store.create(path, {"a": 1}, sync=sync)
    yield
    store.append([(1,), (2,)])
    yield
    store.append([(3, "x" * 5000)])
    yield
    store.commit(add=[segment(1, 2)], covers=2)
    yield
    store.append([(4,)])
    yield
    store.commit(removed={store.segments[0].name: np.array([1])}, meta={"a": 2})
    yield
    store.append([(5,)])
    yield
    store.commit(add=[segment(1, 3, 4)], drop=[store.segments[0].name], covers=4)
    yield
    store.close()
    store = Store.open(path, sync=sync)
    yield
    store.commit(covers=5)
    yield
    store.close()


@pytest.mark.parametrize("sync", [True, False])
def test_acknowledged_changes_survive_a_power_cut_at_every_step(tmp_path: Path, sync: bool) -> None:
    root, pictures = tmp_path / "disk", tmp_path / "pictures"
    root.mkdir(), pictures.mkdir()
    disk = Disk(root, pictures)
    states: list[Contents | None] = [None]
    with pytest.MonkeyPatch.context() as patch:
        disk.watch(patch)
        for _ in script(root / "store", sync):
            states.append(on_disk(root / "store"))
            disk.step += 1
    states.append(states[-1])
    for descriptor in disk.open.values():
        os.close(descriptor)
    seen = set()
    for step, picture in disk.taken:
        found = _found(picture / "store")
        if sync:
            assert found in (states[step], states[step + 1]), (step, picture)
        else:
            _check_unsynced(found, states[: step + 2])
        seen.add((step, found == states[step + 1]))
    # The pictures show both sides of every switch.
    changing = {step for step in range(disk.step) if states[step] != states[step + 1]}
    assert not sync or seen >= {(step, after) for step in changing for after in (False, True)}


def _check_unsynced(found: Contents | None, states: list[Contents | None]) -> None:
    """Only changes after the last commit may be missing, and then the last of them."""
    if found is None:
        assert states[-2] is None
        return
    assert found.version in [state.version for state in states[-2:] if state]
    same = [state for state in states if state and state.version == found.version]
    assert found[:5] == same[-1][:5]
    assert len(found.changes) >= len(same[0].changes)
    assert found.changes == same[-1].changes[: len(found.changes)]


def _found(path: Path) -> Contents | None:
    if not path.exists():
        return None
    with Store.open(path) as store:
        found = contents(store)
        check_tidy(path)
        store.append([("it", "goes", "on")])
        store.commit(add=[segment(9)], covers=store.position - 1)
    assert on_disk(path).changes == [("it", "goes", "on")]
    return found
