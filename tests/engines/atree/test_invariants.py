"""The theorems of the A-Tree after every step of any history, and answers with a limit."""

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tamis.engines.atree import AtreeEngine
from tamis.engines.subscription import Subscription
from tamis.events.batch import EventBatch
from tamis.language import evaluate
from tests.engines.atree.dense import dense, dense_events
from tests.engines.atree.inspection import FILTERS
from tests.engines.atree.theorems import Picture, check, check_empty
from tests.soak import count
from tests.strategies import bool_exprs, events

any_filter = pytest.mark.parametrize("filter", [None, *FILTERS])


def first(subscriptions: list[Subscription], event: dict, limit: int | None = None) -> list[str]:
    """Return the expected answer, by the oracle."""
    found = [s for s in subscriptions if evaluate(s.selector, event) is True]
    return [s.id for s in sorted(found, key=lambda s: (-s.priority, s.id))][:limit]


def answers(engine: AtreeEngine, batch: list[dict], limit: int | None = None) -> list[list[str]]:
    matches = engine.match(EventBatch.of(batch), limit)
    return (matches if limit is None else matches.limited(limit)).per_event()


class AtreeMachine(RuleBasedStateMachine):
    """An engine that is checked after every step."""

    filter: str | None = None
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.engine = AtreeEngine(self.filter)
        self.subscriptions: dict[str, Subscription] = {}
        self.seen: Picture = {}
        self.last = ""
        self.next = 0

    @rule(
        target=ids,
        expr=st.one_of(dense(), dense(), bool_exprs()),
        priority=st.sampled_from([0, 0, 1, 2, -3]),
    )
    def add(self, expr, priority: int) -> str:
        id = f"s{self.next:03}"
        self.next += 1
        self.subscriptions[id] = Subscription.of(id, str(expr), priority)
        self.engine.add(self.subscriptions[id])
        self.last = "add"
        return id

    @rule(id=consumes(ids))
    def remove(self, id: str) -> None:
        self.engine.remove(id)
        del self.subscriptions[id]
        self.last = "remove"

    @rule(
        batch=st.lists(st.one_of(dense_events(), events()), max_size=3),
        limit=st.sampled_from([None, 0, 1, 2, 5]),
    )
    def match(self, batch: list[dict], limit: int | None) -> None:
        known = list(self.subscriptions.values())
        assert answers(self.engine, batch, limit) == [first(known, e, limit) for e in batch]
        self.last = "match"

    @rule(protocol=st.sampled_from([4, 5]))
    def pickle(self, protocol: int) -> None:
        self.engine = pickle.loads(pickle.dumps(self.engine, protocol))
        self.last = "pickle"

    @invariant()
    def the_theorems_hold(self) -> None:
        before, self.seen = self.seen, self._check()
        # Corollaries 2 and 3, and more: no level, function or child of a node ever changes.
        small, large = (self.seen, before) if self.last == "remove" else (before, self.seen)
        assert small.items() <= large.items()
        assert self.last in ("add", "remove") or self.seen == before

    def _check(self) -> Picture:
        return check(self.engine, {id: s.priority for id, s in self.subscriptions.items()})

    def teardown(self) -> None:
        for id in list(self.subscriptions):
            self.engine.remove(id)
        check_empty(self.engine)


@pytest.mark.parametrize("filter", FILTERS)
def test_the_theorems_hold_after_every_step(filter: str) -> None:
    machine = type("Machine", (AtreeMachine,), {"filter": filter})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=count(15, 500), stateful_step_count=25, deadline=None),
    )


def test_the_theorems_hold_after_thousands_of_changes() -> None:
    """A node has hundreds of parents, hundreds of subscriptions; the hash table has collisions."""
    chance = random.Random(62)
    texts = [f"a = 1 AND b > {number}" for number in range(150)] + ["a = 1"] * 150
    for _ in range(200):
        texts.append(" AND ".join(f"{name} = 1" for name in chance.sample("abcdefghij", 4)))
    known = {f"s{i}": Subscription.of(f"s{i}", text, i % 3) for i, text in enumerate(texts)}
    engine, there = AtreeEngine("tvp"), dict[str, int]()
    for turn in range(1, 3001):
        id = chance.choice(list(known))
        if id in there:
            engine.remove(id)
            del there[id]
        else:
            engine.add(known[id])
            there[id] = known[id].priority
        if turn % 150 == 0:
            check(engine, there)
            event = {**dict.fromkeys("acdefgh", 1), "b": chance.choice([1, 75])}
            assert answers(engine, [event]) == [first([known[id] for id in there], event)]
    most = max(len(engine.tree.parents(node)) for node in engine.tree.nodes())
    assert most > 62  # more than one block of the arena holds
    for id in there:
        engine.remove(id)
    check_empty(engine)


@any_filter
@settings(max_examples=count(20, 1_000))
@given(
    exprs=st.lists(st.tuples(dense(2), st.integers(-3, 3)), min_size=1, max_size=10),
    batch=st.lists(dense_events(), min_size=1, max_size=4),
)
def test_a_limit_gives_the_first_of_the_full_answer(filter, exprs, batch) -> None:
    engine = AtreeEngine(filter)
    known = [Subscription.of(f"s{i}", str(e), priority) for i, (e, priority) in enumerate(exprs)]
    for subscription in known:
        engine.add(subscription)
    full = [first(known, event) for event in batch]
    assert answers(engine, batch) == full
    for limit in range(len(known) + 2):
        assert answers(engine, batch, limit) == [ids[:limit] for ids in full]


@any_filter
def test_more_priorities_than_queues(filter: str | None) -> None:
    """More than 64 distinct priorities share queues, and matches still come in exact order."""
    chance = random.Random(2004)
    engine = AtreeEngine(filter)
    known: dict[str, Subscription] = {}
    for number, priority in enumerate(chance.sample(range(-(10**15), 10**15), 200)):
        picked = chance.sample("abcdefgh", 3)
        joined = chance.choice([" AND ", " OR ", " XOR "]).join(f"{name} = 1" for name in picked)
        known[f"s{number}"] = Subscription.of(f"s{number}", joined, priority)
        engine.add(known[f"s{number}"])
    batch = [{name: chance.choice([0, 1, 1, None]) for name in "abcdefgh"} for _ in range(20)]
    for left in (200, 130, 65, 64, 2):
        for id in list(known)[left:]:
            engine.remove(id)
            del known[id]
        check(engine, {id: s.priority for id, s in known.items()})
        full = [first(list(known.values()), event) for event in batch]
        for limit in (0, 1, 2, 3, 10, 64, 65, 500):
            assert answers(engine, batch, limit) == [ids[:limit] for ids in full]


@pytest.mark.parametrize("filter", ["general", "zero-suppression"])
def test_few_of_many_priorities_end_the_search_early(filter: str | None) -> None:
    engine = AtreeEngine(filter)
    for number in range(640):
        engine.add(Subscription.of(f"s{number}", f"a = 1 AND b > {number}", number))
    codes, _ = engine.match_codes(EventBatch.of([{"a": 1, "b": 1000}]), 1)
    assert {f"s{number}" for number in range(630, 640)} == {engine._ids[c] for c in codes.tolist()}
