"""Any interleaving of add, remove, replace and match, against a dict and the oracle."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tamis.errors import DuplicateSubscription, UnknownSubscription, UnsupportedExpression
from tests.engines.oracle import matching
from tests.engines.variants import VARIANTS, matcher
from tests.soak import count
from tests.strategies import bool_exprs, events


class MatcherMachine(RuleBasedStateMachine):
    """A Matcher beside a dict."""

    engine = ""
    ids = Bundle("ids")

    @initialize(semantics=st.sampled_from(["sql", "strict"]))
    def begin(self, semantics: str) -> None:
        self.semantics = semantics
        self.matcher = matcher(self.engine, semantics=semantics)
        self.model: dict[object, str] = {}
        self.next = 0

    @rule(target=ids, expr=bool_exprs(), priority=st.integers(-2, 2))
    def add(self, expr, priority: int) -> str:
        id = f"s{self.next}"
        self.next += 1
        try:
            self.matcher.add(id, str(expr), priority)
        except UnsupportedExpression:
            return id
        self.model[id] = str(expr)
        return id

    @rule(id=ids)
    def add_again(self, id: str) -> None:
        if id in self.model:
            with pytest.raises(DuplicateSubscription):
                self.matcher.add(id, "TRUE")

    @rule(id=ids, expr=bool_exprs())
    def replace(self, id: str, expr) -> None:
        if id not in self.model:
            with pytest.raises(UnknownSubscription):
                self.matcher.replace(id, str(expr))
            return
        try:
            self.matcher.replace(id, str(expr))
        except UnsupportedExpression:
            return
        self.model[id] = str(expr)

    @rule(id=consumes(ids))
    def remove(self, id: str) -> None:
        if id in self.model:
            self.matcher.remove(id)
            del self.model[id]
        else:
            with pytest.raises(UnknownSubscription):
                self.matcher.remove(id)

    @rule(batch=st.lists(events(), max_size=3))
    def match(self, batch) -> None:
        found = [set(ids) for ids in self.matcher.match_batch(batch).per_event()]
        assert found == [matching(self.model, event, self.semantics) for event in batch]

    @invariant()
    def same_size(self) -> None:
        if hasattr(self, "matcher"):
            assert len(self.matcher) == len(self.model) == self.matcher.stats()["subscriptions"]
            assert set(self.matcher) == set(self.model)


@pytest.mark.parametrize("engine", VARIANTS)
def test_state_machine(engine: str) -> None:
    machine = type("Machine", (MatcherMachine,), {"engine": engine})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=count(20, 1_000), stateful_step_count=25, deadline=None),
    )
