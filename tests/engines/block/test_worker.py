"""Maintenance that fails: `settle` raises the error, and it is retried."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import tamis
from tamis.engines.block import worker
from tests.engines.block.oracle_comparison import engine_of
from tests.engines.block.ways import forced, segments

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


class Merging:
    """A merge that fails the first `failures` times."""

    def __init__(self) -> None:
        self.failures = self.calls = 0
        self._real = worker.merge_segments

    def __call__(self, *arguments: object) -> object:
        self.calls += 1
        if self.calls <= self.failures:
            raise MemoryError("no room to merge in")
        return self._real(*arguments)


@pytest.fixture
def merging(monkeypatch: pytest.MonkeyPatch) -> Iterator[Merging]:
    merging = Merging()
    monkeypatch.setattr(worker, "merge_segments", merging)
    with forced("planned", _SEALED=4):
        yield merging


def several_segments() -> tamis.Matcher:
    matcher = tamis.Matcher(engine="block")
    for n in range(9):
        matcher.add(n, f"a >= {n}")
    return matcher


def settled(matcher: tamis.Matcher) -> list[BaseException | None]:
    """Run `settle` in a thread with a time limit; return the error or None, or [] on a timeout."""
    ended: list[BaseException | None] = []

    def settle() -> None:
        try:
            engine_of(matcher).settle()
            ended.append(None)
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=settle, daemon=True)
    thread.start()
    thread.join(20)
    return ended


def test_settle_raises_when_maintenance_keeps_failing(merging: Merging) -> None:
    merging.failures = 10**9
    matcher = several_segments()
    (error,) = settled(matcher)
    assert isinstance(error, MemoryError)
    assert matcher.match({"a": 3}) == [0, 1, 2, 3]
    merging.failures = 0
    assert settled(matcher) == [None]
    assert len(segments(engine_of(matcher))) == 2  # one of all but the tail
    assert matcher.match({"a": 3}) == [0, 1, 2, 3]


def test_maintenance_is_retried_after_a_failure(merging: Merging) -> None:
    merging.failures = 1
    matcher = several_segments()
    assert settled(matcher) == [None]
    assert merging.calls > 1
    assert len(segments(engine_of(matcher))) == 1
