"""Changes with limits so small that segments are sealed, merged and rebuilt all the time.

The engine is compared with a dict and the oracle.
"""

from __future__ import annotations

import pickle
import random

import pytest
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
from tamis.engines.block import maintenance, stack
from tests.engines.block.oracle_comparison import compared, engine_of
from tests.engines.block.random_cases import FUNCTIONS, drawn_events, drawn_selectors
from tests.engines.block.ways import WAYS, forced
from tests.soak import count


class Machine(RuleBasedStateMachine):
    """A matcher with small limits, and a dict of what it must contain."""

    @initialize(
        semantics=st.sampled_from(["sql", "strict"]), seed=st.integers(0, 999), texts=st.booleans()
    )
    def begin(self, semantics: str, seed: int, texts: bool) -> None:
        self.draw = random.Random(seed)
        self.texts = texts
        self.matcher = tamis.Matcher(engine="block", semantics=semantics, functions=FUNCTIONS)
        self.model: dict[object, tuple[str, int]] = {}
        self.gone: list[object] = []

    def id(self, number: int) -> object:
        return f"s{number}" if self.texts else number

    @rule(many=st.sampled_from([1, 1, 2, 5, 12]), priority=st.integers(-1, 1))
    def add(self, many: int, priority: int) -> None:
        for text in drawn_selectors(self.draw, many):
            if self.draw.random() < 0.5:  # what nearly every event satisfies is missed at once
                text = self.draw.choice(["TRUE", "k >= 0", "k BETWEEN 0 AND 2999 OR n = 1"])
            known = [id for id in self.gone if id not in self.model]
            if known and self.draw.random() < 0.5:
                id = self.draw.choice(known)
            else:
                id = self.id(self.draw.randrange(10**6))
            if id not in self.model:
                self.matcher.add(id, text, priority)
                self.model[id] = (text, priority)

    @rule(many=st.sampled_from([1, 1, 3, 10]))
    def remove(self, many: int) -> None:
        for id in self.draw.sample(list(self.model), min(many, len(self.model))):
            self.matcher.remove(id)
            del self.model[id]
            self.gone.append(id)

    @rule()
    def replace(self) -> None:
        if self.model:
            id = self.draw.choice(list(self.model))
            text = drawn_selectors(self.draw, 1)[0]
            self.matcher.replace(id, text)
            self.model[id] = (text, self.model[id][1])

    @rule(other=st.booleans())
    def remove_all(self, other: bool) -> None:
        """Remove all, after which ids may be of the other type."""
        for id in list(self.model):
            self.matcher.remove(id)
        self.model.clear()
        self.gone.clear()
        self.texts ^= other

    @rule(size=st.sampled_from([0, 1, 3, 8, 20, 70]), filled=st.sampled_from([0.1, 0.9]))
    def match(self, size: int, filled: float) -> None:
        events = drawn_events(self.draw, size, filled)
        compared(self.matcher, events, self.draw, 3)
        found = self.matcher.match_batch(events)
        for limit in (0, 1, 3):
            cut = [ids[:limit] for ids in found.per_event()]
            assert self.matcher.match_batch(events, limit=limit).per_event() == cut
        urgencies = zip(found.subscription.tolist(), found.priority.tolist(), strict=True)
        assert all(priority == self.model[id][1] for id, priority in urgencies)

    @rule()
    def settle(self) -> None:
        engine_of(self.matcher).settle()

    @rule()
    def pickled(self) -> None:
        self.matcher = pickle.loads(pickle.dumps(self.matcher))

    @invariant()
    def holds_what_was_added(self) -> None:
        if hasattr(self, "matcher"):
            held = engine_of(self.matcher)
            assert len(held) == len(self.matcher) == len(self.model)
            assert set(held) == set(self.model)
            assert all(held.text(id) == kept for id, kept in self.model.items())
            assert not any(id in held for id in self.gone if id not in self.model)

    def teardown(self) -> None:
        if hasattr(self, "matcher"):
            engine_of(self.matcher).settle()


LIMITS = {"_SEALED": 6, "_IDLE": 2, "_QUIET": 15, "_SAMPLE_LEAST": 2, "_RESAMPLED": 30}
# With few codes, they are used up and renumbered again and again.
ways_and_codes = pytest.mark.parametrize(
    ("way", "codes"), [*((way, stack.MOST) for way in WAYS), ("planned", 60)]
)


@pytest.fixture(autouse=True)
def _eager_upkeep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_WORTH", 2)
    monkeypatch.setattr(maintenance, "_RATIO", 1)


@ways_and_codes
def test_changes_in_any_order_agree_with_the_oracle(way: str, codes: int) -> None:
    with forced(way, MOST=codes, **LIMITS):
        run_state_machine_as_test(
            Machine,
            settings=settings(max_examples=count(6, 100), stateful_step_count=25, deadline=None),
        )


@ways_and_codes
def test_a_long_random_walk_of_changes_agrees_with_the_oracle(way: str, codes: int) -> None:
    """The same without Hypothesis, whose examples are short."""
    draw = random.Random(f"{way} {codes}")
    with forced(way, MOST=codes, **LIMITS):
        machine = Machine()
        machine.begin(draw.choice(["sql", "strict"]), draw.randrange(999), False)
        for step in range(count(120, 600)):
            kind = draw.choices(["add", "remove", "match", "replace", "other"], [4, 3, 5, 1, 1])[0]
            if kind == "add":
                machine.add(draw.choice([1, 1, 2, 5]), draw.randrange(3))
            elif kind == "remove":
                machine.remove(draw.choice([1, 1, 3]))
            elif kind == "match":
                machine.match(draw.choice([1, 1, 3, 3, 20]), draw.choice([0.1, 0.9]))
            elif kind == "replace":
                machine.replace()
            elif step % 10 == 0:
                machine.remove_all(True)
            else:
                draw.choice([machine.settle, machine.pickled])()
            machine.holds_what_was_added()
        machine.teardown()
