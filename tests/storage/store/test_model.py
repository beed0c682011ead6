"""Any interleaving of appends, commits and reopenings, against plain lists and dicts."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tamis.errors import IndexLocked
from tamis.storage.store import Store
from tests.soak import count
from tests.storage.store.contents import Contents, check_tidy, contents, on_disk

NUMBERS = st.lists(st.integers(0, 2**60), max_size=3)
METAS = st.dictionaries(st.text(max_size=3), st.integers(0, 9) | st.none(), max_size=2)


class StoreMachine(RuleBasedStateMachine):
    """A store beside what it should hold."""

    @initialize(meta=METAS, sync=st.booleans())
    def begin(self, meta, sync: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tamis-index-"))
        self.path = self.folder / "store"
        self.store = Store.create(self.path, meta, sync=sync)
        self.version, self.meta, self.covered = 1, meta, 0
        self.changes: list[object] = []
        # By name, in order: the numbers in a segment, and what was removed from it.
        self.segments: dict[str, list[object]] = {}
        self.held: list[tuple[Store, Contents]] = []

    @rule(batch=st.lists(st.tuples(st.integers(0, 9), st.text(max_size=3)), max_size=3))
    def append(self, batch) -> None:
        self.changes += batch
        assert self.store.append(batch) == len(self.changes)

    @rule(
        add=st.lists(NUMBERS, max_size=2),
        removed=NUMBERS | st.none(),
        meta=METAS | st.none(),
        data=st.data(),
    )
    def commit(self, add, removed, meta, data) -> None:
        drop = data.draw(st.sets(st.sampled_from(sorted(self.segments)))) if self.segments else ()
        kept = [name for name in self.segments if name not in drop]
        target = data.draw(st.sampled_from(kept)) if kept and removed is not None else None
        covers = data.draw(st.none() | st.integers(self.covered, len(self.changes)))
        version = self.store.commit(
            add=[({"n": np.array(numbers, np.int64)}, {"of": len(numbers)}) for numbers in add],
            drop=drop,
            removed={} if target is None else {target: np.array(removed, np.int64)},
            covers=covers,
            meta=meta,
        )
        self.version += 1
        assert version == self.version
        self.segments = {name: self.segments[name] for name in kept}
        if target is not None:
            self.segments[target][1] = removed
        self.covered = self.covered if covers is None else covers
        self.meta = self.meta if meta is None else meta
        names = [segment.name for segment in self.store.segments]
        assert names[: len(kept)] == kept
        self.segments |= dict(zip(names[len(kept) :], ([n, None] for n in add), strict=True))

    @rule(sync=st.booleans())
    def reopen(self, sync: bool) -> None:
        self.store.close()
        self.store = Store.open(self.path, sync=sync)
        assert contents(self.store) == self.expected()

    @rule()
    def second_writer(self) -> None:
        with pytest.raises(IndexLocked):
            Store.open(self.path)

    @precondition(lambda self: len(self.held) < 3)
    @rule()
    def hold(self) -> None:
        self.held.append((Store.open(self.path, writable=False), self.expected()))

    @invariant()
    def as_expected(self) -> None:
        assert on_disk(self.path) == self.expected()
        view = self.store.view
        assert (view.version, view.meta, view.covered) == (self.version, self.meta, self.covered)
        assert contents(self.store)[:5] == self.expected()[:5]
        check_tidy(self.path)

    @invariant()
    def readers_keep_their_version(self) -> None:
        for reader, expected in self.held:
            assert contents(reader) == expected

    def expected(self) -> Contents:
        segments = [(name, {"n": n}, {"of": len(n)}) for name, (n, _) in self.segments.items()]
        removed = [(name, rows) for name, (_, rows) in self.segments.items()]
        changes = self.changes[self.covered :]
        return Contents(self.version, self.covered, self.meta, segments, removed, changes)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)


def test_the_store_equals_its_model() -> None:
    steps = settings(max_examples=count(15, 500), stateful_step_count=25)
    run_state_machine_as_test(StoreMachine, settings=steps)
