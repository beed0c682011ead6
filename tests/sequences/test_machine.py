"""One sequence with one key, against the enumeration of all choices of events."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.language import parse
from tamis.language.sequence_oracle import completions
from tamis.sequences.state_machine import Machine, SequenceState

NAMES = "abcd"


def run(machine: Machine, events: list[tuple[str, int]]) -> tuple[list[int], SequenceState | None]:
    """Return which events complete; each is the names of its steps, and a time."""
    state, done = None, []
    for i, (names, time) in enumerate(events):
        state, began = machine.step(state, [NAMES.index(name) for name in names], time)
        if began is not None:
            done.append(i)
    return done, state


@pytest.mark.parametrize(
    ("steps", "within", "events", "done"),
    [
        pytest.param(2, None, [("a", 0), ("b", 1)], [1], id="in order"),
        pytest.param(2, None, [("b", 0), ("a", 1)], [], id="the wrong order"),
        pytest.param(2, None, [("ab", 0)], [], id="one event is one step"),
        pytest.param(2, None, [("ab", 0), ("ab", 1), ("ab", 2)], [1, 2], id="but ends and begins"),
        pytest.param(2, None, [("a", 5), ("b", 5)], [1], id="equal times, by arrival"),
        pytest.param(2, None, [("b", 5), ("a", 5)], [], id="equal times, the wrong arrival"),
        pytest.param(2, None, [("a", 0), ("", 1), ("b", 2)], [2], id="others in between"),
        pytest.param(2, None, [("a", 0), ("b", 1), ("b", 2)], [1, 2], id="nothing is used up"),
        pytest.param(2, 10, [("a", 0), ("b", 10)], [1], id="within is inclusive"),
        pytest.param(2, 10, [("a", 0), ("b", 11)], [], id="and ends there"),
        pytest.param(2, 10, [("a", 0), ("a", 5), ("b", 15)], [2], id="the latest start counts"),
        pytest.param(3, 10, [("a", 0), ("b", 6), ("c", 12)], [], id="within is first to last"),
        pytest.param(
            3, 10, [("a", 0), ("b", 1), ("a", 5), ("c", 11)], [], id="a later start, not so far"
        ),
        pytest.param(
            3, 10, [("a", 0), ("a", 5), ("b", 6), ("c", 12)], [3], id="a step takes the latest"
        ),
        pytest.param(3, None, [("a", 0), ("c", 1), ("b", 2)], [], id="all steps"),
        pytest.param(3, None, [("a", 9), ("b", 8), ("c", 10)], [], id="too late"),
        pytest.param(3, None, [("a", 9), ("c", 20), ("b", 10), ("c", 11)], [3], id="not too late"),
    ],
)
def test_golden_cases(steps: int, within: int | None, events: list, done: list[int]) -> None:
    assert run(Machine(steps, within), events)[0] == done


def test_the_start_of_the_latest_occurrence_is_returned() -> None:
    machine = Machine(2, None)
    state = machine.step(machine.step(None, [0], 3).state, [0], 7).state
    assert machine.step(state, [1], 9).began == 7


def test_an_event_without_effect_keeps_the_state() -> None:
    machine = Machine(3, 10)
    assert machine.step(None, [1, 2], 5) == (None, None)
    state = machine.step(None, [0], 5).state
    for satisfied, time in (([2], 6), ([], 6), ([1], 16), ([0, 1, 2], 4)):
        assert machine.step(state, satisfied, time).state is state


@st.composite
def runs(draw: st.DrawFn):
    steps = draw(st.integers(2, 4))
    within = draw(st.none() | st.integers(1, 12))
    gaps = draw(st.lists(st.sampled_from([0, 0, 1, 2, 5, 13]), max_size=9))
    time, events = 0, []
    for gap in gaps:
        time += gap
        chosen = draw(st.sets(st.sampled_from(NAMES[:steps]), max_size=steps))
        events.append(("".join(sorted(chosen)), time))
    return steps, within, events


@given(runs())
def test_the_machine_equals_the_oracle(drawn) -> None:
    steps, within, events = drawn
    text = "FIRST " + " THEN ".join(NAMES[:steps])
    text += f" WITHIN {within} MILLISECONDS" if within else ""
    rows = [{name: True for name in names} for names, _ in events]
    meant = completions(parse(text), rows, [1000 * time for _, time in events])
    done, state = run(Machine(steps, within), events)
    assert done == meant
    if state is not None:
        held = [start for start in state.starts if start is not None]
        assert held == sorted(held, reverse=True)
        assert state.starts[: len(held)] == tuple(held)


@given(runs(), st.integers(0, 9))
def test_the_state_survives_json(drawn, cut: int) -> None:
    """Writing the state as JSON and reading it in the middle loses nothing."""
    steps, within, events = drawn
    machine = Machine(steps, within)
    whole, _ = run(machine, events)
    done, state = run(machine, events[:cut])
    if state is not None:
        time, starts = json.loads(json.dumps(state))
        state = SequenceState(time, tuple(starts))
    for i, (names, time) in enumerate(events[cut:], cut):
        state, began = machine.step(state, [NAMES.index(name) for name in names], time)
        if began is not None:
            done.append(i)
    assert done == whole
