"""A matcher in memory from others on disk: `load`, `absorb`, `learn`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis import Matcher
from tamis.errors import DuplicateSubscription, InputError, SubscriptionError

EVENTS = [{"a": n % 7, "s": f"x{n % 5}y"} for n in range(200)]


def _saved(path: Path, rows: dict[str, str], **made: object) -> Path:
    matcher = Matcher(**made)  # type: ignore[arg-type]
    for id, selector in rows.items():
        matcher.add(id, selector, priority=len(id))
    matcher.save(path)
    return path


def test_several_indexes_become_one_matcher(tmp_path: Path) -> None:
    rows = [
        {f"{part}-{n}": f"a = {n % 7} OR s LIKE '%{n % 5}y' AND a > {part}" for n in range(50)}
        for part in range(3)
    ]
    paths = [_saved(tmp_path / str(part), found) for part, found in enumerate(rows)]
    whole = Matcher()
    for found in rows:
        whole.add_many([(id, text, len(id)) for id, text in found.items()])
    matcher = Matcher.load(paths[0])
    matcher.add("mine", "a = 3")
    whole.add("mine", "a = 3")
    matcher.absorb(paths[1])
    matcher.remove("1-7")
    whole.remove("1-7")
    matcher.absorb(paths[2], distinct=True)
    assert matcher.match_batch(EVENTS) == whole.match_batch(EVENTS)
    assert sorted(matcher) == sorted(whole)
    matcher.save(tmp_path / "all")
    with Matcher.open(tmp_path / "all", read_only=True) as again:
        assert again.match_batch(EVENTS) == whole.match_batch(EVENTS)
    for path, found in zip(paths, rows, strict=True):  # the parts are unchanged
        assert sorted(Matcher.load(path)) == sorted(found)


def test_removed_ids_can_be_absorbed_again(tmp_path: Path) -> None:
    old = _saved(tmp_path / "old", {"x": "a = 1", "y": "a = 2"})
    new = _saved(tmp_path / "new", {"x": "a = 3"})
    matcher = Matcher.load(old)
    matcher.remove("x")
    matcher.absorb(new)
    assert [matcher.match({"a": n}) for n in (1, 2, 3)] == [[], ["y"], ["x"]]


def test_duplicate_ids_and_other_settings_are_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path / "one", {"x": "a = 1", "y": "a = 2"})
    matcher = Matcher.load(path)
    with pytest.raises(DuplicateSubscription):
        matcher.absorb(path)
    assert sorted(matcher) == ["x", "y"]
    numbers = Matcher()
    numbers.add(1, "a = 1")
    with pytest.raises(SubscriptionError):
        numbers.absorb(path)
    with pytest.raises(InputError, match="semantics"):
        Matcher(semantics="strict").absorb(path)
    with Matcher.open(path) as open_one, pytest.raises(InputError, match="in memory"):
        open_one.absorb(path)


def test_learned_placement_is_saved(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add_many([(n, f"a = {n % 7} AND s = 'x{n % 5}y'") for n in range(2000)])
    matcher.learn(EVENTS)
    matcher.save(tmp_path / "index")
    with Matcher.open(tmp_path / "index", read_only=True) as again:
        assert all(segment.informed for segment in again._engine._contents.segments())
        assert again.match_batch(EVENTS) == matcher.match_batch(EVENTS)
