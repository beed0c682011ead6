"""Any interleaving of changes, matching and reopening, against a dict and the oracle."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

import tamis
from tests.engines.oracle import matching
from tests.soak import count
from tests.storage.index.test_changes import crashed
from tests.strategies import bool_exprs, events

IDS = st.integers(0, 30).map(lambda number: f"s{number}")


class SavedMachine(RuleBasedStateMachine):
    """A matcher with an index, beside a dict."""

    @initialize(semantics=st.sampled_from(["sql", "strict"]))
    def begin(self, semantics: str) -> None:
        self.semantics = semantics
        self.folder = Path(tempfile.mkdtemp())
        self.model: dict[object, str] = {}
        tamis.Matcher(semantics=semantics, engine="block").save(self.folder / "0")
        self.saved = 0
        self.matcher = tamis.Matcher.open(self.folder / "0")

    @rule(id=IDS, expr=bool_exprs())
    def put(self, id: str, expr: object) -> None:
        change = self.matcher.replace if id in self.model else self.matcher.add
        change(id, str(expr))
        self.model[id] = str(expr)

    @rule(ids=st.sets(IDS), expr=bool_exprs())
    def put_many(self, ids: set[str], expr: object) -> None:
        new = {id: str(expr) for id in sorted(ids) if id not in self.model}
        self.matcher.add_many(new.items())
        self.model |= new

    @rule(ids=st.sets(IDS))
    def remove(self, ids: set[str]) -> None:
        for id in ids & self.model.keys():
            self.matcher.remove(id)
            del self.model[id]

    @rule(batch=st.lists(events(), max_size=3))
    def match(self, batch: list[dict[str, object]]) -> None:
        found = [set(ids) for ids in self.matcher.match_batch(batch).per_event()]
        assert found == [matching(self.model, event, self.semantics) for event in batch]

    @rule(seal=st.booleans())
    def checkpoint(self, seal: bool) -> None:
        assert self.matcher._journal is not None
        self.matcher._journal.checkpoint(seal)

    @rule(way=st.sampled_from(["close", "crash", "save"]))
    def reopen(self, way: str) -> None:
        if way == "save":
            self.saved += 1
            self.matcher.save(self.folder / str(self.saved))
        (crashed if way == "crash" else tamis.Matcher.close)(self.matcher)
        self.matcher = tamis.Matcher.open(self.folder / str(self.saved))

    @rule()
    def look(self) -> None:
        again = tamis.Matcher.open(self.folder / str(self.saved), read_only=True)
        assert {id: again[id].text for id in again} == self.model

    @invariant()
    def same(self) -> None:
        if hasattr(self, "matcher"):
            assert len(self.matcher) == len(self.model)
            assert set(self.matcher) == set(self.model)

    def teardown(self) -> None:
        if hasattr(self, "matcher"):
            self.matcher.close()
            shutil.rmtree(self.folder)


def test_an_index_equals_its_model() -> None:
    run_state_machine_as_test(
        SavedMachine,
        settings=settings(max_examples=count(15, 1_000), stateful_step_count=30, deadline=None),
    )
