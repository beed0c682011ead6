"""An open index: changes are durable, or undone if they cannot be logged, or refused."""

import pickle
import subprocess
import sys

import pytest

import tamis
from tamis import errors
from tamis.storage.store.log import LogWriter

ROWS = [(f"s{number}", f"a = {number % 5} AND b > {number}", number % 2) for number in range(40)]


@pytest.fixture
def path(tmp_path):
    matcher = tamis.Matcher(engine="block")
    matcher.add_many(ROWS)
    matcher.save(tmp_path / "index")
    return tmp_path / "index"


def texts(matcher: tamis.Matcher) -> dict[object, tuple[str, int]]:
    return {id: (matcher[id].text, matcher[id].priority) for id in matcher}


BEFORE = {id: (text, priority) for id, text, priority in ROWS}


def crashed(matcher: tamis.Matcher) -> None:
    """Simulate the end of the process: nothing more is written, and the lock is released."""
    journal = matcher._journal
    assert journal is not None
    journal._stopped.set()
    worker = journal._worker
    if worker is not None:
        worker.join()
    matcher._engine.watcher = None  # type: ignore[attr-defined]
    journal._store.close()


def test_changes_survive_without_closing(path) -> None:
    matcher = tamis.Matcher.open(path)
    matcher.add("new", "c = 1", 5)
    matcher.remove("s3")
    matcher.replace("s4", "c = 2")
    matcher.replace("s5", "c = 3", 9)
    matcher.add_many([("m1", "c = 4"), ("m2", "c = 5", -1)])
    matcher.add("gone", "c = 6")
    matcher.remove("gone")
    expected = BEFORE | {
        "new": ("c = 1", 5), "s4": ("c = 2", 0), "s5": ("c = 3", 9), "m1": ("c = 4", 0),
        "m2": ("c = 5", -1),
    }  # fmt: skip
    del expected["s3"]
    crashed(matcher)
    with tamis.Matcher.open(path) as again:
        assert texts(again) == expected
        assert again.match({"c": 3}) == ["s5"]
    assert texts(tamis.Matcher.open(path, read_only=True)) == expected


def test_many_changes_become_segments(path) -> None:
    with tamis.Matcher.open(path) as matcher:
        for number in range(100):
            matcher.add(f"n{number}", f"c = {number}")
        for number in range(0, 100, 3):
            matcher.remove(f"n{number}")
        expected = texts(matcher)
    store = tamis.Matcher.open(path, read_only=True)._journal._store
    assert store.position == 134 and store.changes == []  # covered when it was closed
    with tamis.Matcher.open(path) as again:
        assert texts(again) == expected and list(again) == list(matcher)
        assert again.match({"c": 4}) == ["n4"] and again.match({"c": 6}) == []


def test_the_log_does_not_grow_for_ever(path) -> None:
    """Even if the draft is never full, because additions are soon removed."""
    matcher = tamis.Matcher.open(path)
    for _ in range(300):
        matcher.add("new", "c = 1")
        matcher.remove("new")
        worker = matcher._journal._worker
        if worker is not None:
            worker.join()
    crashed(matcher)
    again = tamis.Matcher.open(path, read_only=True)
    assert len(again._journal._store.changes) < 100
    assert texts(again) == BEFORE


@pytest.mark.parametrize(
    "change",
    [
        lambda matcher: matcher.add("new", "c = 1"),
        lambda matcher: matcher.remove("s3"),
        lambda matcher: matcher.replace("s3", "c = 1", 7),
        lambda matcher: matcher.add_many([("m1", "c = 1"), ("m2", "c = 1")]),
    ],
)
@pytest.mark.parametrize("written", [False, True])
def test_a_change_that_cannot_be_logged_is_undone(path, monkeypatch, change, written) -> None:
    """It is unknown whether it is on disk, so changes are refused until the index is reopened."""
    append = LogWriter.append

    def fail(self, changes, sync):
        if written:
            append(self, changes, sync)
        self.in_doubt = True
        raise OSError(28, "No space left on device")

    matcher = tamis.Matcher.open(path)
    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, "append", fail)
        with pytest.raises(OSError, match="No space"):
            change(matcher)
    assert texts(matcher) == BEFORE
    assert matcher.match({"c": 1}) == []
    assert (
        matcher.match({"a": 3, "b": 100})
        == tamis.Matcher.open(path, read_only=True).match({"a": 3, "b": 100})
        or written
    )
    with pytest.raises(errors.InputError, match="a write failed half-way"):
        matcher.add("another", "a = 1")
    assert "another" not in matcher
    crashed(matcher)
    with tamis.Matcher.open(path) as again:
        assert (texts(again) == BEFORE) is not written


def test_a_refused_batch_changes_nothing(path) -> None:
    with tamis.Matcher.open(path) as matcher:
        with pytest.raises(errors.SelectorSyntaxError):
            matcher.add_many([("m1", "c = 1"), ("m2", "c =")])
        assert matcher.add_many([("m1", "c = 1"), ("m2", "c =")], bad="skip").count == 1
    with tamis.Matcher.open(path) as again:
        assert texts(again) == BEFORE | {"m1": ("c = 1", 0)}


def test_a_read_only_matcher_refuses_changes(path) -> None:
    matcher = tamis.Matcher.open(path, read_only=True)
    other = tamis.Matcher.open(path)  # readers hold no lock
    for change in (
        lambda: matcher.add("new", "a = 1"),
        lambda: matcher.remove("s1"),
        lambda: matcher.replace("s1", "a = 1"),
        lambda: matcher.add_many([("new", "a = 1")]),
    ):
        with pytest.raises(errors.InputError, match="is open for reading only"):
            change()
    assert texts(matcher) == BEFORE
    other.remove("s1")
    assert "s1" in matcher
    other.close()
    matcher.close()


def test_an_index_has_one_writer(path) -> None:
    with tamis.Matcher.open(path):
        with pytest.raises(errors.IndexLocked):
            tamis.Matcher.open(path)
        code = "import sys, tamis; tamis.Matcher.open(sys.argv[1])"
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
        assert "IndexLocked" in done.stderr
    tamis.Matcher.open(path).close()


def test_a_closed_matcher_matches_but_does_not_change(path) -> None:
    matcher = tamis.Matcher.open(path)
    matcher.close()
    matcher.close()
    with pytest.raises(errors.InputError, match="is closed"):
        matcher.add("new", "a = 1")
    assert matcher.match({"a": 1, "b": 10}) == ["s1", "s6"]


def test_closing_a_matcher_without_an_index_does_nothing() -> None:
    with tamis.Matcher(engine="block") as matcher:
        matcher.add("s", "a = 1")
    matcher.add("t", "a = 1")
    assert matcher.match({"a": 1}) == ["s", "t"]


def test_a_pickle_is_a_copy_in_memory(path) -> None:
    with tamis.Matcher.open(path) as matcher:
        again = pickle.loads(pickle.dumps(matcher))
        again.add("new", "a = 1")
        assert "new" not in matcher and texts(again) == BEFORE | {"new": ("a = 1", 0)}
    assert texts(tamis.Matcher.open(path, read_only=True)) == BEFORE


def test_an_open_matcher_can_be_saved_elsewhere(path) -> None:
    with tamis.Matcher.open(path) as matcher:
        matcher.add("new", "a = 1")
        matcher.save(path.with_name("copy"))
        matcher.add("newer", "a = 1")
    assert "new" in tamis.Matcher.open(path.with_name("copy"), read_only=True)
    assert "newer" not in tamis.Matcher.open(path.with_name("copy"), read_only=True)
    assert "newer" in tamis.Matcher.open(path, read_only=True)


def test_a_failed_checkpoint_loses_nothing(path, monkeypatch) -> None:
    matcher = tamis.Matcher.open(path)
    with monkeypatch.context() as patch:
        patch.setattr("tamis.storage.store.writer.write_arrays", _no_space)
        for number in range(50):
            matcher.add(f"n{number}", f"c = {number}")
        with pytest.raises(OSError, match="No space"):
            matcher.close()
    with tamis.Matcher.open(path) as again:
        assert len(again) == 90 and again.match({"c": 49}) == ["n49"]


def _no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("engine", ["brute", "atree"])
def test_other_engines_cannot_be_saved(tmp_path, engine) -> None:
    with pytest.raises(errors.InputError, match=f"the engine {engine} cannot be saved"):
        tamis.Matcher(engine=engine).save(tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_an_existing_path_is_not_overwritten(path) -> None:
    matcher = tamis.Matcher(engine="block")
    with pytest.raises(errors.InputError, match="already exists; choose another path"):
        matcher.save(path)
    file = path.with_name("file")
    file.write_text("x")
    with pytest.raises(errors.InputError, match="already exists; choose another path"):
        matcher.save(file)
    assert sorted(p.name for p in path.parent.iterdir()) == ["file", "index"]
    assert texts(tamis.Matcher.open(path, read_only=True)) == BEFORE


def test_a_failed_save_leaves_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tamis.storage.store.writer.write_arrays", _no_space)
    matcher = tamis.Matcher(engine="block")
    matcher.add("s", "a = 1")
    with pytest.raises(OSError, match="No space"):
        matcher.save(tmp_path / "index")
    assert list(tmp_path.iterdir()) == []
    assert matcher.match({"a": 1}) == ["s"]


def test_a_draft_sealed_during_a_checkpoint_is_not_covered(path, monkeypatch) -> None:
    """A matching thread seals it just after the snapshot, which does not cover it."""
    matcher = tamis.Matcher.open(path)
    engine = matcher._engine
    taken = engine.snapshot

    def snapshot(seal: bool) -> object:
        found = taken(seal)
        engine._seal()
        return found

    matcher.add("new", "c = 1")
    monkeypatch.setattr(engine, "snapshot", snapshot)
    matcher._journal._stopped.set()  # no other checkpoint
    matcher._journal.checkpoint()
    crashed(matcher)
    assert "new" in tamis.Matcher.open(path, read_only=True)
