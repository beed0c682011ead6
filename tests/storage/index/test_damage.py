"""Damage is an error that names the file, never a wrong answer."""

import random
import shutil
from pathlib import Path

import pytest

import tamis
from tamis import errors
from tamis.storage.store import Store
from tests.soak import count

EVENTS = [{"a": number % 5, "b": number, "s": "x"} for number in range(60)]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("damage") / "index"
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((i, f"a = {i % 5} AND b > {i} OR s LIKE '%{i}'") for i in range(60))
    matcher.save(path)
    with tamis.Matcher.open(path) as matcher:
        for i in range(60, 80):
            matcher.add(i, f"a = {i % 5}")
        matcher.remove(3)
    with tamis.Matcher.open(path) as matcher:  # too few to become a segment
        matcher.remove(4)
        matcher.add(99, "a = 1")
    return path


def damaged(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    way = rng.choice(["flip", "cut", "gone", "more"])
    if way == "flip" and content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif way == "cut" and content:
        del content[rng.randrange(len(content)) :]
    elif way == "more":
        content += bytes([7]) * rng.randint(1, 9)
    else:
        file.unlink()
        return
    file.write_bytes(content)


@pytest.mark.parametrize("seed", range(count(60, 2_000)))
def test_damage_names_the_file(index, tmp_path, seed) -> None:
    rng = random.Random(seed)
    expected = tamis.Matcher.open(index, read_only=True).match_batch(EVENTS)
    copy = tmp_path / "copy"
    shutil.copytree(index, copy)
    files = [file for file in sorted(copy.rglob("*")) if file.is_file() and file.name != "LOCK"]
    file = rng.choice(files)
    damaged(file, rng)
    try:
        found = tamis.Matcher.open(copy, read_only=True).match_batch(EVENTS)
    except errors.IndexCorrupt as error:
        assert Path(error.path).is_relative_to(copy)
        # `CURRENT` may name a missing file; then that file is reported.
        assert error.path == str(file) or file.name == "CURRENT"
    except errors.InputError as error:
        assert file.name.startswith("manifest") and "no index here" in error.reason
    else:
        # Only the end of the log may be truncated, as after a crash.
        assert found == expected or file.name.startswith("log")


@pytest.mark.parametrize("made", ["nothing", "folder", "file", "files"])
def test_a_missing_index_is_reported(tmp_path, made) -> None:
    path = tmp_path / "x"
    if made == "folder":
        path.mkdir()
    elif made == "file":
        path.write_text("{}")
    elif made == "files":
        path.mkdir()
        (path / "rules.jsonl").write_text("{}")
    for read_only in (False, True):
        with pytest.raises(errors.InputError, match=r"x: there is no index here"):
            tamis.Matcher.open(path, read_only=read_only)


def test_other_metadata_is_refused(tmp_path) -> None:
    Store.create(tmp_path / "x", {"holds": "pictures"}).close()
    with pytest.raises(errors.InputError, match="not one of a matcher"):
        tamis.Matcher.open(tmp_path / "x")
    Store.create(tmp_path / "y", {"holds": "matcher", "engine": 5}).close()
    with pytest.raises(errors.IndexCorrupt, match="has invalid metadata"):
        tamis.Matcher.open(tmp_path / "y")


def test_another_layout_is_refused(index, tmp_path) -> None:
    """Another version of Tamis may write one array more, or one less."""
    shutil.copytree(index, tmp_path / "x")
    with Store.open(tmp_path / "x") as store:
        segment = store.segments[0]
        others = [("plan.narrow.third", segment.arrays["plan.narrow.second"]), None]
        for other in others:
            arrays = dict(store.segments[-1 if other is None else 0].arrays)
            if other is None:
                arrays.pop("plan.narrow.third", None)
                del arrays["plan.narrow.second"]
            else:
                arrays[other[0]] = other[1]
            meta = {**segment.meta}
            dropped = [s.name for s in store.segments if s.meta["key"] == meta["key"]]
            store.commit([(arrays, meta)], dropped)
            with pytest.raises(errors.IndexCorrupt, match=r"another version.*plan\.narrow"):
                tamis.Matcher.open(tmp_path / "x", read_only=True)
